"""Rules for the primitives of jax that move numbers about: with places that are known, each becomes a few operations."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from gnode.precision import double
from gnode.programs._program import Builder, Shape, Value

Rule = Callable[[Builder, JaxprEqn, Sequence[Value]], list[Value]]
"""Takes the builder, an equation of jax and the values of its operands; returns the values of its results."""


class NotKnown(Exception):
    """Raised by a rule for a case that programs cannot hold; the message says what is unusual about it."""


def shape_of(variable: Any) -> Shape:
    return tuple(map(int, variable.aval.shape))


def _broadcast_in_dim(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    shape, value = shape_of(equation.outvars[0]), operands[0]
    if value.size == math.prod(shape):
        return [build.reshaped(value, shape)]
    places = [int(axis) for axis in equation.params["broadcast_dimensions"]]
    return [build.equation("broadcast_in_dim", [value], shape, broadcast_dimensions=places)]


def _reshape(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    if equation.primitive.name == "reshape" and equation.params["dimensions"] is not None:
        raise NotKnown("with an order of its own")
    return [build.reshaped(operands[0], shape_of(equation.outvars[0]))]


def _transpose(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    permutation = [int(axis) for axis in equation.params["permutation"]]
    if permutation == sorted(permutation):
        return list(operands)
    return [build.equation("transpose", operands, shape_of(equation.outvars[0]), permutation=permutation)]


def _concatenate(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    dimension = int(equation.params["dimension"])
    return [build.equation("concatenate", operands, shape_of(equation.outvars[0]), dimension=dimension)]


def _slice(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    start, limit = (list(map(int, equation.params[name])) for name in ("start_indices", "limit_indices"))
    strides = list(map(int, equation.params["strides"] or [1] * len(start)))
    return [_sliced(build, operands[0], start, limit, strides)]


def _sliced(build: Builder, value: Value, start: Sequence[int], limit: Sequence[int], strides: Sequence[int]) -> Value:
    shape = tuple(max(0, -(-(b - a) // s)) for a, b, s in zip(start, limit, strides))
    if shape == value.shape:
        return value
    return build.equation("slice", [value], shape, start=list(start), limit=list(limit), strides=list(strides))


def _split(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    axis, at = int(equation.params["axis"]), 0
    parts, shape = [], operands[0].shape
    for size in map(int, equation.params["sizes"]):
        start, limit = [0] * len(shape), list(shape)
        start[axis], limit[axis] = at, at + size
        parts.append(_sliced(build, operands[0], start, limit, [1] * len(shape)))
        at += size
    return parts


def _dynamic_slice(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    sizes = list(map(int, equation.params["slice_sizes"]))
    start = _starts(operands[0].shape, sizes, operands[1:])
    limit = [a + size for a, size in zip(start, sizes)]
    return [_sliced(build, operands[0], start, limit, [1] * len(sizes))]


def _dynamic_update_slice(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    target, update = operands[:2]
    start = _starts(target.shape, update.shape, operands[2:])
    places = _places(target)
    for axis, (a, size) in enumerate(zip(start, update.shape)):
        places = np.take(places, range(a, a + size), axis=axis)
    return [build.equation("put", [target, update], target.shape, indices=places.ravel().tolist())]


def _starts(shape: Shape, sizes: Sequence[int], places: Sequence[Value]) -> list[int]:
    """The first index along each axis; jax moves a slice that would reach over an edge."""
    return [min(max(int(_fixed(place)), 0), length - size) for place, length, size in zip(places, shape, sizes)]


def _fixed(value: Value) -> np.ndarray:
    numbers = value.numbers()
    if numbers is None:
        raise NotKnown("with places that depend on the state, the input or a weight")
    return numbers


def _gather(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    with double():
        places = jnp.asarray(_fixed(operands[1]), equation.invars[1].aval.dtype)  # type: ignore[union-attr]
        numbered = jnp.arange(operands[0].size, dtype=jnp.int64).reshape(operands[0].shape)
        taken = np.asarray(equation.primitive.bind(numbered, places, **equation.params | {"fill_value": -1}))
    if np.any(taken < 0):
        raise NotKnown("beyond the ends of an array")
    shape = shape_of(equation.outvars[0])
    return [build.equation("take", operands[:1], shape, indices=taken.ravel().tolist())]


def _scatter(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    target, where, updates = operands
    numbers = equation.params["dimension_numbers"]
    with double():
        places = jnp.asarray(_fixed(where), equation.invars[1].aval.dtype)  # type: ignore[union-attr]

        def added(values: jax.Array) -> jax.Array:
            return lax.scatter_add(jnp.zeros(target.shape), places, values, numbers, mode=equation.params["mode"])

        # The derivative of a sum with respect to an update is one at the place where it is added.
        counted = jnp.arange(1.0, target.size + 1).reshape(target.shape)
        (found,) = jax.vjp(added, jnp.zeros(updates.shape))[1](counted)
    indices = np.rint(np.asarray(found)).astype(int).ravel() - 1
    if np.any(indices < 0):
        raise NotKnown("beyond the ends of an array")
    adds: dict[str, Any] = {"add": True} if equation.primitive.name == "scatter-add" else {}
    return [build.equation("put", [target, updates], target.shape, indices=indices.tolist(), **adds)]


def _places(value: Value) -> np.ndarray:
    """The place of every number of a value; moved about, they say what a `take` has to move."""
    return np.arange(value.size).reshape(value.shape)


def _taken(build: Builder, value: Value, places: np.ndarray) -> Value:
    return build.equation("take", [value], places.shape, indices=places.ravel().tolist())


def _rev(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    return [_taken(build, operands[0], np.flip(_places(operands[0]), tuple(equation.params["dimensions"])))]


def _tile(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    return [_taken(build, operands[0], np.tile(_places(operands[0]), equation.params["reps"]))]


def _stack(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    axis = int(equation.params["axis"])
    lifted = [build.reshaped(value, (*value.shape[:axis], 1, *value.shape[axis:])) for value in operands]
    return [build.equation("concatenate", lifted, shape_of(equation.outvars[0]), dimension=axis)]


def _unstack(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    rows = np.moveaxis(_places(operands[0]), int(equation.params["axis"]), 0)
    return [_taken(build, operands[0], row) for row in rows]


def _pad(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    config = [tuple(map(int, sizes)) for sizes in equation.params["padding_config"]]
    if any(low < 0 or high < 0 for low, high, _ in config):
        raise NotKnown("by a negative number")
    shape = shape_of(equation.outvars[0])
    places = np.arange(math.prod(shape)).reshape(shape)
    for axis, ((low, _, interior), length) in enumerate(zip(config, operands[0].shape)):
        places = np.take(places, low + (interior + 1) * np.arange(length), axis=axis)
    padding = build.broadcast(operands[1], shape)
    return [build.equation("put", [padding, operands[0]], shape, indices=places.ravel().tolist())]


def _iota(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    dimension = int(equation.params["dimension"])
    return [build.equation("iota", [], shape_of(equation.outvars[0]), dimension=dimension)]


MOVES: dict[str, Rule] = {
    "broadcast_in_dim": _broadcast_in_dim,
    "concatenate": _concatenate,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "expand_dims": _reshape,
    "gather": _gather,
    "iota": _iota,
    "pad": _pad,
    "reshape": _reshape,
    "rev": _rev,
    "scatter": _scatter,
    "scatter-add": _scatter,
    "slice": _slice,
    "split": _split,
    "squeeze": _reshape,
    "stack": _stack,
    "tile": _tile,
    "transpose": _transpose,
    "unstack": _unstack,
}
"""The rules, by the name of the primitive."""
