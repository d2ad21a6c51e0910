"""float32 to train, float64 to analyse, without touching the user's global setting."""

from collections.abc import Iterator
from contextlib import contextmanager

import jax
import jax.numpy as jnp
from jaxtyping import PyTree


@contextmanager
def double() -> Iterator[None]:
    """Inside, new jax arrays may be float64. Outside, everything is as it was before."""
    with jax.enable_x64(True):
        yield


def to_dtype(tree: PyTree, dtype: jnp.dtype | type) -> PyTree:
    """The same tree with every floating-point array cast to `dtype`."""

    def cast(leaf: PyTree) -> PyTree:
        is_float = hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jnp.floating)
        return leaf.astype(dtype) if is_float else leaf

    return jax.tree.map(cast, tree)
