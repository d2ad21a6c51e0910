"""Which of a network's values are trained, and which of those decay."""

from typing import Any

import equinox as eqx
import jax
from jaxtyping import PyTree

from gnode.types import Frozen, NotDecayed


def _outside(net: PyTree, excluded: type) -> PyTree:
    """A tree of booleans: True for the floating-point arrays that lie in no module of the type `excluded`."""

    def is_excluded(node: Any) -> bool:
        return isinstance(node, excluded)

    def mark(node: Any) -> PyTree:
        return jax.tree.map(lambda _: False, node) if is_excluded(node) else eqx.is_inexact_array(node)

    return jax.tree.map(mark, net, is_leaf=is_excluded)


def trainable(net: PyTree) -> PyTree:
    """True for every array that training changes: all but those of `Frozen` modules."""
    return _outside(net, Frozen)


def decayed(net: PyTree) -> PyTree:
    """True for every array that weight decay and the l2 penalty act on: all but those of `NotDecayed` modules."""
    return _outside(net, NotDecayed)


def split(net: PyTree) -> tuple[PyTree, PyTree]:
    """(what is trained, all the rest); `equinox.combine` puts them together again."""
    return eqx.partition(net, trainable(net))
