"""The explorer: a network's flow, live in the browser, in one HTML file."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
