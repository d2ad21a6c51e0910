"""Networks behind scikit-learn's interface: a regressor and a classifier over sequences."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
