"""Floating-point precision: float32 for training, float64 for analyses, without changing jax's global setting."""

from collections.abc import Generator
from contextlib import contextmanager

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import PyTree

from gnode import errors
from gnode.arguments import checked


@contextmanager
def double() -> Generator[None, None, None]:
    """Enables float64 for new jax arrays inside a `with` block.

    >>> with double():
    ...     print(jnp.ones(1).dtype)
    float64
    """
    with jax.enable_x64(True):
        yield


@checked
def to_dtype(tree: PyTree, dtype: jnp.dtype | type) -> PyTree:
    """Casts every floating-point array of a tree to `dtype`; other leaves stay as they are.

    >>> to_dtype({"W": jnp.ones(2), "n": 3}, jnp.float16)["W"].dtype
    dtype('float16')
    """

    if not jnp.issubdtype(dtype, jnp.floating):
        raise errors.ArgumentError(
            f"dtype is {errors.shown(dtype)}, but must be a floating-point type, such as float64."
        )

    def cast(leaf: PyTree) -> PyTree:
        is_float = hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jnp.floating)
        if not is_float or isinstance(leaf, np.ndarray | Tracer):
            return leaf.astype(dtype) if is_float else leaf
        return jax.device_put(np.asarray(leaf).astype(dtype))  # neither compiles anything for a new shape

    return jax.tree.map(cast, tree)
