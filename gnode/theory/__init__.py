"""Mathematics of random networks: at infinite width, and drawn at a finite one to compare."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
