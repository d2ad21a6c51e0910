"""Summaries of the data sets: counts, missing values and example trials, as `gnode data check` shows them."""

import dataclasses

import numpy as np
from jaxtyping import Float, Int

from gnode import errors
from gnode.arguments import checked
from gnode.tasks._persistence import last_value_error
from gnode.tasks._trials import Task
from gnode.tasks.datasets import characters, speech, walker2d

EXAMPLES = 3
"""Number of example trials."""


@dataclasses.dataclass(frozen=True, repr=False)
class Checked:
    """Summary of a data set.

    - `task`: task with its default options.
    - `missing`: share of bins, up to the last sample of each trial, that have no sample.
    - `observed`: some training trials, NaN where a value is missing.
    - `filled`: the same trials as the network receives them.
    - `baseline`: test error of the persistence baseline, for a prediction task.

    No example: made by `check`, which needs the data set.
    """

    task: Task
    missing: float
    observed: Float[np.ndarray, "trials bins channels"]
    filled: Float[np.ndarray, "trials bins channels"]
    baseline: float | None = None

    def __repr__(self) -> str:
        baseline = "" if self.baseline is None else f", persistence baseline {self.baseline:.4g}"
        return f"Checked({self.task!r}, {100 * self.missing:.1f}% of bins missing{baseline})"

    @property
    def parts(self) -> dict[str, int]:
        """The number of trials of each part of the split."""
        found = {"training": self.task.train, "validation": self.task.validation, "test": self.task.test}
        return {name: len(trials) for name, trials in found.items() if trials is not None}

    def class_counts(self) -> dict[str, list[int]]:
        """Returns the number of trials of each class in each part; empty for a prediction task."""
        if self.task.classes is None:
            return {}
        trials = [part for part in (self.task.train, self.task.validation, self.task.test) if part is not None]
        counts = np.stack([np.bincount(part.targets, minlength=self.task.outputs) for part in trials], axis=1)
        return dict(zip(self.task.classes, counts.tolist()))


def examples(task: Task) -> Int[np.ndarray, " some"]:
    """Returns the indices of a few training trials, spread over all of them so that classes differ."""
    return np.linspace(0, len(task.train) - 1, min(EXAMPLES, len(task.train))).astype(int)


@checked
def check(name: str, version: int = 1) -> Checked:
    """Makes the task of a data set with its default options and summarises it.

    **Arguments:**

    - `name`: "characters", "walker2d" or "speech".
    - `version`: version of `speech`.

    No example: it needs the data set.
    """
    return {"characters": _characters, "walker2d": _walker2d, "speech": lambda: _speech(version)}[
        errors.one_of("data set", name, ("characters", "walker2d", "speech"))
    ]()


def _characters() -> Checked:
    task = characters.characters()
    assert task.options is not None
    _, values, parts = characters.letters_with_gaps(task.options["dropped"], task.options["key"])
    chosen = examples(task)
    return Checked(task, _missing(values), values[parts[0][chosen]], task.train.inputs[chosen, :, 1:])


def _walker2d() -> Checked:
    task = walker2d.walker2d()
    assert task.test is not None
    grids = walker2d.windows_with_gaps()
    chosen = examples(task)
    bins = sum(int(grid.lengths.sum()) for grid in grids.values())
    seen = sum(int(np.sum(grid.samples > 0)) for grid in grids.values())
    return Checked(
        task,
        1 - seen / bins,
        grids["train"].values[chosen],
        task.train.inputs[chosen, :, 1:],
        last_value_error(task.test),
    )


def _speech(version: int) -> Checked:
    task = speech.speech(version=version)
    shown = task.train.inputs[examples(task)]
    return Checked(task, 0.0, shown, shown)


def _missing(values: np.ndarray) -> float:
    return float(np.mean(np.isnan(values).all(axis=2)))
