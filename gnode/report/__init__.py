"""Reports on the dynamics of trained networks: an HTML page with its figures and numbers."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
