"""Devices and cores: how many there are, and how work is spread over them.

JAX shows a CPU as one device unless it is told otherwise before its first computation, which is what `use_cores` does.
"""

import os

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import PyTree

from gnode import errors
from gnode.arguments import checked

__all__ = [
    "available_cores",
    "check_cores",
    "core_mesh",
    "cores_in_use",
    "is_on_cpu",
    "is_on_gpu",
    "on_cores",
    "one_core_per_network",
    "use_cores",
]

TRIALS = "trials"
"""The mesh axis over which the trials of a batch are split."""


def is_on_cpu() -> bool:
    """Whether jax computes on the CPU by default."""
    return jax.default_backend() == "cpu"


def is_on_gpu() -> bool:
    """Whether jax computes on a GPU by default."""
    return jax.default_backend() == "gpu"


def available_cores() -> int:
    """Returns the number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@checked
def use_cores(count: int) -> None:
    """Gives jax `count` CPU devices, for networks whose solver has `cores=count`. Call it before anything computes.

    No environment variable is read or set. On a machine whose default device is a GPU it changes nothing.

    **Raises:** `ArgumentError` if jax has begun to compute with fewer.

    No example: it must come before anything computes.
    """
    count = errors.whole("cores", count)
    try:
        jax.config.update("jax_num_cpu_devices", count)
    except RuntimeError as problem:
        if jax.device_count("cpu") < count:
            raise errors.ArgumentError(
                f"cores is {count}, but JAX has begun to compute with {jax.device_count('cpu')}; call gnode.use_cores("
                f"{count}) first in the program, before any array is made."
            ) from problem


def check_cores(cores: int) -> None:
    """Raises an `ArgumentError` if `cores` is more than jax was given by `use_cores`."""
    if is_on_cpu() and cores > jax.device_count():
        raise errors.ArgumentError(
            f"cores is {cores}, but JAX was given {jax.device_count()}; call gnode.use_cores({cores}) first in the program. "
            "(A sweep needs no such setting: it trains a member on each core.)"
        )


def cores_in_use(cores: int) -> int:
    """Returns over how many devices a batch is split: `cores`, or 1 where jax was not given as many."""
    return cores if is_on_cpu() and cores <= jax.device_count() else 1


def on_cores(tree: PyTree, count: int) -> PyTree:
    """Copies the arrays of `tree` to each of `count` devices, so that a program that splits trials over them moves none."""
    return jax.device_put(tree, NamedSharding(core_mesh(count), PartitionSpec())) if count > 1 else tree


def core_mesh(count: int) -> Mesh:
    """Returns the first `count` devices as a mesh with the axis `TRIALS`."""
    return Mesh(np.array(jax.devices()[:count]), (TRIALS,))


def one_core_per_network() -> None:
    """Restricts each compiled program to one core, so that threads that train small networks do not compete for cores.

    XLA reads the flag when it starts, so call this before anything computes.
    """
    flag = "--xla_cpu_multi_thread_eigen=false"
    if flag.split("=")[0] not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flag}".strip()
