"""The arrays of a network by name, as programs refer to them."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from gnode.trained import trainable

Tree = Any


class NamedArrays:
    """The arrays of a network by name, and the way back from such a mapping to the network.

    - `named`: the arrays, by the path to each: "cell.F.W.0".
    - `trained`: the names of those that training changes.

    >>> import gnode
    >>> arrays = NamedArrays(gnode.cells.gru(1, 2, key=0))
    >>> sorted(arrays.named), "timescale.tau" in arrays.trained
    (['U', 'W', 'b', 'c', 'timescale.tau'], False)
    """

    def __init__(self, tree: Tree):
        leaves, self._structure = jax.tree_util.tree_flatten_with_path(tree)
        self._names = [_name(path) for path, _ in leaves]
        self._others = {name: leaf for name, (_, leaf) in zip(self._names, leaves) if not _is_numbers(leaf)}
        self.named: dict[str, np.ndarray] = {
            name: np.asarray(leaf) for name, (_, leaf) in zip(self._names, leaves) if name not in self._others
        }
        marks = jax.tree_util.tree_flatten_with_path(trainable(tree))[0]
        self.trained = {_name(path) for path, is_trained in marks if is_trained is True} & self.named.keys()

    def tree(self, named: Mapping[str, Any]) -> Tree:
        """Returns the network with these arrays."""
        return jax.tree_util.tree_unflatten(self._structure, [(named | self._others)[name] for name in self._names])  # type: ignore[operator]

    def __repr__(self) -> str:
        return f"NamedArrays({len(self.named)} arrays, {sum(array.size for array in self.named.values())} numbers)"


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")


def _is_numbers(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array | np.ndarray) and leaf.dtype.kind in "biuf"
