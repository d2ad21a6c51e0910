"""One network on several cores of a CPU: the trials of a batch are split over as many devices.

JAX shows a CPU as one device unless it is told otherwise before its first computation, which is what `use_cores` does.
"""

import os
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, PyTree

from gnode import errors
from gnode.cells import Cell

Run = Callable[[Array, Any], Array]
"""From the state before some bins, and the bins, to the state at the end of each."""

TRIALS = "trials"


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def use_cores(count: int) -> None:
    """Lets networks whose solver has `cores` = `count` use so many cores; call it before anything computes.

    No environment variable is read or set. On a machine whose default device is a GPU it changes nothing.
    """
    errors.whole("cores", count)
    try:
        jax.config.update("jax_num_cpu_devices", count)
    except RuntimeError as problem:
        if jax.device_count("cpu") < count:
            raise errors.ArgumentError(
                f"cores is {count}, but JAX has begun to compute with {jax.device_count('cpu')}; call gnode.use_cores("
                f"{count}) first in the program, before any array is made."
            ) from problem


def check_cores(cores: int) -> None:
    """An error where a CPU is to be used by more cores than JAX was given."""
    if jax.default_backend() == "cpu" and cores > jax.device_count():
        raise errors.ArgumentError(
            f"cores is {cores}, but JAX was given {jax.device_count()}; call gnode.use_cores({cores}) first in the program. "
            "(A sweep needs no such setting: it trains a member on each core.)"
        )


def split_over(cores: int) -> int:
    """How many parts a batch is split into: `cores`, or 1 where JAX was not given as many."""
    return cores if jax.default_backend() == "cpu" and cores <= jax.device_count() else 1


def on_cores(tree: PyTree, count: int) -> PyTree:
    """The arrays of `tree` on each of `count` devices, so that a program that splits trials over them need not move any."""
    return jax.device_put(tree, NamedSharding(_mesh(count), PartitionSpec())) if count > 1 else tree


def _mesh(count: int) -> Mesh:
    return Mesh(np.array(jax.devices()[:count]), (TRIALS,))


def over_cores(run_of: Callable[[Any], Run], cell: Cell, count: int) -> Run:
    """`run_of(cell)` with the trials (after time in the bins, first in the state) split over `count` devices."""
    values, structure = eqx.partition(cell, eqx.is_inexact_array)
    whole, by_trial, time_first = PartitionSpec(), PartitionSpec(TRIALS), PartitionSpec(None, TRIALS)

    def part(values: Any, h0: Array, bins: Any) -> Array:
        return run_of(eqx.combine(values, structure))(h0, bins)

    split = jax.shard_map(
        part, mesh=_mesh(count), in_specs=(whole, by_trial, time_first), out_specs=time_first, check_vma=False
    )

    def run(h0: Array, bins: Any) -> Array:
        trials = h0.shape[0]
        extra = -trials % count  # equal parts: filled up with trials of zeros, cut off again below

        def filled(array: Array, axis: int) -> Array:
            return jnp.pad(array, [(0, extra if at == axis else 0) for at in range(array.ndim)])

        states = split(values, filled(h0, 0), jax.tree.map(lambda array: filled(array, 1), bins))
        return states[:, :trials]

    return run
