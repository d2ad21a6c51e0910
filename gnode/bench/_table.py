"""One table: every shape, every rival, as ratios measured in one run."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np
from jaxtyping import PyTree

from gnode import errors
from gnode.bench import _pytorch as pytorch
from gnode.bench._rivals import ON_ALL_CORES, RIVALS, gradient_of, rivals
from gnode.bench._shapes import SHAPES, BenchShape
from gnode.bench._timing import compare, measured_peak

AGREE = 2e-2
"""How far the rivals' gradients may be from that in full float32, relatively, before they are not the same computation."""


def bench(
    shapes: Sequence[str] | None = None,
    *,
    rounds: int = 9,
    skip: str | None = None,
    progress: Callable[[str], None] | None = None,
    after_shape: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Times one gradient (forward and backward) of each shape by each rival.

    **Arguments:** `shapes`, names from `SHAPES`, by default all that are not heavy on a CPU and all elsewhere; `rounds`,
    how often each rival has its turn; `skip`, how the names of rivals begin that are left out; `progress`, called with
    each shape's name before its turn; `after_shape`, called with what has been found so far after each.

    **Returns:** the rows, each with the time in milliseconds, how many times gnode's time that is, the share of
    `peak` (operations per second of a large float32 product, measured in the same run) that it reaches, and the error of
    the gradient relative to one with products in full float32.
    """
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
    chosen = {n: outputs for n, outputs in rivals(shape.network()).items() if n == "gnode" or not _skipped(n, skip)}
    cores = {ON_ALL_CORES: jax.device_count()}
    calls = {rival: gradient_of(outputs, shape, cores=cores.get(rival, 1)) for rival, outputs in chosen.items()}
    in_full = gradient_of(RIVALS["plain scan"], shape, exact=True)
    with ThreadPoolExecutor() as pool:  # compiling takes longest by far, and goes side by side
        exact, *gradients = pool.map(lambda call: call()[1], (in_full, *calls.values()))
    errors_found = {rival: relative_error(found, exact) for rival, found in zip(calls, gradients)}
    if not all(error <= AGREE for error in errors_found.values()):
        raise errors.GnodeError(f"the rivals disagree about the gradient of {name}: {errors_found}.")
    times = compare(calls, rounds)
    others = {n: call for n, call in pytorch.calls(shape).items() if not _skipped(n, skip)}
    times |= compare(others, rounds)  # on their own: PyTorch's threads go on spinning after a call
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
    """|found - exact| / |exact| over all values together."""
    pairs = [
        (np.asarray(a, float), np.asarray(b, float)) for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(exact))
    ]
    difference, size = (
        sum(float(np.sum(part)) for part in parts) for parts in zip(*(((a - b) ** 2, b**2) for a, b in pairs))
    )
    return float(np.sqrt(difference / size))
