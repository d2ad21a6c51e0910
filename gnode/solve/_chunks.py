"""A rollout in chunks of bins: the backward pass keeps the state at the start of each and recomputes one at a time."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

Run = Callable[[Array, Any], tuple[Array, Any]]
"""A function of the state before some bins, and the bins, that returns the states after each and what else it found."""


def in_chunks(run: Run, h0: Array, bins: Any, chunk: int | None = None) -> tuple[Array, Any]:
    """Runs `chunk` bins after another, about sqrt(T) by default. What else was found is stacked, one for each chunk.

    `bins` is a tree of arrays that begin with time, in which zeros must be a bin of length zero: the last chunk is filled
    up with them.
    """
    time = jax.tree.leaves(bins)[0].shape[0]
    chunk = math.ceil(math.sqrt(time)) if chunk is None else min(chunk, time)
    padding = -time % chunk

    def divided(values: Array) -> Array:
        padded = jnp.concatenate([values, jnp.zeros((padding, *values.shape[1:]), values.dtype)])
        return padded.reshape(-1, chunk, *values.shape[1:])

    @jax.checkpoint
    def run_chunk(h: Array, bins: Any) -> tuple[Array, tuple[Array, Any]]:
        states, more = run(h, bins)
        return states[-1], (states, more)

    states, more = jax.lax.scan(run_chunk, h0, jax.tree.map(divided, bins))[1]
    return states.reshape(-1, *states.shape[2:])[:time], more
