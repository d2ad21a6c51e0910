"""Analyses of dynamics: fixed points, stability, continuous attractors, flow fields and Lyapunov exponents.

They accept any network, cell, or function f(h, x), and compute in float64.
"""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
