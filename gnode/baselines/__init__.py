"""Baselines: what the networks of this project are compared with on real data."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
