"""How many bins a compiled loop takes in one turn."""

import jax

UNROLL = {"cpu": 1, "gpu": 10}
"""Bins per turn of the compiled loop. On a GPU each turn costs a round of kernel launches, so few long turns win."""


def unroll(time: int) -> int:
    """Bins per turn of a compiled loop over `time` bins."""
    return min(UNROLL.get(jax.default_backend(), 1), time)
