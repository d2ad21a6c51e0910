"""The table of all shapes and implementations, as ratios measured in one run."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np
from jaxtyping import PyTree

from gnode import errors
from gnode.arguments import check_takes, checked
from gnode.bench import _pytorch as pytorch
from gnode.bench._rivals import ON_ALL_CORES, RIVALS, gradient_of, rivals
from gnode.bench._shapes import SHAPES, BenchShape
from gnode.bench._timing import compare, measured_peak

AGREE = 2e-2
"""The maximum relative error of a gradient, compared with that in full float32."""


@checked
def bench(
    shapes: Sequence[str] | None = None,
    *,
    rounds: int = 9,
    skip: str | None = None,
    progress: Callable[[str], None] | None = None,
    after_shape: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Times one gradient (forward and backward pass) of each shape by each implementation.

    **Arguments:**

    - `shapes`: names from `SHAPES`; by default all of them, on a CPU without the heavy ones.
    - `rounds`: the number of timed calls of each implementation.
    - `skip`: a prefix of the names of implementations to leave out.
    - `progress`: a function that is called with the name of each shape before it is measured.
    - `after_shape`: a function that is called with the results so far after each shape.

    **Returns:** a dictionary with `rows` and `peak_gflops`, the speed of a large float32 product in the same run. Each row
    has the time in milliseconds, its ratio to gnode's time, the share of the peak that it reaches, and the relative error
    of the gradient compared with products in full float32.

    **Raises:** `GnodeError` if the gradients disagree.

    No example: a run takes several seconds; see `gnode bench --help`.
    """
    rounds = errors.whole("rounds", rounds)
    for argument, function in (("progress", progress), ("after_shape", after_shape)):
        if function is not None:
            check_takes(argument, function)
    on_cpu = jax.default_backend() == "cpu"
    names = [name for name, shape in SHAPES.items() if not (on_cpu and shape.heavy)] if shapes is None else shapes
    for name in names:
        errors.one_of("shape", name, SHAPES)
    peak = measured_peak()
    rows = []
    for name in names:
        if progress is not None:
            progress(name)
        rows += _rows(name, SHAPES[name], peak, rounds, skip)
        if after_shape is not None:
            after_shape(_found(rows, peak))
    return _found(rows, peak)


def _found(rows: list[dict[str, Any]], peak: float) -> dict[str, Any]:
    return {"rows": rows, "peak_gflops": peak / 1e9}


def _rows(name: str, shape: BenchShape, peak: float, rounds: int, skip: str | None) -> list[dict[str, Any]]:
    ways = rivals(shape.network(), shape.networks * shape.trials * shape.bins)
    chosen = {n: outputs for n, outputs in ways.items() if n == "gnode" or not _skipped(n, skip)}
    cores = {ON_ALL_CORES: jax.device_count()}
    calls = {rival: gradient_of(outputs, shape, cores=cores.get(rival, 1)) for rival, outputs in chosen.items()}
    in_full = gradient_of(RIVALS["plain scan"], shape, exact=True)
    with ThreadPoolExecutor() as pool:  # compilation takes most of the time and runs in parallel
        exact, *gradients = pool.map(lambda call: call()[1], (in_full, *calls.values()))
    errors_found = {rival: relative_error(found, exact) for rival, found in zip(calls, gradients)}
    if not all(error <= AGREE for error in errors_found.values()):
        raise errors.GnodeError(f"the gradients of {name} by different implementations disagree: {errors_found}.")
    times = compare(calls, rounds)
    others = {n: call for n, call in pytorch.calls(shape).items() if not _skipped(n, skip)}
    times |= compare(others, rounds)  # separately, because PyTorch's threads keep spinning after a call
    return [
        {
            "shape": name,
            "gradient by": rival,
            "ms": time,
            "times gnode": time / times["gnode"],
            "share of peak": None if rival not in calls else shape.operations / (time / 1e3) / peak,
            "gradient's error": errors_found.get(rival),
        }
        for rival, time in times.items()
    ]


def _skipped(name: str, skip: str | None) -> bool:
    return skip is not None and name.startswith(skip)


def relative_error(found: PyTree, exact: PyTree) -> float:
    """Computes |found - exact| / |exact| over all values of two trees."""
    pairs = [
        (np.asarray(a, float), np.asarray(b, float)) for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(exact))
    ]
    difference, size = (
        sum(float(np.sum(part)) for part in parts) for parts in zip(*(((a - b) ** 2, b**2) for a, b in pairs))
    )
    return float(np.sqrt(difference / size))
