"""What is measured of a network that should have a continuous attractor: errors, memories, and where it comes to rest."""

from typing import Any

import numpy as np

from gnode import analysis, files, tasks
from gnode.analysis import Attractor
from gnode.reproduce import flip_flop
from gnode.train import Run

TOLERANCE = 0.1
"""The largest distance between an output and where it was that still counts as a memory, and as a part of the set."""
HORIZONS = (60.0, 600.0)
"""In seconds. What outlasts the first is simulated up to the second."""
MEMORIES, TRIALS = 40, 500
KEPT = "attractor-measures-2.json"
"""The file in a member's folder that keeps what was measured, since it takes a minute."""

EXTENT: dict[str, tuple[float, ...]] = {
    "square": (2.0, 2.0),
    "rectangle": (4.0, 2.0),
    "annulus": (4.0, 4.0),
    "ring": (4.0, 4.0),
    "variable": (2.0, 2.0, 2.0),
    "fixed": (2.0, 2.0),
}
"""The sides of the box around the values that each task asks to remember."""

HELD_OUT: dict[str, list[tuple[float, float]]] = {
    "square": [(1.0, 1.5)],
    "rectangle": [(1.0, 1.5)],
    "annulus": [(0.0, 0.5), (0.5, 1.0), (2.0, 4.0)],
    "ring": [(1.0, 2.0)],
    "variable": [(1.0, 1.5)],
    "fixed": [(0.5, 1.0)],
}
"""Sizes of pulses outside the range of training."""

Measured = dict[str, Any]


def kind_of(task: str) -> str:
    """Returns the kind of a task, a key of `EXTENT`.

    >>> kind_of("variable-n6")
    'variable'
    """
    return task.split("-")[0]


def label_of(task: str) -> str:
    """Returns the name of a task on the page.

    >>> label_of("variable-n6"), label_of("ring")
    ('variable, N = 6', 'ring, N = 2')
    """
    name, _, size = task.partition("-n")
    return f"{name}, N = {size or 2}"


def measure(run: Run, kind: str, is_smoke: bool) -> Measured:
    """Measures a network, or reads what was measured before.

    **Arguments:** `run`; `kind` of task, a key of `EXTENT`; `is_smoke`, whether a short simulation will do.
    """
    kept = None if run.folder is None or is_smoke else run.folder / KEPT
    if kept is not None and kept.exists():
        return files.read_json(kept)
    found = {"mse": run.evaluate()["loss"], "trained mse": run.best_loss, "status": run.status}
    found |= _errors(run, kind, 20 if is_smoke else TRIALS)
    found |= _memories(run, (1.0, 2.0) if is_smoke else HORIZONS)
    found |= _slow_set(run, kind)
    if kept is not None:
        files.write_json(kept, found)
    return found


def _errors(run: Run, kind: str, trials: int) -> Measured:
    """The error on new trials, and on pulses outside the range of training."""
    found: Measured = {}
    for span in (None, *HELD_OUT[kind]):
        new = tasks.new_trials(run.task, trials, **({} if span is None else {"span": span}))
        error = analysis.trial_error(run.net, new.inputs, new.targets, dt=run.dt, span=span or (0.0, 0.0)).mean_square
        found["mse on new trials" if span is None else f"mse on pulses {span[0]:g} to {span[1]:g}"] = error
    return found


def _memories(run: Run, horizons: tuple[float, float]) -> Measured:
    """How far the outputs at the end of validation trials move in a second, and how long they are memories.

    An output that is off its target by more than the tolerance when the trial ends is none.
    """
    ends = np.asarray(run.states[:MEMORIES, -1], np.float64)
    outputs = np.asarray(run.net.run(run.task.validation.inputs[:MEMORIES], dt=run.dt).outputs[:, -1])
    is_wrong = np.linalg.norm(outputs - run.task.validation.targets[:MEMORIES, -1], axis=-1) > TOLERANCE
    first = analysis.memory_lifetime(run.net, ends, dt=run.dt, tolerance=TOLERANCE, horizon=horizons[0])
    lifetimes = np.where(is_wrong, 0.0, first.lifetimes)
    lasting = np.isinf(lifetimes)
    if lasting.any():
        longer = analysis.memory_lifetime(run.net, ends[lasting], dt=run.dt, tolerance=TOLERANCE, horizon=horizons[1])
        lifetimes[lasting] = longer.lifetimes
    second = min(round(1 / run.dt), len(first.times) - 1)
    return {
        "drift": float(first.error_quartiles[1, second]),
        "memory": float(np.median(np.minimum(lifetimes, horizons[1]))),
        "lasting": float(np.mean(np.isinf(lifetimes))),
        "wrong": float(np.mean(is_wrong)),
    }


def _slow_set(run: Run, kind: str) -> Measured:
    """The set of slow states: its size, what it covers of the task's values, Appendix C, spectrum and gates."""
    slow = flip_flop.slow_set(run)
    if slow is None:
        return {"shape": "none", "size": 0.0, "covered": 0.0, "conditions": [], "is attractor": False}
    values = np.asarray(run.task.validation.targets[:, -1])
    distance = np.linalg.norm(values[:, None] - slow.outputs[None], axis=-1).min(axis=1)
    rates = np.abs(slow.stability.abscissa)
    return {
        "shape": slow.shape.name,
        "size": float(np.mean((slow.shape.high - slow.shape.low) / np.array(EXTENT[kind]))),
        "low": slow.shape.low.tolist(),
        "high": slow.shape.high.tolist(),
        "covered": float(np.mean(distance <= TOLERANCE)),
        "conditions": [[one.item, one.holds, one.measured] for one in slow.definition],
        "is attractor": slow.is_continuous_attractor,
        "abscissa": [float(q) for q in np.quantile(rates, [0.25, 0.5, 0.75, 1.0])],
        **_gates(slow),
    }


def _gates(slow: Attractor) -> Measured:
    if slow.gating is None:
        return {}
    return {
        "gates": slow.gating.components.tolist(),
        "gate": float(np.median(slow.gating.components)),
        "gate norm": slow.gating.gate_norm,
        "residual norm": slow.gating.drift_norm,
    }
