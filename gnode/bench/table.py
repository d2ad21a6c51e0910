"""One table: every shape, every rival, as ratios measured in one run."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import PyTree

from gnode import errors
from gnode.bench.rivals import RIVALS, gradient_of, rivals
from gnode.bench.shapes import SHAPES, Shape
from gnode.bench.timing import compare, measured_peak

AGREE = 2e-2
"""How far the rivals' gradients may be from that in full float32, relatively, before they are not the same computation."""


def bench(
    shapes: Sequence[str] | None = None, *, rounds: int = 9, progress: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Times one gradient (forward and backward) of each shape by each rival.

    **Arguments:** `shapes`, names from `SHAPES`, by default all that are not heavy on a CPU and all elsewhere; `rounds`,
    how often each rival has its turn; `progress`, called with each shape's name before its turn.

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
        rows += _rows(name, SHAPES[name], peak, rounds)
    return {"rows": rows, "peak_gflops": peak / 1e9}


def _rows(name: str, shape: Shape, peak: float, rounds: int) -> list[dict[str, Any]]:
    calls = {rival: gradient_of(outputs, shape) for rival, outputs in rivals(shape.network()).items()}
    exact = gradient_of(RIVALS["plain scan"], shape, exact=True)()[1]
    errors_found = {rival: relative_error(call()[1], exact) for rival, call in calls.items()}
    if not max(errors_found.values()) <= AGREE:
        raise errors.GnodeError(f"the rivals disagree about the gradient of {name}: {errors_found}.")
    times = compare(calls, rounds)
    return [
        {
            "shape": name,
            "gradient by": rival,
            "ms": time,
            "times gnode": time / times["gnode"],
            "share of peak": shape.operations / (time / 1e3) / peak,
            "gradient's error": errors_found[rival],
        }
        for rival, time in times.items()
    ]


def relative_error(found: PyTree, exact: PyTree) -> float:
    """|found - exact| / |exact| over all values together."""
    pairs = [
        (np.asarray(a, float), np.asarray(b, float)) for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(exact))
    ]
    difference, size = (
        sum(float(np.sum(part)) for part in parts) for parts in zip(*(((a - b) ** 2, b**2) for a, b in pairs))
    )
    return float(np.sqrt(difference / size))
