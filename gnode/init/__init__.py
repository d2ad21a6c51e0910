"""Initialisers: rules for drawing weights and biases. The critical ones take their scale from `gnode.theory`."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
