"""Which arrays of a network are trained, and which of these decay. Training, decay, penalties and users' loops ask here.

A whole module is exempt by its base class, a single array of a cell by how its field is declared:

    class Mine(gnode.cells.Cell):
        W: Array                          # trained
        mask: Array = gnode.untrained()   # never changed
        gain: Array = gnode.undecayed()   # trained, but exempt from weight decay and penalties
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
from jaxtyping import PyTree

from gnode.types import Frozen, NotDecayed

__all__ = ["decayed", "trainable", "trained_values", "undecayed", "untrained"]

_MARK = "gnode"


def untrained(**options: Any) -> Any:
    """Declares a field of a module whose arrays training never changes. `options` are those of `equinox.field`.

    >>> class Masked(eqx.Module):
    ...     W: jax.Array
    ...     mask: jax.Array = untrained()
    >>> trainable(Masked(jax.numpy.ones(2), jax.numpy.ones(2)))
    Masked(W=True, mask=False)
    """
    return eqx.field(metadata={_MARK: "untrained"}, **options)


def undecayed(**options: Any) -> Any:
    """Declares a field of a module whose arrays are trained but exempt from weight decay and penalties.

    No example: see `untrained`.
    """
    return eqx.field(metadata={_MARK: "undecayed"}, **options)


def trainable(net: PyTree) -> PyTree:
    """Marks every array that training changes: a tree of True and False, for `equinox.partition(net, gnode.trainable(net))`.

    These are all floating-point arrays but those of `Frozen` modules and of fields declared `untrained()`.

    >>> trainable({"W": jax.numpy.ones(2), "names": ("a",)})
    {'W': True, 'names': (False,)}
    """
    return _marked(net, Frozen, ("untrained",))


def decayed(net: PyTree) -> PyTree:
    """Marks every trained array that weight decay and the l2 penalty act on.

    >>> decayed({"W": jax.numpy.ones(2)})
    {'W': True}
    """
    return _marked(net, (Frozen, NotDecayed), ("untrained", "undecayed"))


def trained_values(tree: PyTree) -> int:
    """Counts the floating-point values that training changes.

    >>> trained_values({"W": jax.numpy.ones((2, 3))})
    6
    """
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(tree, trainable(tree))))


def _marked(net: PyTree, kinds: Any, marks: tuple[str, ...]) -> PyTree:
    """Marks the floating-point arrays that lie in no module of the given kinds and in no field with the given marks."""

    def is_wanted(path: tuple[Any, ...], leaf: Any) -> bool:
        return eqx.is_inexact_array(leaf) and not _is_exempt(net, path, kinds, marks)

    return jax.tree_util.tree_map_with_path(is_wanted, net)


def _is_exempt(node: Any, path: tuple[Any, ...], kinds: Any, marks: tuple[str, ...]) -> bool:
    for key in path:
        if isinstance(node, kinds):
            return True
        if isinstance(key, jax.tree_util.GetAttrKey):
            field = getattr(type(node), "__dataclass_fields__", {}).get(key.name)
            if isinstance(field, dataclasses.Field) and field.metadata.get(_MARK) in marks:
                return True
            node = getattr(node, key.name)
        elif isinstance(key, jax.tree_util.SequenceKey):
            node = node[key.idx]
        elif isinstance(key, jax.tree_util.DictKey):
            node = node[key.key]
        else:  # a node of another library: what is inside is not marked
            return False
    return isinstance(node, kinds)
