"""Sizes, paddings and precisions of tiles of trials, shared by the fused and the streamed kernel."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

NARROWEST = 16
"""The minimum side of a product on the chip; smaller layers are padded."""

FACTORS = {"tf32": jnp.float16, "bfloat16": jnp.bfloat16}
"""The dtypes of the operands of products. float16 has the 10 bits of mantissa of TF32 in half the memory."""


def power_of_two(size: int) -> int:
    """Returns the smallest power of two that is at least `size` and `NARROWEST`."""
    return max(NARROWEST, 1 << (size - 1).bit_length())


def padded(array: Array, shape: Sequence[int]) -> Array:
    """Pads an array with zeros to `shape`."""
    return jnp.pad(array, [(0, new - size) for new, size in zip(shape, array.shape)])


def power_for_16_bits(largest: Array) -> Array:
    """Computes the power of two that scales cotangents, of which the largest is given, to at most about 1/8.

    The backward pass is linear, so they are scaled to the range of 16 bits and scaled back after it. In float16 they can
    then grow by a factor of half a million; those below 1/2000 of the largest lose precision, and those below 1/2000000
    of it become zero.
    """
    return jnp.where(largest > 0, jnp.exp2(jnp.floor(-3 - jnp.log2(largest))), 1.0)


def bounded(value: Array, dtype: Any) -> Array:
    """Casts to the dtype of the operands of products. A value out of range, as of a steep loss, is clipped."""
    if value.dtype == dtype:
        return value
    largest = float(jnp.finfo(dtype).max)
    return jnp.clip(value, -largest, largest).astype(dtype)


def why_not_precision(dtype: Any) -> str:
    """Returns why a kernel does not support `dtype`, as the end of a sentence, or an empty string if it does."""
    return "" if dtype == jnp.float32 else f"computes in float32, not {jnp.dtype(dtype)}"
