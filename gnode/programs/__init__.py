"""Programs: functions of networks as short lists of equations, which the explorer's page and exported files compute."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
