"""Practical expressivity: the error with which a network fits a trajectory of noise, and the longest one that it fits."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
