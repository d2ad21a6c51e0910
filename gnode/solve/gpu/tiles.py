"""Launching GPU kernels over tiles of trials, shared by the fused and the streamed kernel."""

import warnings
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jaxtyping import Array, PyTree

NARROWEST = 16
"""The minimum side of a product on the chip; smaller layers are padded."""

FACTORS = {"tf32": jnp.float16, "bfloat16": jnp.bfloat16}
"""The dtypes of the operands of products. float16 has the 10 bits of mantissa of TF32 in half the memory."""


def run_over_tiles(
    kernel: Any,
    over_trials: PyTree,
    whole: PyTree,
    out: PyTree,
    *,
    axis: int,
    tile: int,
    warps: int,
    stages: int,
    interpret: bool,
) -> Any:
    """Runs a kernel over tiles of trials.

    **Arguments:**

    - `kernel`: the kernel, a function of references to its arrays.
    - `over_trials`: arrays of which each program reads its own trials.
    - `whole`: arrays that each program reads as a whole.
    - `out`: arrays or shapes like those that the kernel writes.
    - `axis`: the axis of trials, counted from the end.
    - `tile`: the number of trials of a program, a divisor of the number of trials.
    - `warps`: the number of groups of 32 threads of a program.
    - `stages`: the depth of software pipelining.
    - `interpret`: whether to run in Pallas' interpreter.

    **Returns:** arrays like `out`.
    """

    def cut(array: Any) -> pl.BlockSpec:
        place = array.ndim + axis
        shape = tuple(tile if at == place else size for at, size in enumerate(array.shape))
        return pl.BlockSpec(shape, lambda i: tuple(i if at == place else 0 for at in range(len(shape))))

    def uncut(array: Any) -> pl.BlockSpec:
        return pl.BlockSpec(array.shape, lambda i: (0,) * array.ndim)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return pl.pallas_call(
            kernel,
            out_shape=jax.tree.map(lambda like: jax.ShapeDtypeStruct(like.shape, like.dtype), out),
            grid=(jax.tree.leaves(out)[0].shape[axis] // tile,),
            in_specs=(jax.tree.map(cut, over_trials), jax.tree.map(uncut, whole)),
            out_specs=jax.tree.map(cut, out),
            interpret=interpret,
            compiler_params=None if interpret else _compiler_params(warps, stages),
        )(over_trials, whole)


def _compiler_params(warps: int, stages: int) -> Any:
    from jax.experimental.pallas import triton  # not available on every platform

    return triton.CompilerParams(num_warps=warps, num_stages=stages)


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
