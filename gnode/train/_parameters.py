"""The trained values of a network, and all the rest."""

import equinox as eqx
from jaxtyping import PyTree

from gnode.trained import decayed, trainable

__all__ = ["decayed", "split", "trainable"]


def split(net: PyTree) -> tuple[PyTree, PyTree]:
    """Splits a network into what is trained and all the rest; `equinox.combine` joins them again."""
    return eqx.partition(net, trainable(net))
