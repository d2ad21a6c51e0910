"""Benchmarks of training speed against the alternatives that a user would otherwise choose."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
