"""Baselines on real data: a neural CDE on letters, and the last value carried forward on Walker2D."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
