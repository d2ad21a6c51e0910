"""The one sentence that a page begins with: what the network does, in the terms of its task."""

import dataclasses
from typing import Protocol

import numpy as np

from gnode.analysis import Attractor, FixedPoints, MemoryLifetime
from gnode.tasks import Task, Trials
from gnode.train import Evaluation, Run
from gnode.wording import plural

__all__ = [
    "Found",
    "Judged",
    "class_names",
    "held_at",
    "input_text",
    "judge",
    "lost",
    "most_confused",
    "relative_size",
    "verdict",
]

SMALLEST_MEMORY = 0.1
"""A slow set that spans less than this share of the targets' range remembers nothing of use."""


class Found(Protocol):
    """What a verdict is made of; `gnode.analysis.Findings` has more."""

    @property
    def fixed_points(self) -> FixedPoints: ...

    @property
    def attractor(self) -> Attractor | None: ...

    @property
    def x(self) -> np.ndarray: ...


@dataclasses.dataclass(frozen=True)
class Judged:
    """The scores of a network on trials that it was not trained on: the test trials of its task, if there are any."""

    scores: Evaluation
    trials: Trials
    part: str


def judge(run: Run) -> Judged:
    """Evaluates the network of a run on the test trials, or on the validation trials of a task without any."""
    test = run.task.test
    trials, part = (run.task.validation, "validation") if test is None else (test, "test")
    return Judged(run.evaluation(trials), trials, part)


def verdict(run: Run, judged: Judged, found: Found | None) -> str:
    """Returns one sentence: classes for a classification, else what is remembered and for how long, else the fit."""
    if judged.scores.confusion is not None:
        return _of_classes(run.task, judged)
    fit = _fit(judged)
    if found is None:
        return f"{_capital(fit)}."
    said = _of_memory(run.task, found, fit)
    return said if not np.any(found.x) else f"{_capital(held_at(found))}: {said[0].lower()}{said[1:]}"


def _of_memory(task: Task, found: Found, fit: str) -> str:
    if found.attractor is not None and found.attractor.memory is not None:
        size = relative_size(found.attractor, task)
        if size is not None and size < SMALLEST_MEMORY:
            return f"{_capital(fit)}; its slow states span only {size:.2g} x the range of the task, so it remembers little."
        return f"Holds {_what(found.attractor, size)}; {lost(found.attractor.memory)}; {fit}."
    stable = int(np.sum(found.fixed_points.select(status="equilibrium").kind == "stable"))
    rest = f"{plural(stable, 'stable fixed point')}" if stable else "no stable fixed point"
    return f"{_capital(fit)}; {rest} and no continuous memory was found."


def held_at(found: Found) -> str:
    """Returns the constant input of an analysis in words."""
    return f"at the constant input {input_text(found.x)}" if np.any(found.x) else "without input"


def input_text(x: np.ndarray) -> str:
    """Returns an input as (0.5, 0)."""
    return f"({', '.join(f'{value:g}' for value in x[:8])}{', ...' if len(x) > 8 else ''})"


def lost(memory: MemoryLifetime) -> str:
    """Returns in words when half of the memories are lost."""
    if np.isfinite(memory.median):
        return f"half of its memories are lost after {memory.median:.3g} s"
    return f"more than half of its memories outlast {memory.horizon:.3g} s"


def relative_size(measured: Attractor, task: Task) -> float | None:
    """Returns the extent of a slow set in the outputs, as a share of the targets' range: the ratio of the diagonals."""
    diagonal = float(np.linalg.norm(_target_range(task)))
    return float(np.linalg.norm(measured.shape.high - measured.shape.low)) / diagonal if diagonal > 0 else None


def most_confused(confusion: np.ndarray) -> tuple[int, int, int] | None:
    """Returns the two classes that are taken for each other most often, and how often; None if none are."""
    both = np.triu(confusion + confusion.T, 1)
    first, second = np.unravel_index(np.argmax(both), both.shape)
    return (int(first), int(second), int(both[first, second])) if both.max() > 0 else None


def class_names(task: Task) -> list[str]:
    """Returns the names of the classes of a task; their numbers where they have none."""
    return [str(number) for number in range(task.outputs)] if task.classes is None else list(task.classes)


def _of_classes(task: Task, judged: Judged) -> str:
    confusion = judged.scores.confusion
    assert confusion is not None
    counted = int(confusion.sum())
    unit = "trial" if task.when == "last" else "bin"
    largest = confusion.sum(axis=1).max() / max(counted, 1)
    right = f"{judged.scores.accuracy:.1%} of {plural(counted, f'{judged.part} {unit}')} right"
    pair, names = most_confused(confusion), class_names(task)
    if pair is None:
        errors = "no class is taken for another"
    else:
        first, second, times = pair
        errors = f"classes {names[first]} and {names[second]} are confused most ({plural(times, 'time')})"
    return f"{right} (always answering the most frequent class: {largest:.1%}); {errors}."


def _fit(judged: Judged) -> str:
    trials = judged.trials
    counts = np.broadcast_to(trials.mask[..., None], trials.targets.shape) > 0
    variance = float(np.var(trials.targets[counts])) if counts.any() else 0.0
    error = f"{judged.part} error {judged.scores.loss:.3g}"
    if variance == 0 or not np.isfinite(judged.scores.loss):
        return error
    share = 1 - judged.scores.loss / variance
    if share <= 0:
        return f"explains none of the variance of the targets ({error})"
    return f"explains {_percent(share)} of the variance of the targets ({error})"


def _percent(share: float) -> str:
    """Writes a share so that a nearly perfect one is not rounded to all."""
    return next(
        (f"{share:.{digits}%}" for digits in (0, 1, 2, 3) if round(share, digits + 2) < 1), f"more than {0.99999:.3%}"
    )


def _what(measured: Attractor, size: float | None) -> str:
    shape = measured.shape.name
    if shape == "points":
        return f"one of {plural(measured.geometry.parts, 'separate state')}"
    article = "an" if shape[0] in "aeiou" else "a"
    numbers = plural(measured.dimension, "number")
    return f"{numbers} in {article} {shape}" + ("" if size is None else f" of {size:.2f} x the task's size")


def _target_range(task: Task) -> np.ndarray:
    trials = task.validation
    counted = trials.targets[trials.mask > 0]
    return np.ptp(counted, axis=0) if len(counted) else np.zeros(task.outputs)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
