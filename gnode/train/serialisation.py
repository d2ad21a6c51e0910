"""Serialisation without pickle: the structure of a network as JSON, its values as named arrays."""

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from gnode import arguments, cells, errors, network, solve
from gnode.cells import registry

_NETWORK_TYPES = (
    network.Network,
    network.Readout,
    network.FixedState,
    network.LearnedState,
    network.AffineState,
    network.AugmentedState,
    cells.Layers,
    cells.Mixing,
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
        # A user's class may have the name of one of gnode's own.
        own = {} if known_types().get(type(value).__name__) is type(value) else {"own": True}
        return {"type": type(value).__name__, **own, "fields": fields}
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
    ours, theirs = _without_mark(ours), _without_mark(theirs)
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


def _without_mark(description: Any) -> Any:
    """A description as earlier versions wrote it, which did not mark users' classes."""
    return {k: v for k, v in description.items() if k != "own"} if isinstance(description, dict) else description


def _short(description: Any) -> Any:
    return description.get("type", description) if isinstance(description, dict) else repr(description)


def classes_of(value: Any) -> set[type]:
    """Returns the classes of all objects that `describe` describes."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = (classes_of(getattr(value, field.name)) for field in dataclasses.fields(value))
        return {type(value)}.union(*parts)
    return set[type]().union(*map(classes_of, value)) if isinstance(value, tuple | list) else set()


def unknown_class(description: Any) -> str | None:
    """Returns the name of a class in a description that gnode does not have; None if it has them all."""
    if not isinstance(description, dict):
        return None
    if "other" in description:
        return str(description["other"])
    if isinstance(name := description.get("type"), str) and (description.get("own") or name not in known_types()):
        return name
    fields = description.get("fields")
    parts = description.get("tuple", fields.values() if isinstance(fields, dict) else ())
    return next((found for part in parts if (found := unknown_class(part))), None)


def rebuild(
    description: Any, source: str = "the configuration of the run", own: Mapping[str, type] | None = None
) -> Any:
    """Builds the object that `describe` described, with zeros in its arrays, which take no memory.

    **Arguments:** `description`; `source`, the file it comes from, for messages; `own`, classes of the user's own by name.

    **Raises:** `StoreError` if it is damaged, or names a class that gnode does not have.
    """
    if not isinstance(description, dict):
        return description
    if "array" in description:
        return _zeros(description, source)
    if isinstance(description.get("tuple"), list):
        return tuple(rebuild(part, source, own) for part in description["tuple"])
    name = description.get("type", description.get("other"))
    known = {**(own or {}), **({} if description.get("own") else known_types())}
    if not isinstance(name, str):
        raise _damaged(source, f"a part of the network has the keys {errors.shown(sorted(map(str, description)))}")
    if "other" in description or name not in known:
        raise errors.StoreError(
            f"the run uses a class {errors.shown(name)} that gnode does not have; pass one that has it: "
            f"gnode.load(folder, like=network), or gnode.resume(folder, like=network)."
        )
    return _rebuild_as(known[name], description.get("fields"), source, own)


def _rebuild_as(kind: Any, fields: Any, source: str, own: Mapping[str, type] | None) -> Any:
    """Builds an object of a class. Its own checks are not run, so the kinds of its fields are checked here."""
    if not isinstance(fields, dict):
        raise _damaged(source, f"the {kind.__name__} of the network has no fields")
    declared = {field.name: field for field in dataclasses.fields(kind)}
    if unknown := [name for name in fields if name not in declared]:
        raise errors.StoreError(
            f"{source}: the {kind.__name__} of the network has {errors.shown(unknown[0])}, which this version of gnode does "
            f"not know; use the version that wrote it."
        )
    is_ours = known_types().get(kind.__name__) is kind
    made, hints = object.__new__(kind), typing.get_type_hints(kind) if is_ours else {}
    for name, field in declared.items():
        if name not in fields and field.default is dataclasses.MISSING:
            raise _damaged(source, f"the {kind.__name__} of the network has no field {name!r}")
        value = rebuild(fields[name], source, own) if name in fields else field.default  # a field of a newer version
        try:
            if is_ours:  # what a user's annotation means is not known here
                arguments.check_kind(f"{kind.__name__}.{name}", value, hints[name])
        except errors.ArgumentError as problem:
            raise _damaged(source, str(problem).rstrip(".")) from problem
        object.__setattr__(made, name, value)
    return made


def _zeros(description: dict[str, Any], source: str) -> np.ndarray:
    shape, dtype = description["array"], description.get("dtype")
    try:
        arguments.check_kind("the shape of an array", shape, list[int])
        if any(size < 0 for size in shape) or np.dtype(dtype).kind not in "biufc":
            raise ValueError(f"an array has shape {errors.shown(shape)} and type {errors.shown(dtype)}")
        return np.broadcast_to(np.zeros((), np.dtype(dtype)), tuple(shape))
    except (TypeError, ValueError) as problem:
        raise _damaged(source, str(problem)) from problem


def _damaged(source: str, why: str) -> errors.StoreError:
    return errors.StoreError(errors.in_one_line(f"{source} is damaged: {errors.shortened(why, 200)}."))


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
        if stored.dtype.kind not in "biufc":
            raise errors.StoreError(f"{source}: array {name!r} does not hold numbers.")
        if stored.shape != np.shape(leaf):
            raise errors.StoreError(
                f"{source}: array {name!r} has shape {stored.shape}, but the network's is {np.shape(leaf)}."
            )
        if isinstance(leaf, bool | int | float | complex):
            return type(leaf)(stored.item())
        return jnp.asarray(stored, dtype=leaf.dtype)

    return jax.tree_util.tree_map_with_path(fill, like)
