"""Reproduces every figure, table and claim of the paper: one file per artefact in `gnode.reproduce.artefacts`."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
