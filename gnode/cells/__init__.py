"""Recurrent cells: right-hand sides dh/dt as functions of a state h and an input x. Each equation has its own file."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
