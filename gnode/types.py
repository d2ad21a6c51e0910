"""Types and helpers that every room may use: random keys, markers of untrained arrays, short reprs of modules."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, PyTree

from gnode import errors
from gnode.arguments import checked
from gnode.wording import plural

Key = Array
"""A jax random key (`jax.random.key(seed)`)."""


class Frozen(eqx.Module):
    """Base class of modules whose arrays are part of a network but are never trained (a fixed tau, a fixed initial state).

    No example: see `gnode.cells.FixedTimescale`, which is one.
    """


class NotDecayed(eqx.Module):
    """Base class of modules whose arrays are trained but exempt from weight decay and penalties (a learned tau).

    No example: see `gnode.cells.LearnedTimescale`, which is one.
    """


@checked
def as_key(key: Key | int | Sequence[int] | None, name: str = "key") -> Key:
    """Converts a seed to a jax key.

    **Arguments:**

    - `key`: a jax key, a whole number, or the value that `plain_key` returned. There is no default seed.
    - `name`: the name of the argument, for the error message.

    **Returns:** a jax key.

    **Raises:** `ArgumentError` if `key` is None or anything else.

    >>> as_key(3) == jax.random.key(3)
    Array(True, dtype=bool)
    """
    name = errors.shortened(name)
    if key is None:
        raise errors.ArgumentError(f"{name} is missing: pass a whole number or a jax key, e.g. {name}=0.")
    if isinstance(key, jax.Array) and jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        if key.shape != ():
            raise errors.ArgumentError(f"{name} is an array of keys of shape {key.shape}, but must be a single key.")
        return key
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        return jax.random.key(errors.seed(name, int(key)))
    numbers = jax.random.key_data(jax.random.key(0)).size
    if (
        isinstance(key, list | tuple)
        and len(key) == numbers
        and all(isinstance(part, int) and 0 <= part < 2**32 for part in key)
    ):
        return jax.random.wrap_key_data(jnp.asarray(key, jnp.uint32))
    raise errors.ArgumentError(
        f"{name} is {errors.shown(key)}, but must be a whole number or a jax key (jax.random.key(0))."
    )


@checked
def split_key(key: Key | int) -> tuple[Key, Key]:
    """Splits a key or a seed into two independent keys."""
    first, second = jax.random.split(as_key(key))
    return first, second


@checked
def plain_key(key: Key | int) -> int | list[int]:
    """Converts a key to a value that JSON can hold: the seed itself, or the list of numbers inside a jax key.

    >>> plain_key(3), as_key(plain_key(jax.random.key(3))) == jax.random.key(3)
    (3, Array(True, dtype=bool))
    """
    if isinstance(key, int | np.integer):
        return errors.seed("key", int(key))
    return np.asarray(jax.random.key_data(as_key(key))).tolist()


@checked
def numpy_generator(key: Key | int, name: str = "key") -> np.random.Generator:
    """Makes a numpy generator from a key, so that the data it draws are the same on every machine.

    >>> int(numpy_generator(0).integers(10)) == int(numpy_generator(0).integers(10))
    True
    """
    return np.random.default_rng(np.asarray(jax.random.key_data(as_key(key, name))))


def count_parameters(tree: PyTree) -> int:
    """Counts the floating-point values in a tree of arrays, trained or not.

    >>> count_parameters({"W": jnp.ones((2, 3)), "index": jnp.arange(4)})
    6
    """
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_inexact_array)))


def module_repr(module: Any, *facts: str) -> str:
    """Returns the one-line `repr` of a module: its class, some facts and the number of trained values.

    >>> module_repr(Frozen(), "tau=1")
    'Frozen(tau=1, 0 parameters)'
    """
    from gnode.trained import trained_values  # which knows the classes above

    return f"{type(module).__name__}({', '.join([*facts, plural(trained_values(module), 'parameter')])})"


def values_repr(values: Any) -> str:
    """Returns one number as text, several as their range, and anything but concrete numbers as the name of its type.

    >>> values_repr(jnp.float32(0.5)), values_repr(jnp.array([1.0, 3.0, 2.0])), values_repr(None)
    ('0.5', '1 to 3 (3 values)', 'None')
    """
    if isinstance(values, int | float | None):
        return "None" if values is None else f"{values:g}"
    if not isinstance(values, jax.Array | np.ndarray) or isinstance(values, Tracer) or values.size == 0:
        return type(values).__name__
    if values.size == 1:
        return f"{values.item():g}"
    least, largest = f"{np.min(values):g}", f"{np.max(values):g}"
    return f"{least if least == largest else f'{least} to {largest}'} ({values.size} values)"
