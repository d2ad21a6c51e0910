"""A user's own arrays as a task."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gnode import errors
from gnode.tasks._filling import fill as fill_missing
from gnode.tasks._formats.npz import read_npz
from gnode.tasks._preparation import Scale, stratified_split, time_stamps
from gnode.tasks._series import Series
from gnode.tasks._trials import Task, Trials, as_numbers
from gnode.types import Key, numpy_generator

ARRAY_NAMES = ("inputs", "targets", "times", "dt", "mask", "lengths")


def arrays(
    inputs: Any,
    targets: Any = None,
    dt: Any = None,
    *,
    times: Any = None,
    mask: Any = None,
    lengths: Any = None,
    fill: str | None = None,
    standardise: bool = False,
    timestamp: str = "none",
    validation: float = 0.15,
    test: float = 0.0,
    outputs: int | None = None,
    when: str | None = None,
    classes: Sequence[str] | None = None,
    name: str = "arrays",
    key: Key | int = 0,
) -> Task:
    """A task from arrays: a regression if `targets` are real numbers, a classification if they are whole numbers.

    **Arguments:**

    - `inputs`: trials x time x channels. NaN is a missing value, which needs `fill`. Or a `Series`, for trials of unequal
      lengths: it has times and targets or labels of its own.
    - `targets`: trials x time x outputs, or one class per trial. `dt`, `mask`, `lengths` as in `Trials`.
    - `times` of the samples in seconds, trials x time, for samples that are not equally far apart. With `dt` (one number)
      they are laid on regular bins of that length, each from its trial's first sample; without it each sample is a bin that
      lasts as long as the time since the sample before (a trial's first: the median of all).
    - `fill`: one of `gnode.tasks.FILLS`; of these only "hold" does not look ahead in time.
    - `standardise`: every channel to mean 0 and deviation 1, by the training trials; before filling.
    - `timestamp`: a first channel with the time: "relative" (from 0 to 1), "seconds" or "none".
    - `validation` and `test`: the shares of trials set aside at random (by `key`), of each class alike.
    - `outputs`: the number of classes, if not all of them occur; `classes`: their names.
    - `when` the loss counts: "every" bin, or the "last" one of each trial (default for classes).

    >>> import numpy as np
    >>> arrays(np.zeros((20, 5, 2)), np.zeros((20, 5, 1)), 0.1, validation=0.25).train.inputs.shape
    (15, 5, 2)
    """
    if isinstance(inputs, Series):
        if any(given is not None for given in (targets, times, mask, lengths)):
            raise errors.ArgumentError("a Series brings its own targets, times, mask and lengths; leave these out.")
        series, times, classes = inputs, inputs.times, classes or inputs.label_names or None
        targets = inputs.targets if inputs.labels is None else np.asarray(inputs.labels)
    elif times is not None:
        _need(targets)
        series = _series(np.asarray(inputs), np.asarray(targets), np.asarray(times), mask, lengths)
    _need(targets)
    targets = np.asarray(targets)
    is_class = np.issubdtype(targets.dtype, np.integer)
    if times is not None:
        inputs, targets, dt, mask, lengths = _bins(series, targets, dt)
    elif dt is None:
        raise errors.ArgumentError("dt is missing: pass the length of a bin in seconds, or times.")
    inputs = np.asarray(inputs)
    if inputs.ndim != 3 or 0 in inputs.shape:
        raise errors.ArgumentError(
            f"inputs has shape {inputs.shape}, but must be (trials, time, inputs), none of them 0."
        )
    parts = _split(targets if is_class else None, len(inputs), validation, test, key)
    if standardise or fill is not None or times is not None:
        inputs = _filled(as_numbers("inputs", inputs).astype(np.float32), dt, lengths, parts[0], fill, standardise)
    inputs = _stamped(inputs, dt, timestamp)
    everything = Trials(inputs, targets, dt, mask, lengths)
    return Task(
        name=name,
        train=everything.take(parts[0]),
        validation=everything.take(parts[1]),
        test=everything.take(parts[2]) if len(parts[2]) else None,
        outputs=_outputs(everything, outputs, classes),
        loss="cross_entropy" if is_class else "mse",
        when=when or ("last" if is_class else "every"),
        classes=None if classes is None else tuple(classes),
    )


def _need(targets: Any) -> None:
    if targets is None:
        raise errors.ArgumentError("targets are missing: pass what the outputs should be, or a class per trial.")


def _outputs(trials: Trials, outputs: int | None, classes: Sequence[str] | None) -> int:
    if outputs is not None:
        return outputs
    if classes is not None:
        return len(classes)
    return trials.targets.shape[2] if trials.targets.ndim == 3 else int(trials.targets.max()) + 1


def _series(inputs: np.ndarray, targets: np.ndarray, times: np.ndarray, mask: Any, lengths: Any) -> Series:
    """The samples that are real: those up to each trial's length, or else those that have a time."""
    if inputs.ndim != 3 or times.shape != inputs.shape[:2]:
        raise errors.ArgumentError(
            f"times has shape {times.shape}, but must be (trials, time) like inputs {inputs.shape}."
        )
    count = np.sum(np.isfinite(times), axis=1) if lengths is None else np.asarray(lengths)
    if count.shape != inputs.shape[:1]:
        raise errors.ArgumentError(
            f"lengths has shape {count.shape}, but must hold one number per trial ({len(inputs)})."
        )
    if mask is not None and np.shape(mask) != inputs.shape[:2]:
        raise errors.ArgumentError(
            f"mask has shape {np.shape(mask)}, but must be (trials, time) like inputs {inputs.shape}."
        )
    real = np.arange(inputs.shape[1]) < count[:, None]
    others: dict[str, Any] = {}
    if np.issubdtype(targets.dtype, np.integer):
        others["labels"] = targets
    else:
        if targets.ndim != 3 or targets.shape[:2] != inputs.shape[:2]:
            raise errors.ArgumentError(
                f"targets has shape {targets.shape}, but must be like inputs {inputs.shape}, with a column per output."
            )
        others["targets"] = targets[real]
        others["target_mask"] = None if mask is None else np.asarray(mask)[real] > 0
    return Series(inputs[real], count, times[real], **others)


def _bins(series: Series, targets: np.ndarray, dt: Any) -> tuple[np.ndarray, np.ndarray, Any, Any, np.ndarray]:
    """Inputs, targets, dt, mask and lengths: on regular bins of length `dt`, or a bin per sample if that is None."""
    if dt is None:
        grid = _bin_per_sample(series)
        gaps = np.diff(series.times, prepend=0.0)
        gaps[series.starts] = np.nan
        gaps[series.starts] = 1.0 if np.isnan(gaps).all() else np.nanmedian(gaps)
        lasts = np.zeros(grid.values.shape[:2], np.float32)
        lasts[np.arange(grid.values.shape[1]) < series.lengths[:, None]] = gaps
    else:
        if np.ndim(dt):
            raise errors.ArgumentError("dt must be one number where times are given.")
        grid = series.on_grid(errors.positive("dt", dt))
        lasts = np.where(np.arange(grid.values.shape[1]) < grid.lengths[:, None], np.float32(dt), np.float32(0))
        lasts = float(dt) if np.all(lasts > 0) else lasts  # a bin of length 0 is padding: nothing happens in it
    return grid.values, targets if grid.targets is None else grid.targets, lasts, grid.target_mask, grid.lengths


def _bin_per_sample(series: Series) -> Any:
    places = np.arange(len(series.values)) - np.repeat(series.starts, series.lengths)
    return dataclasses.replace(series, times=places.astype(float)).on_grid(1.0)


def _split(labels: np.ndarray | None, count: int, validation: float, test: float, key: Key | int) -> list[np.ndarray]:
    """Who trains, validates and tests."""
    held_out = [
        round(errors.not_negative(share_name, share) * count)
        for share_name, share in (("validation", validation), ("test", test))
    ]
    if held_out[0] < 1 or sum(held_out) >= count:
        raise errors.ArgumentError(
            f"{count} trials with validation={validation} and test={test} leave {count - sum(held_out)} to train on and "
            f"{held_out[0]} to validate on; both need at least one."
        )
    if labels is not None and labels.shape == (count,):
        shares = [1 - sum(held_out) / count, held_out[0] / count, held_out[1] / count]
        return stratified_split(labels, shares, key)
    chosen = np.split(numpy_generator(key).permutation(count), np.cumsum(held_out))
    return [np.sort(part) for part in (chosen[2], chosen[0], chosen[1])]


def _filled(
    inputs: np.ndarray, dt: Any, lengths: Any, training: np.ndarray, fill: str | None, standardise: bool
) -> np.ndarray:
    """Standardised and filled, 0 where a trial has ended; `inputs` may be changed."""
    ended = np.arange(inputs.shape[1]) >= np.full((len(inputs), 1), inputs.shape[1])
    if lengths is not None and np.shape(lengths) == (len(inputs),):  # any other shape is an error of Trials
        ended = np.arange(inputs.shape[1]) >= np.asarray(lengths)[:, None]
    inputs[ended] = np.nan  # so that padding has no part in mean and deviation
    if standardise:
        Scale.of(inputs[training]).apply(inputs)
    times = np.cumsum(np.asarray(dt, float), axis=1) if np.shape(dt) == inputs.shape[:2] else None
    filled = inputs if fill is None else fill_missing(inputs, fill, times)
    filled[ended] = 0.0
    return filled


def _stamped(inputs: np.ndarray, dt: Any, timestamp: str) -> np.ndarray:
    if timestamp == "none":
        return inputs
    trials, bins, _ = inputs.shape
    if np.ndim(dt) == 0:
        stamps = time_stamps(trials, bins, float(dt), timestamp)
    else:
        stamps = _irregular_stamps(np.asarray(dt), timestamp)
    return np.concatenate([stamps, inputs], axis=2, dtype=np.float32)


def _irregular_stamps(dt: np.ndarray, timestamp: str) -> np.ndarray:
    """The time at which each bin begins, relative to the longest trial's length if so wanted."""
    time_stamps(1, 1, 1.0, timestamp)  # a wrong name is an error here too
    ends = np.cumsum(dt, axis=1)
    return ((ends - dt) / (ends.max() if timestamp == "relative" else 1.0))[..., None]


def array_file(path: str | Path, *, dt: float | None = None, **options: Any) -> Task:
    """A task from an .npz file that holds `inputs`, `targets` and, if wanted, `times`, `dt`, `mask` and `lengths`.

    `dt` given here replaces the file's. Other options as in `arrays`.
    """
    path = Path(path)
    found = read_npz(path, ("inputs", "targets"), ARRAY_NAMES[2:], what="task file")
    step = found.pop("dt", None) if dt is None else dt
    found.pop("dt", None)
    if step is None and "times" not in found:
        raise errors.ArgumentError(f"task file {path} holds no 'dt' (the length of a bin in seconds); pass --dt.")
    step = step if step is None or np.ndim(step) else float(as_numbers("dt", step))
    task = arrays(dt=step, name=str(path), **found, **options)
    return dataclasses.replace(task, options={"dt": dt, **options})
