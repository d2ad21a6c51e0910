"""One table: every shape, every rival, as ratios measured in one run."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from gnode import errors
from gnode.bench.rivals import RIVALS, gradient_of
from gnode.bench.shapes import SHAPES, Shape
from gnode.bench.timing import compare, measured_peak

AGREE = 1e-3
"""How far the rivals' losses may be apart, relatively, before they are not the same computation."""


def bench(
    shapes: Sequence[str] | None = None, *, rounds: int = 9, progress: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Times one gradient (forward and backward) of each shape by each rival.

    **Arguments:** `shapes`, names from `SHAPES`, by default all that are not heavy on a CPU and all elsewhere; `rounds`,
    how often each rival has its turn; `progress`, called with each shape's name before its turn.

    **Returns:** the rows, each with the time in milliseconds, how many times gnode's time that is, and the share of
    `peak` (operations per second of a large float32 product, measured in the same run) that it reaches.
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
    net, data = shape.network(), shape.data()
    calls = {rival: gradient_of(outputs, net, data) for rival, outputs in RIVALS.items()}
    losses = np.array([float(call()[0]) for call in calls.values()])
    if not np.all(np.abs(losses - losses[0]) <= AGREE * abs(losses[0])):
        raise errors.GnodeError(f"the rivals disagree about the loss of {name}: {losses}.")
    times = compare(calls, rounds)
    return [
        {
            "shape": name,
            "gradient by": rival,
            "ms": time,
            "times gnode": time / times["gnode"],
            "share of peak": shape.operations / (time / 1e3) / peak,
        }
        for rival, time in times.items()
    ]
