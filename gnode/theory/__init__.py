"""Mean-field theory of random networks at infinite width, and networks of finite width drawn to compare with it."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
