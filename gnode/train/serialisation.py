"""Serialisation without pickle: the structure of a network as JSON, its values as named arrays."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from gnode import cells, errors, network, solve
from gnode.cells import registry

_NETWORK_TYPES = (
    network.Network,
    network.Readout,
    network.FixedState,
    network.LearnedState,
    network.AffineState,
    cells.Stack,
    cells.FixedTimescale,
    cells.LearnedTimescale,
    solve.Solver,
)


def known_types() -> dict[str, type]:
    """Returns the only classes that a file may name, by name: nothing else is ever built from one."""
    registered = [entry.load_type() for entry in registry.CELLS.values()]
    return {kind.__name__: kind for kind in (*_NETWORK_TYPES, *registered)}


def describe(value: Any) -> Any:
    """Describes the structure of a network as JSON: class names, settings, and shapes in place of arrays.

    >>> describe((1, "tanh"))
    {'tuple': [1, 'tanh']}
    """
    if eqx.is_array(value):
        return {"array": list(value.shape), "dtype": str(value.dtype)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: describe(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"type": type(value).__name__, "fields": fields}
    if isinstance(value, tuple | list):
        return {"tuple": [describe(part) for part in value]}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    # A class that is not registered: the description says what was there, and nothing is ever built from it.
    return {"other": getattr(value, "__qualname__", type(value).__qualname__)}


def difference(ours: Any, theirs: Any, place: str = "") -> str | None:
    """Says where two descriptions first differ, other than in the size of an array, which has an error of its own."""
    if not (isinstance(ours, dict) and isinstance(theirs, dict)) or ours.keys() != theirs.keys():
        return None if ours == theirs else f"{place or 'the network'} is {_short(theirs)}, but was {_short(ours)}"
    if "array" in ours:
        return None
    if "tuple" in ours and len(ours["tuple"]) == len(theirs["tuple"]):
        pairs = [(f"{place}[{k}]", *pair) for k, pair in enumerate(zip(ours["tuple"], theirs["tuple"]))]
    elif "type" in ours and ours["type"] == theirs["type"] and ours["fields"].keys() == theirs["fields"].keys():
        pairs = [(f"{place}.{name}", ours["fields"][name], theirs["fields"][name]) for name in ours["fields"]]
    else:
        return None if ours == theirs else f"{place or 'the network'} is {_short(theirs)}, but was {_short(ours)}"
    return next((found for name, a, b in pairs if (found := difference(a, b, name))), None)


def _short(description: Any) -> Any:
    return description.get("type", description) if isinstance(description, dict) else repr(description)


def rebuild(description: Any) -> Any:
    """Builds the object that `describe` described, with zeros in its arrays."""
    if not isinstance(description, dict):
        return description
    if "array" in description:
        return jnp.zeros(tuple(description["array"]), description["dtype"])
    if "tuple" in description:
        return tuple(rebuild(part) for part in description["tuple"])
    name = description.get("type", description.get("other"))
    known = known_types()
    if "other" in description or name not in known:
        raise errors.StoreError(
            f"the run uses a class {name!r} that gnode does not have; pass one that has it: "
            f"gnode.load(folder, like=network), or gnode.resume(folder, like=network)."
        )
    made = object.__new__(known[name])
    for field, value in description["fields"].items():
        object.__setattr__(made, field, rebuild(value))
    return made


def to_arrays(tree: PyTree) -> dict[str, np.ndarray]:
    """Returns every array of a tree under the name of its place, such as '.cell.F.W[0]'."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves if _is_number(leaf)}


def _is_number(leaf: Any) -> bool:
    """Whether a leaf is a number or an array; a user's cell may also hold functions."""
    return isinstance(leaf, jax.Array | np.ndarray | np.generic | bool | int | float | complex)


def from_arrays(like: PyTree, arrays: dict[str, np.ndarray], source: str) -> PyTree:
    """Replaces the arrays of the tree `like` by those in `arrays`; each must be there with the right shape."""

    def fill(path: Any, leaf: Any) -> Any:
        name = jax.tree_util.keystr(path)
        if not _is_number(leaf):
            return leaf
        if name not in arrays:
            raise errors.StoreError(f"{source} lacks the array {name!r}: it belongs to another network, or is broken.")
        stored = arrays[name]
        if stored.shape != np.shape(leaf):
            raise errors.StoreError(
                f"{source}: array {name!r} has shape {stored.shape}, but the network's is {np.shape(leaf)}."
            )
        if isinstance(leaf, bool | int | float | complex):
            return type(leaf)(stored.item())
        return jnp.asarray(stored, dtype=leaf.dtype)

    return jax.tree_util.tree_map_with_path(fill, like)
