"""Loop unrolling of compiled loops over bins."""

import jax

UNROLL = {"cpu": 1, "gpu": 10}
"""Bins per iteration of the compiled loop. On a GPU every iteration launches kernels, so few long iterations are faster."""


def unroll(time: int) -> int:
    """Returns the number of bins per iteration of a compiled loop over `time` bins."""
    return min(UNROLL.get(jax.default_backend(), 1), time)
