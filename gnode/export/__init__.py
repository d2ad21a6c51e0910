"""Exports: a trained network as files that need no gnode: numpy, jax, PyTorch and ONNX."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
