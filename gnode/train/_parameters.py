"""The trained values of a network, and those of them that weight decay acts on."""

from typing import Any

import equinox as eqx
import jax
from jaxtyping import PyTree

from gnode.types import Frozen, NotDecayed


def _outside(net: PyTree, excluded: type) -> PyTree:
    """Marks the floating-point arrays that lie in no module of the type `excluded`."""

    def is_excluded(node: Any) -> bool:
        return isinstance(node, excluded)

    def mark(node: Any) -> PyTree:
        return jax.tree.map(lambda _: False, node) if is_excluded(node) else eqx.is_inexact_array(node)

    return jax.tree.map(mark, net, is_leaf=is_excluded)


def trainable(net: PyTree) -> PyTree:
    """Marks every array that training changes: all but those of `Frozen` modules."""
    return _outside(net, Frozen)


def decayed(net: PyTree) -> PyTree:
    """Marks every array that weight decay and the l2 penalty act on: all but those of `NotDecayed` modules."""
    return _outside(net, NotDecayed)


def split(net: PyTree) -> tuple[PyTree, PyTree]:
    """Splits a network into what is trained and all the rest; `equinox.combine` joins them again."""
    return eqx.partition(net, trainable(net))
