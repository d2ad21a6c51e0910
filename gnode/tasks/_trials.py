"""Trials and tasks: the arrays that a network is trained and evaluated on, and the loss that applies to them."""

import dataclasses
from typing import Any, TypeVar

import numpy as np

from gnode import errors
from gnode.arguments import checked_class
from gnode.wording import plural

LOSSES = ("mse", "cross_entropy")
"""Loss functions: mean squared error for a regression, cross-entropy for a classification."""

WHEN = ("every", "last")
"""Bins at which the loss is evaluated: every bin of a trial, or only its last one."""

MAX_OUTPUTS = 2**20
"""Largest number of outputs or classes; a network has a row of weights for each."""


T = TypeVar("T")


def takes_arrays(kind: type[T]) -> type[T]:
    """Makes a dataclass check its arguments; fields of arrays are left to `__post_init__`, which takes lists too."""
    hints = kind.__init__.__annotations__
    hints |= {name: Any for name, hint in hints.items() if "ndarray" in str(hint)}
    return checked_class(kind)


@takes_arrays
@dataclasses.dataclass(frozen=True, repr=False)
class Trials:
    """A batch of trials with the same number of bins, as numpy arrays.

    **Arguments:**

    - `inputs`: array of shape (trials, time, inputs).
    - `targets`: array of shape (trials, time, outputs) for a regression; for a classification one class index per trial, or
      one at every bin, of shape (trials, time).
    - `dt`: length of a bin in seconds, one number or an array of shape (trials, time). A bin of length 0 is padding: the
      state does not change in it.
    - `mask`: array of shape (trials, time), 1 where a bin counts in the loss and 0 where it does not. All ones by default.
    - `lengths`: number of bins of each trial before its padding begins. All bins by default.

    **Raises:** `ArgumentError` if the shapes do not agree, or if a value that counts is NaN or infinite.

    >>> Trials(np.zeros((4, 10, 2)), np.zeros((4, 10, 1)), 0.1)
    Trials(4 trials, 10 bins, 2 inputs, 1 target per bin)
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
        if is_class and targets.shape not in ((trials,), (trials, time)):
            raise errors.ArgumentError(
                f"targets (classes) has shape {targets.shape}, but must be ({trials},), one per trial, or "
                f"({trials}, {time}), one per bin."
            )
        if not is_class and (targets.ndim != 3 or targets.shape[:2] != (trials, time)):
            raise errors.ArgumentError(
                f"targets has shape {targets.shape}, but must be ({trials}, {time}, outputs) like inputs {inputs.shape}; "
                f"for a classification pass whole numbers, one per trial or per bin."
            )
        mask = _checked_mask(self.mask, (trials, time))
        lengths = _checked_lengths(self.lengths, (trials, time))
        dt = _checked_dt(self.dt, (trials, time))
        inputs = _finite("inputs", inputs, "a missing value (NaN) needs a fill: hold, linear or natural")
        if is_class and targets.ndim == 2:
            targets = np.where(mask > 0, targets, 0)
        if not is_class:
            if not np.all(mask):  # a target that does not count may be missing
                targets = np.where(mask[..., None] > 0, targets, 0)
            targets = _finite("targets", targets, "a bin whose target is missing needs a mask of 0")
        for name, value in {
            "inputs": inputs,
            "targets": targets,
            "dt": dt,
            "mask": mask,
            "lengths": lengths,
        }.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return self.inputs.shape[0]

    def __repr__(self) -> str:
        kinds = {1: "1 class per trial", 2: "1 class per bin"}
        targets = kinds.get(self.targets.ndim) or f"{plural(self.targets.shape[2], 'target')} per bin"
        counts = (plural(len(self), "trial"), plural(self.bins, "bin"), plural(self.inputs.shape[2], "input"))
        return f"Trials({', '.join(counts)}, {targets})"

    @property
    def bins(self) -> int:
        """The number of bins of each trial."""
        return self.inputs.shape[1]

    def counts(self) -> bool:
        """Whether any bin counts in the loss."""
        return bool(np.any(self.mask * (np.arange(self.bins) < self.lengths[:, None]) > 0))

    def end_classes(self) -> np.ndarray:
        """Returns the class of each trial at its last bin, of shape (trials,). Only for a classification."""
        return self.targets if self.targets.ndim == 1 else self.targets[np.arange(len(self)), self.lengths - 1]

    def take(self, chosen: Any) -> "Trials":
        """Returns a subset of the trials, selected by a slice (without copying) or by an array of indices."""
        dt = self.dt[chosen] if isinstance(self.dt, np.ndarray) else self.dt
        return Trials(self.inputs[chosen], self.targets[chosen], dt, self.mask[chosen], self.lengths[chosen])


def as_numbers(name: str, values: Any) -> np.ndarray:
    """Returns `values` as an array of real numbers, or raises an `ArgumentError` that names the dtype."""
    try:
        found = np.asarray(values)
    except (ValueError, TypeError) as problem:  # rows of different lengths, or an object that is no array
        raise errors.ArgumentError(
            f"{name} is {errors.shown(values)}, but must be an array of real numbers; rows must be of equal length."
        ) from problem
    if found.dtype.kind not in "biuf":
        raise errors.ArgumentError(
            f"{name} must hold real numbers, but is an array of {errors.shortened(str(found.dtype))}."
        )
    return found


def class_count(labels: np.ndarray) -> int:
    """Returns the number of classes if it is not told: the largest label and one more.

    **Raises:** `ArgumentError` if a label is negative, or so large that there would be more classes than trials.

    >>> class_count(np.array([0, 2, 1]))
    3
    """
    smallest, largest = int(labels.min()), int(labels.max())
    if smallest < 0 or largest >= labels.size:
        raise errors.ArgumentError(
            f"a label is {smallest if smallest < 0 else largest}, but the labels of {plural(len(labels), 'trial')} must be "
            f"whole numbers from 0 to {labels.size - 1}; number the classes 0, 1, 2, ..., or tell their number (outputs)."
        )
    return largest + 1


def single(values: np.ndarray) -> np.ndarray:
    """Returns an array in single precision, without copying where possible. What it cannot hold becomes infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(np.float32, copy=False)


def _checked_mask(given: Any, shape: tuple[int, int]) -> np.ndarray:
    mask = np.ones(shape, np.float32) if given is None else as_numbers("mask", given)
    if mask.shape != shape:
        raise errors.ArgumentError(f"mask has shape {mask.shape}, but must be {shape}.")
    mask = single(mask)
    if not np.all(np.isfinite(mask) & (mask >= 0)):
        raise errors.ArgumentError("mask must hold 1 where a bin counts in the loss and 0 where it does not.")
    return mask


def _checked_lengths(given: Any, shape: tuple[int, int]) -> np.ndarray:
    trials, time = shape
    lengths = np.full(trials, time) if given is None else as_numbers("lengths", given)
    if lengths.shape != (trials,) or not np.all((lengths >= 1) & (lengths <= time) & (lengths == np.floor(lengths))):
        raise errors.ArgumentError(f"lengths must hold {trials} whole numbers from 1 to {time}, one per trial.")
    return lengths.astype(np.int64, copy=False)


def _checked_dt(given: Any, shape: tuple[int, int]) -> float | np.ndarray:
    dt = as_numbers("dt", given)
    rounded = single(dt)
    dt = float(dt) if dt.ndim == 0 else rounded
    if np.ndim(dt) and np.shape(dt) != shape:
        raise errors.ArgumentError(f"dt has shape {np.shape(dt)}, but must be one number or {shape}.")
    if not np.all(np.isfinite(rounded)) or np.any(rounded < 0) or not np.any(rounded > 0):
        raise errors.ArgumentError(f"dt is {errors.shown(given)}, but must be positive (or zero for bins of padding).")
    return dt


def _finite(name: str, values: np.ndarray, remedy: str) -> np.ndarray:
    """Returns values in single precision, or raises an `ArgumentError` for one that is not finite in it."""
    rounded = single(values)  # no copy if it is so already: a large data set is held in memory once
    if not np.isfinite(rounded).all():
        bad = np.argwhere(~np.isfinite(rounded))
        trial, bin, channel = bad[0]
        large = ""
        if np.isfinite(values[trial, bin, channel]):
            large, remedy = ", too large for float32,", "divide them by a number"
        raise errors.ArgumentError(
            f"{name} holds {values[trial, bin, channel]}{large} at trial {trial}, bin {bin}, channel {channel} "
            f"({len(bad)} such values in all); {remedy}."
        )
    return rounded


def _check_names(name: str, given: tuple[str, ...] | None, count: int, of: str) -> None:
    if given is not None and len(given) != count:
        raise errors.ArgumentError(f"{name} holds {len(given)} names, but the task has {count} {of}.")


@checked_class
@dataclasses.dataclass(frozen=True, repr=False)
class Task:
    """Trials to train, validate and test on, with the loss that they are evaluated by.

    **Arguments:**

    - `name`: name of the task, as in `gnode.tasks.TASKS`, or the path of the file that it was read from.
    - `train`, `validation`, `test`: trials of each part of the split; `test` is optional.
    - `outputs`: number of outputs, or of classes.
    - `loss`: "mse" or "cross_entropy".
    - `when`: whether the loss counts at "every" bin or at the "last" bin of each trial.
    - `options`: arguments with which `gnode.tasks.make(name, **options)` makes the same task again; None for a task that
      exists only in memory.
    - `classes`: names of the classes, if they have any.
    - `input_names`, `output_names`: names of the inputs and of the outputs of a regression, for figures and reports.
    - `generator`: a `TrialGenerator` that draws new training trials on the device, for a task that is drawn at random.
    - `since_before`: whether `dt` is the time since the sample before, which a path between samples does not fit.

    >>> trials = Trials(np.zeros((4, 10, 2)), np.zeros((4, 10, 1)), 0.1)
    >>> Task("mine", trials, trials, outputs=1)
    Task('mine', 4 training and 4 validation trials of 10 bins, 2 inputs, 1 output, loss mse at every bin)
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
    generator: Any = None
    input_names: tuple[str, ...] | None = None
    output_names: tuple[str, ...] | None = None
    since_before: bool = False

    def __post_init__(self):
        errors.one_of("loss", self.loss, LOSSES)
        errors.one_of("when", self.when, WHEN)
        object.__setattr__(self, "outputs", errors.whole("outputs", self.outputs, at_most=MAX_OUTPUTS))
        is_class = np.issubdtype(self.train.targets.dtype, np.integer)
        if is_class != (self.loss == "cross_entropy"):
            kind = "whole numbers (classes)" if is_class else "real numbers"
            raise errors.ArgumentError(f"loss is {self.loss!r}, but the targets are {kind}.")
        if self.classes is not None and len(self.classes) != self.outputs:
            raise errors.ArgumentError(
                f"classes holds {len(self.classes)} names of classes, but outputs is {self.outputs}."
            )
        _check_names("input_names", self.input_names, self.inputs, "inputs")
        _check_names("output_names", self.output_names, self.outputs, "outputs")
        for part in (self.validation, self.test):
            if part is not None and part.inputs.shape[2] != self.inputs:
                raise errors.ArgumentError(
                    f"training trials have {self.inputs} inputs and other trials {part.inputs.shape[2]}; they must agree."
                )
            kind = None if part is None else (part.targets.ndim, *part.targets.shape[2:])
            if part is not None and kind != (self.train.targets.ndim, *self.train.targets.shape[2:]):
                raise errors.ArgumentError(
                    f"targets of the training trials have shape {self.train.targets.shape} and others {part.targets.shape}; "
                    f"they must agree, but for the number of trials and bins."
                )
        if not is_class and self.train.targets.shape[2] != self.outputs:
            raise errors.ArgumentError(
                f"outputs is {self.outputs}, but the targets have {self.train.targets.shape[2]} columns."
            )
        for name, part in (("training", self.train), ("validation", self.validation), ("test", self.test)):
            if part is not None and self.when == "every" and not part.counts():
                raise errors.ArgumentError(
                    f"none of the {len(part)} {name} trials has a bin that counts in the loss; check mask, lengths and "
                    f"missing targets."
                )
            if is_class and part is not None and (part.targets.min() < 0 or part.targets.max() >= self.outputs):
                wrong = part.targets.min() if part.targets.min() < 0 else part.targets.max()
                raise errors.ArgumentError(
                    f"a label is {wrong}, but classes must be from 0 to {self.outputs - 1} (outputs is {self.outputs})."
                )

    def __repr__(self) -> str:
        parts = {"training": self.train, "validation": self.validation, "test": self.test}
        *first, last = [f"{len(trials)} {part}" for part, trials in parts.items() if trials is not None]
        return (
            f"Task({self.name!r}, {', '.join(first)} and {last} trials of {plural(self.bins, 'bin')}, "
            f"{plural(self.inputs, 'input')}, {plural(self.outputs, 'output')}, "
            f"loss {self.loss} at {'every' if self.when == 'every' else 'the last'} bin)"
        )

    def fresh_trials(self) -> Any:
        """Returns the generator of new trials.

        **Raises:** `ArgumentError` if the task has none.
        """
        if self.generator is None:
            raise errors.ArgumentError(
                f"task {self.name} has no new trials: fresh trials need one that is drawn at random, such as a flip-flop or "
                f"gnode.tasks.generated(function)."
            )
        return self.generator

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
        """The length of a bin in seconds; the median length if bins differ. Padding (length 0) is left out."""
        lengths = np.asarray(self.train.dt)
        return float(np.median(lengths[lengths > 0]))
