"""Train continuous-time recurrent networks and see what they have learned."""

__version__ = "0.2.0"

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
