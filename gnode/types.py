"""Small types that every room may use: keys, and the marker for values that training leaves alone."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from gnode import errors

Key = Array
"""A jax random key (`jax.random.key(seed)`)."""


class Frozen(eqx.Module):
    """Base of modules whose arrays are part of a network but are never trained (a fixed tau, a fixed initial state)."""


class NotDecayed(eqx.Module):
    """Base of modules whose arrays are trained but exempt from weight decay and penalties (a learned tau)."""


def as_key(key: Key | int | None, name: str = "key") -> Key:
    """A jax key from a key, from a whole number, or from what `plain_key` made of one. None is an error: no hidden default.

    A seed of 0 is a seed like any other.
    """
    if key is None:
        raise errors.ArgumentError(f"{name} is missing: pass a whole number or a jax key, e.g. {name}=0.")
    if isinstance(key, jax.Array) and jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        if key.shape != ():
            raise errors.ArgumentError(f"{name} is an array of keys of shape {key.shape}, but must be a single key.")
        return key
    if isinstance(key, int | np.integer) and not isinstance(key, bool):
        return jax.random.key(errors.whole(name, int(key), at_least=0))
    if isinstance(key, list | tuple) and key and all(isinstance(part, int) for part in key):
        return jax.random.wrap_key_data(jnp.asarray(key, jnp.uint32))
    raise errors.ArgumentError(f"{name} is {key!r}, but must be a whole number or a jax key (jax.random.key(0)).")


def split_key(key: Key | int) -> tuple[Key, Key]:
    """Two independent keys from a key or a seed."""
    first, second = jax.random.split(as_key(key))
    return first, second


def plain_key(key: Key | int) -> int | list[int]:
    """A key as JSON can hold it: the whole number it was made from, or the numbers inside it.

    >>> plain_key(3), as_key(plain_key(jax.random.key(3))) == jax.random.key(3)
    (3, Array(True, dtype=bool))
    """
    if isinstance(key, int | np.integer):
        return int(key)
    return np.asarray(jax.random.key_data(as_key(key))).tolist()


def numpy_generator(key: Key | int, name: str = "key") -> np.random.Generator:
    """A numpy generator that depends on nothing but the key, so that data are the same on every machine."""
    return np.random.default_rng(np.asarray(jax.random.key_data(as_key(key, name))))


def count_parameters(tree: PyTree) -> int:
    """The number of floating-point values in a tree of arrays."""
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_inexact_array)))
