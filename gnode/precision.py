"""Floating-point precision: float32 for training, float64 for analyses, without changing jax's global setting."""

from collections.abc import Generator
from contextlib import contextmanager

import jax
import jax.numpy as jnp
from jaxtyping import PyTree


@contextmanager
def double() -> Generator[None, None, None]:
    """Enables float64 for new jax arrays inside a `with` block.

    >>> with double():
    ...     print(jnp.ones(1).dtype)
    float64
    """
    with jax.enable_x64(True):
        yield


def to_dtype(tree: PyTree, dtype: jnp.dtype | type) -> PyTree:
    """Casts every floating-point array of a tree to `dtype`; other leaves stay as they are.

    >>> to_dtype({"W": jnp.ones(2), "n": 3}, jnp.float16)["W"].dtype
    dtype('float16')
    """

    def cast(leaf: PyTree) -> PyTree:
        is_float = hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jnp.floating)
        return leaf.astype(dtype) if is_float else leaf

    return jax.tree.map(cast, tree)
