"""Looking inside: fixed points, stability, continuous attractors, flow fields, Lyapunov exponents.

Works on any network, cell, or function f(h, x); everything here computes in float64.
"""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
