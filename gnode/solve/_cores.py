"""Splits the trials of a batch over several CPU devices."""

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
"""A function that maps the state before some bins, and the bins, to the state at the end of each bin."""


def over_cores(integrate_of: Callable[[Any], Integrate], cell: Cell, count: int) -> Integrate:
    """Returns `integrate_of(cell)` with the trials split over `count` devices.

    Trials are the first axis of the state and the second axis of the bins.
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
        extra = -trials % count  # padding to equal parts, with trials of zeros that are removed below

        def padded(array: Array, axis: int) -> Array:
            return jnp.pad(array, [(0, extra if at == axis else 0) for at in range(array.ndim)])

        states = split(values, padded(h0, 0), jax.tree.map(lambda array: padded(array, 1), bins))
        return states[:, :trials]

    return integrate
