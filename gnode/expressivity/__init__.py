"""Fitting noise: how complex a trajectory a network can be made to follow (the paper's practical measure)."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
