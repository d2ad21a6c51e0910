"""Timing rivals fairly: compiled first, then in turn, round after round, so that noise hits all of them alike."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


def compare(
    rivals: dict[str, Callable[[], Any]], rounds: int = 15, after_round: Callable[[], None] | None = None
) -> dict[str, float]:
    """The median time of a call of each rival, in milliseconds."""
    for call in rivals.values():
        jax.block_until_ready(call())
    seconds: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(rounds):
        for name, call in rivals.items():
            began = time.perf_counter()
            jax.block_until_ready(call())
            seconds[name].append(time.perf_counter() - began)
        if after_round is not None:
            after_round()
    return {name: 1e3 * statistics.median(times) for name, times in seconds.items()}


def measured_peak(size: int = 2048, rounds: int = 7) -> float:
    """Operations per second of one large product of matrices in float32, the best of some rounds."""
    matrix = jax.random.normal(jax.random.key(0), (size, size))
    product = jax.jit(jnp.matmul)
    jax.block_until_ready(product(matrix, matrix))
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        jax.block_until_ready(product(matrix, matrix))
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best
