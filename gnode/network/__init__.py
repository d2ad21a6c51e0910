"""Networks: a cell with an initial state and a readout, integrated by a solver."""

from gnode._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
