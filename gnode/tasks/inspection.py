"""A data set in numbers, and a few of its trials as they came: what `gnode data check` shows."""

import dataclasses

import numpy as np
from jaxtyping import Float, Int

from gnode import errors
from gnode.tasks._persistence import last_value_error
from gnode.tasks._trials import Task
from gnode.tasks.datasets import characters, speech, walker2d

EXAMPLES = 3


@dataclasses.dataclass(frozen=True)
class Checked:
    """What there is to see in a data set.

    - `task`: as it is trained on. `missing`: the share of bins, up to each trial's last sample, without one.
    - `observed` and `filled`: a few training trials with NaN where a value is missing, and as the network gets them.
    - `baseline`: the test error of carrying the last value forward, for a prediction.
    """

    task: Task
    missing: float
    observed: Float[np.ndarray, "trials bins channels"]
    filled: Float[np.ndarray, "trials bins channels"]
    baseline: float | None = None

    @property
    def parts(self) -> dict[str, int]:
        """The number of trials of each part."""
        found = {"training": self.task.train, "validation": self.task.validation, "test": self.task.test}
        return {name: len(trials) for name, trials in found.items() if trials is not None}

    def class_counts(self) -> dict[str, list[int]]:
        """For each class its trials in each part; nothing for a prediction."""
        if self.task.classes is None:
            return {}
        trials = [part for part in (self.task.train, self.task.validation, self.task.test) if part is not None]
        counts = np.stack([np.bincount(part.targets, minlength=self.task.outputs) for part in trials], axis=1)
        return dict(zip(self.task.classes, counts.tolist()))


def examples(task: Task) -> Int[np.ndarray, " some"]:
    """A few training trials, spread over all of them so that classes differ."""
    return np.linspace(0, len(task.train) - 1, min(EXAMPLES, len(task.train))).astype(int)


def check(name: str, version: int = 1) -> Checked:
    """Makes the task of a data set with its usual settings, and measures it."""
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
