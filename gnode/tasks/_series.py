"""Time series with irregular times, unequal lengths and missing values."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Num

from gnode import errors
from gnode.arguments import checked
from gnode.tasks._trials import as_numbers, class_count, takes_arrays
from gnode.wording import plural

MAX_GRID_SIZE = 2**31
"""Largest number of values of a grid (8 GB); a larger grid is probably a mistake in the bin length."""
BIN_TOLERANCE = 1e-6
"""Distance in bins below the edge of a bin within which a sample still belongs to it, because times are rounded."""


@dataclasses.dataclass(frozen=True, repr=False)
class OnGrid:
    """Trials on regular bins, made by `Series.on_grid`.

    - `values`: NaN where nothing was observed, also after the end of a trial.
    - `samples`: number of samples in each bin.
    - `lengths`: number of bins up to the last sample of each trial.
    - `targets`: count in the loss where `target_mask` is True.
    """

    values: Float[np.ndarray, "trials bins channels"]
    samples: Int[np.ndarray, "trials bins"]
    lengths: Int[np.ndarray, " trials"]
    targets: Float[np.ndarray, "trials bins outputs"] | None = None
    target_mask: Bool[np.ndarray, "trials bins"] | None = None

    def __repr__(self) -> str:
        trials, bins, channels = self.values.shape
        return f"OnGrid({plural(trials, 'trial')}, {plural(bins, 'bin')}, {plural(channels, 'channel')})"


@takes_arrays
@dataclasses.dataclass(frozen=True, repr=False)
class Series:
    """Trials of unequal lengths with irregular times, concatenated along time. `Series.of` makes one from lists.

    **Arguments:**

    - `values`: array of shape (samples, channels) with all trials, one after the other; NaN is a missing value.
    - `lengths`: number of samples of each trial.
    - `times`: time of every sample in seconds, increasing within a trial; by default 0, 1, 2, ... in each trial.
    - `labels`: class index of each trial, for a classification.
    - `label_names`: names of the classes.
    - `targets`: array of shape (samples, outputs), for a regression.
    - `target_mask`: True for the samples whose targets count in the loss; by default those without NaN.

    >>> series = Series.of([[[1.0], [2.0]], [[3.0]]], labels=[0, 1], label_names=("a", "b"))
    >>> series
    Series(2 trials, 3 samples, 1 channel, 2 classes)
    >>> series.lengths.tolist()
    [2, 1]
    """

    values: np.ndarray
    lengths: np.ndarray
    times: Any = None
    labels: np.ndarray | None = None
    label_names: tuple[str, ...] = ()
    targets: np.ndarray | None = None
    target_mask: np.ndarray | None = None

    def __post_init__(self):
        values, lengths = as_numbers("values", self.values), as_numbers("lengths", self.lengths)
        values = values if np.issubdtype(values.dtype, np.floating) else values.astype(np.float32)
        if values.ndim != 2 or 0 in values.shape:
            raise errors.ArgumentError(
                f"values has shape {values.shape}, but must be (samples, channels), none of them 0."
            )
        if lengths.ndim != 1 or not np.issubdtype(lengths.dtype, np.integer) or lengths.min(initial=1) < 1:
            raise errors.ArgumentError("lengths must hold a whole number of at least 1 for each trial.")
        total = sum(lengths.tolist())  # whole numbers of Python, which cannot overflow
        if total != len(values):
            raise errors.ArgumentError(f"lengths add up to {total} samples, but values hold {len(values)}.")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "lengths", lengths.astype(np.int64))
        starts = self.starts
        _check_values(values, starts)
        times = (self._position if self.times is None else as_numbers("times", self.times)).astype(np.float64)
        _check_times(times, starts, len(values))
        object.__setattr__(self, "times", times)
        self._check_labels()
        self._check_targets()

    @classmethod
    @checked
    def of(cls, trials: Sequence[Any], times: Sequence[Any] | None = None, **others: Any) -> "Series":
        """Makes a series from a list of trials.

        **Arguments:**

        - `trials`: arrays of shape (samples, channels), one per trial.
        - `times`: times of each trial.
        - `others`: further fields of the class; `targets` and `target_mask` are lists with one array per trial.
        """
        arrays = [as_numbers("trials", trial) for trial in trials]
        widths = {array.shape[1:] for array in arrays}
        if not arrays or len(widths) != 1 or len(next(iter(widths))) != 1:
            raise errors.ArgumentError(
                f"trials must be arrays (samples, channels) with the same channels, but have shapes "
                f"{sorted({array.shape for array in arrays})[:4]}."
            )
        joined = {name: others.pop(name, None) for name in ("targets", "target_mask")} | {"times": times}
        joined = {name: None if given is None else _joined(name, given, arrays) for name, given in joined.items()}
        return cls(np.concatenate(arrays), np.array([len(array) for array in arrays]), **joined, **others)

    def __len__(self) -> int:
        return len(self.lengths)

    def __repr__(self) -> str:
        counts = [plural(len(self), "trial"), plural(len(self.values), "sample"), plural(self.channels, "channel")]
        if self.labels is not None:
            count = len(self.label_names)
            counts.append(f"{count} class{'es' * (count != 1)}")
        if self.targets is not None:
            counts.append(plural(self.targets.shape[1], "output"))
        return f"Series({', '.join(counts)})"

    @property
    def channels(self) -> int:
        """The number of channels."""
        return self.values.shape[1]

    @property
    def starts(self) -> Int[np.ndarray, " trials"]:
        """The index of the first sample of each trial."""
        return np.concatenate([[0], np.cumsum(self.lengths)[:-1]])

    @property
    def missing_share(self) -> float:
        """The share of values that are missing."""
        return float(np.mean(np.isnan(self.values)))

    @property
    def _position(self) -> Int[np.ndarray, " samples"]:
        return np.arange(len(self.values)) - np.repeat(self.starts, self.lengths)

    @property
    def elapsed(self) -> Float[np.ndarray, " samples"]:
        """The time of every sample since the first sample of its trial."""
        return self.times - np.repeat(self.times[self.starts], self.lengths)

    @checked
    def trial(self, index: int) -> tuple[Float[np.ndarray, " samples"], Float[np.ndarray, "samples channels"]]:
        """Returns times and values of one trial."""
        if not -len(self) <= index < len(self):
            raise errors.ArgumentError(f"index is {errors.shown(index)}, but must be from 0 to {len(self) - 1}.")
        chosen = slice(self.starts[index], self.starts[index] + self.lengths[index])
        return self.times[chosen], self.values[chosen]

    @checked
    def bins(self, step: float) -> int:
        """Returns the number of bins of `step` seconds that the longest trial takes."""
        return int(self._bin(step).max()) + 1

    def _bin(self, step: float) -> Int[np.ndarray, " samples"]:
        with np.errstate(over="ignore"):
            place = np.floor(self.elapsed / errors.positive("step", step) + BIN_TOLERANCE)
        if place.max() > MAX_GRID_SIZE:
            raise errors.ArgumentError(
                f"dt is {step:g} s, with which the longest trial takes {place.max():.3g} bins, which is too many; choose "
                f"longer bins (dt), or leave dt out and keep the times of the samples."
            )
        return place.astype(np.int64)

    @checked
    def on_grid(self, step: float = 1.0, bins: int | None = None) -> OnGrid:
        """Puts the trials on regular bins that begin at the first sample of each trial.

        Bin k holds the samples from k * step up to (k + 1) * step after the first one. If several samples fall into one
        bin, each channel keeps its last observed value.

        **Arguments:**

        - `step`: length of a bin in seconds.
        - `bins`: number of bins; by default as many as the longest trial takes.

        **Raises:** `ArgumentError` if `bins` is too small, or if the grid would be too large.

        >>> Series.of([[[1.0], [2.0]]], times=[[0.0, 2.5]]).on_grid().values[0, :, 0].tolist()
        [1.0, nan, 2.0]
        """
        place = self._bin(step)
        needed = int(place.max()) + 1
        bins = needed if bins is None else errors.whole("bins", bins)
        if bins < needed:
            raise errors.ArgumentError(f"bins is {bins}, but the longest trial takes {needed} bins of {step:g} s.")
        trial = np.repeat(np.arange(len(self)), self.lengths)
        shape = (len(self), bins)
        numbers = len(self) * bins * max(self.channels, 1 if self.targets is None else self.targets.shape[1])
        if numbers > MAX_GRID_SIZE:
            raise errors.ArgumentError(
                f"dt is {step:g} s, with which the longest trial takes {bins} bins and all trials {numbers:.1g} numbers, "
                f"which is too many; choose longer bins (dt), or leave dt out and keep the times of the samples."
            )
        errors.affordable("the shape of the bins", (*shape, self.channels), 2 * numbers * self.values.itemsize)
        values = np.full((*shape, self.channels), np.nan, self.values.dtype)
        flat = trial * bins + place
        if np.all(np.diff(flat) > 0):  # at most one sample per bin
            values.reshape(-1, self.channels)[flat] = self.values
        else:
            for channel in range(self.channels):
                seen = ~np.isnan(self.values[:, channel])  # assigned in order of time, so the last value stays
                values[trial[seen], place[seen], channel] = self.values[seen, channel]
        samples = np.bincount(flat, minlength=shape[0] * bins).reshape(shape)
        lengths = place[self.starts + self.lengths - 1] + 1
        if self.targets is None or self.target_mask is None:
            return OnGrid(values, samples, lengths)
        targets = np.zeros((*shape, self.targets.shape[1]), self.targets.dtype)
        mask = np.zeros(shape, bool)
        counted = self.target_mask
        targets.reshape(-1, targets.shape[2])[flat[counted]] = self.targets[counted]
        mask.reshape(-1)[flat[counted]] = True
        return OnGrid(values, samples, lengths, targets, mask)

    def _check_labels(self) -> None:
        if self.labels is None:
            return
        labels = as_numbers("labels", self.labels)
        if labels.shape != (len(self),):
            raise errors.ArgumentError(
                f"labels have shape {labels.shape}, but must be ({len(self)},), one for each trial."
            )
        if not np.issubdtype(labels.dtype, np.integer):
            raise errors.ArgumentError("labels must be whole numbers; give their names as label_names.")
        names = tuple(str(name) for name in self.label_names) or tuple(map(str, range(class_count(labels))))
        wrong = np.flatnonzero((labels < 0) | (labels >= len(names)))
        if wrong.size:
            raise errors.ArgumentError(
                f"label of trial {wrong[0]} is {labels[wrong[0]]}, but there are {len(names)} label names "
                f"(0 to {len(names) - 1})."
            )
        object.__setattr__(self, "labels", labels.astype(np.int32))
        object.__setattr__(self, "label_names", names)

    def _check_targets(self) -> None:
        if self.targets is None:
            return
        targets = as_numbers("targets", self.targets)
        if targets.ndim != 2 or len(targets) != len(self.values) or not targets.shape[1]:
            raise errors.ArgumentError(
                f"targets have shape {targets.shape}, but must be ({len(self.values)}, outputs), one row per sample."
            )
        known = ~np.isnan(targets).any(axis=1)
        mask = known if self.target_mask is None else as_numbers("target_mask", self.target_mask).astype(bool)
        if mask.shape != known.shape:
            raise errors.ArgumentError(f"target_mask has shape {mask.shape}, but must be {known.shape}.")
        if np.any(mask & ~known):
            trial, sample = _where(int(np.argmax(mask & ~known)), self.starts)
            raise errors.ArgumentError(
                f"the target of trial {trial}, sample {sample} is missing, but target_mask is True there."
            )
        object.__setattr__(self, "targets", targets)
        object.__setattr__(self, "target_mask", mask)


def _joined(name: str, given: Any, trials: Sequence[np.ndarray]) -> np.ndarray:
    """Returns an argument with one array per trial as one array."""
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != len(trials):
        raise errors.ArgumentError(f"{name} is {errors.shown(given)}, but must hold one array for each trial.")
    parts = [as_numbers(name, part) for part in given]
    if any(part.shape[:1] != trial.shape[:1] for part, trial in zip(parts, trials)):
        raise errors.ArgumentError(f"{name} must hold as many samples as each trial has.")
    if len({part.shape[1:] for part in parts}) != 1:
        raise errors.ArgumentError(f"{name} must have the same columns in each trial.")
    return np.concatenate(parts)


def _where(row: int, starts: Num[np.ndarray, " trials"]) -> tuple[int, int]:
    """Returns the trial and the sample of a row of the concatenated arrays."""
    trial = int(np.searchsorted(starts, row, side="right")) - 1
    return trial, row - int(starts[trial])


def _check_values(values: np.ndarray, starts: np.ndarray) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        row, channel = np.argwhere(infinite)[0]
        trial, sample = _where(int(row), starts)
        raise errors.ArgumentError(
            f"values hold {values[row, channel]} at trial {trial}, sample {sample}, channel {channel}; "
            f"write NaN for a missing value."
        )
    observed = np.logical_or.reduceat(~np.isnan(values).all(axis=1), starts)
    if not observed.all():
        raise errors.ArgumentError(
            f"trial {int(np.argmin(observed))} holds no value at all (all NaN; {int((~observed).sum())} such trials); "
            f"leave it out."
        )


def _check_times(times: np.ndarray, starts: np.ndarray, samples: int) -> None:
    if times.shape != (samples,):
        raise errors.ArgumentError(f"times have shape {times.shape}, but must be ({samples},), one for each sample.")
    if not np.all(np.isfinite(times)):
        trial, sample = _where(int(np.argmin(np.isfinite(times))), starts)
        raise errors.ArgumentError(f"the time of trial {trial}, sample {sample} is not a number.")
    steps = np.diff(times)
    steps[starts[1:] - 1] = np.inf  # between trials, times may go backwards
    if np.any(steps <= 0):
        row = int(np.argmax(steps <= 0)) + 1
        trial, sample = _where(row, starts)
        how = "goes backwards" if steps[row - 1] < 0 else "stands still"
        raise errors.ArgumentError(
            f"time {how} in trial {trial} at sample {sample} ({times[row]:g} s after {times[row - 1]:g} s); "
            f"times must increase within a trial."
        )
