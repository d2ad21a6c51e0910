"""What is wrong with a folder that gnode wrote, and what can be saved."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
