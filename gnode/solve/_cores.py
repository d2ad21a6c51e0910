"""One network on several cores of a CPU: the trials of a batch are split over as many devices."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec
from jaxtyping import Array

from gnode.cells import Cell
from gnode.devices import TRIALS, core_mesh

Integrate = Callable[[Array, Any], Array]
"""From the state before some bins, and the bins, to the state at the end of each."""


def over_cores(integrate_of: Callable[[Any], Integrate], cell: Cell, count: int) -> Integrate:
    """Returns `integrate_of(cell)` with the trials (the second axis of the bins, the first of the state) split over `count`
    devices.
    """
    values, structure = eqx.partition(cell, eqx.is_inexact_array)
    whole, by_trial, time_first = PartitionSpec(), PartitionSpec(TRIALS), PartitionSpec(None, TRIALS)

    def part(values: Any, h0: Array, bins: Any) -> Array:
        return integrate_of(eqx.combine(values, structure))(h0, bins)

    split = jax.shard_map(
        part, mesh=core_mesh(count), in_specs=(whole, by_trial, time_first), out_specs=time_first, check_vma=False
    )

    def integrate(h0: Array, bins: Any) -> Array:
        trials = h0.shape[0]
        extra = -trials % count  # equal parts: padded with trials of zeros, which are cut off below

        def padded(array: Array, axis: int) -> Array:
            return jnp.pad(array, [(0, extra if at == axis else 0) for at in range(array.ndim)])

        states = split(values, padded(h0, 0), jax.tree.map(lambda array: padded(array, 1), bins))
        return states[:, :trials]

    return integrate
