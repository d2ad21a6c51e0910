"""What a task is: trials to learn from, trials to be judged by, and how."""

import dataclasses
from typing import Any

import numpy as np

from gnode import errors

LOSSES = ("mse", "cross_entropy")
WHEN = ("every", "last")


@dataclasses.dataclass(frozen=True)
class Trials:
    """A set of trials of equal number of bins, as numpy arrays.

    - `inputs`: trials x time x inputs.
    - `targets`: trials x time x outputs for a regression; one class number per trial for a classification.
    - `mask`: trials x time, 1 where a bin counts in the loss. All ones if not given.
    - `dt`: the length of a bin in seconds; one number, or trials x time (a bin of length 0 does nothing: padding).
    - `lengths`: the number of bins of each trial that are real; all if not given.
    """

    inputs: np.ndarray
    targets: np.ndarray
    dt: float | np.ndarray
    mask: np.ndarray = None  # type: ignore[assignment]
    lengths: np.ndarray = None  # type: ignore[assignment]

    def __post_init__(self):
        inputs, targets = as_numbers("inputs", self.inputs), as_numbers("targets", self.targets)
        if inputs.ndim != 3 or 0 in inputs.shape:
            raise errors.ArgumentError(
                f"inputs has shape {inputs.shape}, but must be (trials, time, inputs), none of them 0."
            )
        trials, time, _ = inputs.shape
        is_class = np.issubdtype(targets.dtype, np.integer)
        if is_class and targets.shape != (trials,):
            raise errors.ArgumentError(
                f"targets (classes) has shape {targets.shape}, but must be ({trials},), one per trial."
            )
        if not is_class and (targets.ndim != 3 or targets.shape[:2] != (trials, time)):
            raise errors.ArgumentError(
                f"targets has shape {targets.shape}, but must be ({trials}, {time}, outputs) like inputs {inputs.shape}; "
                f"for a classification pass whole numbers, one per trial."
            )
        mask = np.ones((trials, time), np.float32) if self.mask is None else as_numbers("mask", self.mask)
        if mask.shape != (trials, time):
            raise errors.ArgumentError(f"mask has shape {mask.shape}, but must be ({trials}, {time}).")
        if not np.all(np.isfinite(mask) & (mask >= 0)):
            raise errors.ArgumentError("mask must hold 1 where a bin counts in the loss and 0 where it does not.")
        mask = mask.astype(np.float32, copy=False)
        lengths = np.full(trials, time) if self.lengths is None else as_numbers("lengths", self.lengths)
        if lengths.shape != (trials,) or not np.all((lengths >= 1) & (lengths <= time) & (lengths % 1 == 0)):
            raise errors.ArgumentError(f"lengths must hold {trials} whole numbers from 1 to {time}, one per trial.")
        lengths = lengths.astype(np.int64, copy=False)
        dt = as_numbers("dt", self.dt)
        dt = float(dt) if dt.ndim == 0 else dt.astype(np.float32, copy=False)
        if np.ndim(dt) and np.shape(dt) != (trials, time):
            raise errors.ArgumentError(f"dt has shape {np.shape(dt)}, but must be one number or ({trials}, {time}).")
        if not np.all(np.isfinite(dt)) or np.any(np.asarray(dt) < 0) or not np.any(np.asarray(dt) > 0):
            raise errors.ArgumentError(f"dt is {self.dt!r}, but must be positive (or zero for bins of padding).")
        _no_nan("inputs", inputs, "a missing value (NaN) needs a fill: hold, linear or natural")
        if not is_class:
            if not np.all(mask):  # a target that does not count may be missing
                targets = np.where(mask[..., None] > 0, targets, 0)
            _no_nan("targets", targets, "a bin whose target is missing needs a mask of 0")
            targets = targets.astype(np.float32, copy=False)
        for name, value in {
            "inputs": inputs.astype(np.float32, copy=False),  # a large data set is not held twice
            "targets": targets,
            "dt": dt,
            "mask": mask,
            "lengths": lengths,
        }.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return self.inputs.shape[0]

    @property
    def bins(self) -> int:
        """The number of bins of each trial."""
        return self.inputs.shape[1]

    def counts(self) -> bool:
        """Whether there is a bin that counts."""
        return bool(np.any(self.mask * (np.arange(self.bins) < self.lengths[:, None]) > 0))

    def take(self, chosen: Any) -> "Trials":
        """Some of the trials: a slice (which copies nothing) or an array of indices."""
        dt = self.dt[chosen] if isinstance(self.dt, np.ndarray) else self.dt
        return Trials(self.inputs[chosen], self.targets[chosen], dt, self.mask[chosen], self.lengths[chosen])


def as_numbers(name: str, values: Any) -> np.ndarray:
    """An array of numbers; one of anything else is an error in words."""
    found = np.asarray(values)
    if not (np.issubdtype(found.dtype, np.number) or found.dtype == bool) or np.iscomplexobj(found):
        raise errors.ArgumentError(f"{name} must hold real numbers, but is an array of {found.dtype}.")
    return found


def _no_nan(name: str, values: np.ndarray, remedy: str) -> None:
    if not np.isfinite(values).all():
        bad = np.argwhere(~np.isfinite(values))
        trial, bin, channel = bad[0]
        raise errors.ArgumentError(
            f"{name} holds {values[trial, bin, channel]} at trial {trial}, bin {bin}, channel {channel} "
            f"({len(bad)} such values in all); {remedy}."
        )


@dataclasses.dataclass(frozen=True)
class Task:
    """Trials to train on and to validate on, with the loss that they are judged by.

    `options` is what `gnode.tasks.make(name, **options)` needs to make the same task again; None for a task that exists
    only in memory. `classes` are the names of the classes, where they have any.
    """

    name: str
    train: Trials
    validation: Trials
    outputs: int
    loss: str = "mse"
    when: str = "every"
    test: Trials | None = None
    options: dict[str, Any] | None = None
    classes: tuple[str, ...] | None = None

    def __post_init__(self):
        errors.one_of("loss", self.loss, LOSSES)
        errors.one_of("when", self.when, WHEN)
        is_class = np.issubdtype(self.train.targets.dtype, np.integer)
        if is_class != (self.loss == "cross_entropy"):
            kind = "whole numbers (classes)" if is_class else "real numbers"
            raise errors.ArgumentError(f"loss is {self.loss!r}, but the targets are {kind}.")
        if self.classes is not None and len(self.classes) != self.outputs:
            raise errors.ArgumentError(
                f"there are {len(self.classes)} names of classes, but outputs is {self.outputs}."
            )
        for part in (self.validation, self.test):
            if part is not None and part.inputs.shape[2] != self.inputs:
                raise errors.ArgumentError(
                    f"training trials have {self.inputs} inputs and other trials {part.inputs.shape[2]}; they must agree."
                )
        if not is_class and self.train.targets.shape[2] != self.outputs:
            raise errors.ArgumentError(
                f"outputs is {self.outputs}, but the targets have {self.train.targets.shape[2]} columns."
            )
        for name, part in (("training", self.train), ("validation", self.validation), ("test", self.test)):
            if part is not None and self.when == "every" and not part.counts():
                raise errors.ArgumentError(
                    f"none of the {len(part)} {name} trials has a bin that counts in the loss; look at mask and lengths, or "
                    f"at the missing targets."
                )
        if is_class and (self.train.targets.min() < 0 or self.train.targets.max() >= self.outputs):
            raise errors.ArgumentError(f"classes must be from 0 to {self.outputs - 1} (outputs is {self.outputs}).")

    @property
    def inputs(self) -> int:
        """The number of input channels."""
        return self.train.inputs.shape[2]

    @property
    def bins(self) -> int:
        """The number of bins of a trial."""
        return self.train.bins

    @property
    def dt(self) -> float:
        """The length of a bin in seconds; the median one if bins differ (padding, of length 0, left out)."""
        lengths = np.asarray(self.train.dt)
        return float(np.median(lengths[lengths > 0]))
