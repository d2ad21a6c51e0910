"""Timing of several functions in turn, after compilation, so that noise affects all of them alike."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from gnode import errors
from gnode.arguments import check_takes, checked


@checked
def compare(
    rivals: dict[str, Callable[[], Any]], rounds: int = 15, after_round: Callable[[], None] | None = None
) -> dict[str, float]:
    """Measures the median time of a call of each function.

    **Arguments:**

    - `rivals`: functions by name.
    - `rounds`: the number of timed calls of each.
    - `after_round`: a function that is called after each round.

    **Returns:** milliseconds by name.

    >>> list(compare({"nothing": lambda: None}, rounds=1))
    ['nothing']
    """
    rounds = errors.whole("rounds", rounds)
    if after_round is not None:
        check_takes("after_round", after_round, 0)
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


@checked
def measured_peak(size: int = 2048, rounds: int = 7) -> float:
    """Measures the operations per second of a large float32 matrix product, the best of `rounds`.

    >>> measured_peak(size=16, rounds=1) > 0
    True
    """
    size, rounds = errors.whole("size", size), errors.whole("rounds", rounds)
    errors.affordable("size", size, 8.0 * size**2)
    matrix = jax.random.normal(jax.random.key(0), (size, size))
    product = jax.jit(jnp.matmul)
    jax.block_until_ready(product(matrix, matrix))
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        jax.block_until_ready(product(matrix, matrix))
        best = min(best, time.perf_counter() - began)
    return 2 * size**3 / best
