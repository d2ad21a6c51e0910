"""Sweeps: a grid of runs as one command, trained by an engine, stored in a folder that survives any kill."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
