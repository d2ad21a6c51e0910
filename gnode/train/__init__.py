"""Training one network: settings, the compiled epoch, runs and their folders."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
