"""Solvers: numerical integration of cells over bins of time."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
