"""Tasks from a user's own arrays, or from an .npz file of arrays."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gnode import errors
from gnode.arguments import checked
from gnode.tasks._filling import fill as fill_missing
from gnode.tasks._formats.npz import read_npz
from gnode.tasks._preparation import Scale, stratified_split, time_stamps
from gnode.tasks._series import OnGrid, Series
from gnode.tasks._trials import Task, Trials, as_numbers, class_count, single
from gnode.types import Key, numpy_generator

REQUIRED_ARRAYS, OPTIONAL_ARRAYS = ("inputs", "targets"), ("times", "dt", "mask", "lengths")
"""Names of the arrays in an .npz file."""


@checked
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
    """Makes a task from arrays: a regression if `targets` are real numbers, a classification if they are whole numbers.

    **Arguments:**

    - `inputs`: array of shape (trials, time, channels), NaN where a value is missing; or a `Series` for trials of unequal
      lengths, which brings its own times and its own targets or labels.
    - `targets`: array of shape (trials, time, outputs), or one class index per trial, from 0 to the number of classes - 1.
    - `dt`, `mask`, `lengths`: as in `Trials`.
    - `times`: times of the samples in seconds, of shape (trials, time), if samples are not equally spaced. With `dt` (one
      number), each trial is put on regular bins of that length, beginning at its first sample. Without `dt`, every sample is
      a bin whose length is the time since the previous sample (for the first sample of a trial, the median over all).
    - `fill`: how missing inputs are filled, one of `gnode.tasks.FILLS`; only "hold" is causal.
    - `standardise`: whether to standardise every channel with the mean and deviation of the training trials, before filling.
    - `timestamp`: first channel with the time: "relative" (from 0 to 1), "seconds" or "none".
    - `validation`, `test`: shares of trials that are held out at random, stratified by class.
    - `outputs`, `classes`: number of classes (needed if one does not occur, or a label reaches `trials`), and their names.
    - `when`: "every" if the loss counts at every bin, "last" if only at the last one (default for classes).
    - `name`, `key`: name of the task, and seed or key of the split.

    >>> arrays(np.zeros((20, 5, 2)), np.zeros((20, 5, 1)), 0.1, validation=0.25)
    Task('arrays', 15 training and 5 validation trials of 5 bins, 2 inputs, 1 output, loss mse at every bin)
    """
    has_times = isinstance(inputs, Series) or times is not None
    if isinstance(inputs, Series):
        classes = classes or inputs.label_names or None
    binned = _binned(inputs, targets, dt, times, mask, lengths)
    is_class = np.issubdtype(binned.targets.dtype, np.integer)
    parts = _split(binned.targets if is_class else None, len(binned.inputs), validation, test, key)
    if standardise or fill is not None or has_times:
        binned = binned._replace(inputs=_filled(binned, parts[0], fill, standardise))
    everything = Trials(**binned._replace(inputs=_with_time_stamps(binned, timestamp))._asdict())
    return Task(
        name=name,
        train=everything.take(parts[0]),
        validation=everything.take(parts[1]),
        test=everything.take(parts[2]) if len(parts[2]) else None,
        outputs=_output_count(everything, outputs, classes),
        loss="cross_entropy" if is_class else "mse",
        when=when or ("last" if is_class else "every"),
        classes=None if classes is None else tuple(classes),
    )


class _Binned(NamedTuple):
    """The arrays of `Trials` before they are split, filled and checked."""

    inputs: np.ndarray
    targets: np.ndarray
    dt: Any
    mask: Any
    lengths: Any


def _binned(inputs: Any, targets: Any, dt: Any, times: Any, mask: Any, lengths: Any) -> _Binned:
    """Returns inputs and targets on bins: as given, or from the times of their samples."""
    series = None
    if isinstance(inputs, Series):
        if any(given is not None for given in (targets, times, mask, lengths)):
            raise errors.ArgumentError("a Series brings its own targets, times, mask and lengths; leave these out.")
        series, targets = inputs, inputs.targets if inputs.labels is None else inputs.labels
    if targets is None:
        raise errors.ArgumentError("targets are missing: pass the outputs to learn, or a class per trial.")
    targets = as_numbers("targets", targets)
    if dt is not None:
        step = as_numbers("dt", dt)
        dt = step if step.ndim else step.item()
    if series is None:
        mask = None if mask is None else as_numbers("mask", mask)
        lengths = None if lengths is None else as_numbers("lengths", lengths)
    given = None if series is not None else as_numbers("inputs", inputs)
    if given is not None and times is not None:
        series = _series(given, targets, as_numbers("times", times), mask, lengths)
    if series is not None:
        binned = _from_series(series, targets, dt)
    elif dt is None:
        raise errors.ArgumentError("dt is missing: pass the length of a bin in seconds, or times.")
    else:
        assert given is not None
        binned = _Binned(given, targets, dt, mask, lengths)
    if binned.inputs.ndim != 3 or 0 in binned.inputs.shape:
        raise errors.ArgumentError(
            f"inputs has shape {binned.inputs.shape}, but must be (trials, time, inputs), none of them 0."
        )
    return binned


def _output_count(trials: Trials, outputs: int | None, classes: Sequence[str] | None) -> int:
    if outputs is not None:
        return outputs
    if classes is not None:
        return len(classes)
    return trials.targets.shape[2] if trials.targets.ndim == 3 else class_count(trials.targets)


def _series(
    inputs: np.ndarray, targets: np.ndarray, times: np.ndarray, mask: np.ndarray | None, lengths: np.ndarray | None
) -> Series:
    """Removes padding: keeps the samples up to the length of each trial, or those with a finite time."""
    if inputs.ndim != 3 or times.shape != inputs.shape[:2]:
        raise errors.ArgumentError(
            f"times has shape {times.shape}, but must be (trials, time) like inputs {inputs.shape}."
        )
    count = np.sum(np.isfinite(times), axis=1) if lengths is None else lengths
    if count.shape != inputs.shape[:1]:
        raise errors.ArgumentError(
            f"lengths has shape {count.shape}, but must hold one number per trial ({len(inputs)})."
        )
    if mask is not None and np.shape(mask) != inputs.shape[:2]:
        raise errors.ArgumentError(
            f"mask has shape {np.shape(mask)}, but must be (trials, time) like inputs {inputs.shape}."
        )
    kept = np.arange(inputs.shape[1]) < count[:, None]
    others: dict[str, Any] = {}
    if np.issubdtype(targets.dtype, np.integer):
        others["labels"] = targets
    else:
        if targets.ndim != 3 or targets.shape[:2] != inputs.shape[:2]:
            raise errors.ArgumentError(
                f"targets has shape {targets.shape}, but must be like inputs {inputs.shape}, with a column per output."
            )
        others["targets"] = targets[kept]
        others["target_mask"] = None if mask is None else mask[kept] > 0
    return Series(inputs[kept], count, times[kept], **others)


def _from_series(series: Series, targets: np.ndarray, dt: Any) -> _Binned:
    """Puts a series on regular bins of length `dt`, or makes one bin per sample if `dt` is None."""
    if dt is None:
        grid = _bin_per_sample(series)
        gaps = np.diff(series.times, prepend=0.0)
        gaps[series.starts] = np.nan
        gaps[series.starts] = 1.0 if np.isnan(gaps).all() else np.nanmedian(gaps)
        bin_lengths = np.zeros(grid.values.shape[:2], np.float32)
        bin_lengths[np.arange(grid.values.shape[1]) < series.lengths[:, None]] = single(gaps)
    else:
        if np.ndim(dt):
            raise errors.ArgumentError(f"dt has shape {np.shape(dt)}, but must be one number where times are given.")
        grid = series.on_grid(errors.positive("dt", dt))
        bin_lengths = np.where(np.arange(grid.values.shape[1]) < grid.lengths[:, None], np.float32(dt), np.float32(0))
        bin_lengths = float(dt) if np.all(bin_lengths > 0) else bin_lengths  # a bin of length 0 is padding
    return _Binned(
        grid.values, targets if grid.targets is None else grid.targets, bin_lengths, grid.target_mask, grid.lengths
    )


def _bin_per_sample(series: Series) -> OnGrid:
    index = np.arange(len(series.values)) - np.repeat(series.starts, series.lengths)
    return dataclasses.replace(series, times=index.astype(float)).on_grid(1.0)


def _split(labels: np.ndarray | None, count: int, validation: float, test: float, key: Key | int) -> list[np.ndarray]:
    """Returns the indices of the training, validation and test trials."""
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


def _filled(binned: _Binned, training: np.ndarray, fill: str | None, standardise: bool) -> np.ndarray:
    """Returns the inputs standardised and filled, with zeros in the padding after a trial."""
    inputs = np.array(single(binned.inputs))  # what float32 cannot hold is refused below
    bins = np.arange(inputs.shape[1])
    lengths = np.full(len(inputs), inputs.shape[1])
    if np.shape(binned.lengths) == lengths.shape:  # `Trials` raises an error for any other shape
        lengths = np.asarray(binned.lengths)
    padding = bins >= lengths[:, None]
    _refuse_infinite(binned.inputs, inputs, padding)
    inputs[padding] = np.nan  # excludes padding from mean and deviation
    if standardise:
        Scale.of(inputs[training]).apply(inputs)
    dt = binned.dt
    times = np.cumsum(np.asarray(dt, float), axis=1) if np.shape(dt) == inputs.shape[:2] else None
    filled = inputs if fill is None else fill_missing(inputs, fill, times)
    filled[padding] = 0.0
    return filled


def _refuse_infinite(given: np.ndarray, inputs: np.ndarray, padding: np.ndarray) -> None:
    """Raises an error for an infinite input, which would turn the mean of its channel and then all of it into NaN."""
    infinite = np.argwhere(np.isinf(inputs) & ~padding[..., None])
    if len(infinite):
        trial, bin, channel = infinite[0]
        raise errors.ArgumentError(
            f"inputs holds {given[trial, bin, channel]} at trial {trial}, bin {bin}, channel {channel}, which is not finite "
            f"in float32; write a missing value as NaN."
        )


def _with_time_stamps(binned: _Binned, timestamp: str) -> np.ndarray:
    """Returns the inputs with the time as a first channel, if there is to be one."""
    inputs, dt = binned.inputs, binned.dt
    if timestamp == "none" or np.shape(dt) not in ((), inputs.shape[:2]):  # `Trials` raises an error for the latter
        return inputs
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # `Trials` refuses such a dt
        if np.ndim(dt) == 0:
            stamps = time_stamps(len(inputs), inputs.shape[1], float(dt), timestamp)
        else:
            stamps = _irregular_stamps(np.asarray(dt), timestamp)
        return np.concatenate([stamps, inputs], axis=2, dtype=np.float32)


def _irregular_stamps(dt: np.ndarray, timestamp: str) -> np.ndarray:
    """Returns the time at which each bin begins, divided by the duration of the longest trial if "relative"."""
    time_stamps(1, 1, 1.0, timestamp)  # raises for an unknown name
    ends = np.cumsum(dt, axis=1)
    return ((ends - dt) / (ends.max() if timestamp == "relative" else 1.0))[..., None]


@checked
def array_file(path: str | Path, *, dt: float | None = None, **options: Any) -> Task:
    """Makes a task from an .npz file with the arrays `inputs` and `targets`.

    The file may also hold `times`, `dt`, `mask` and `lengths`.

    **Arguments:**

    - `path`: the file.
    - `dt`: length of a bin in seconds; replaces the `dt` in the file.
    - `options`: as in `arrays`.

    **Returns:** a `Task` whose name is the path.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/mine.npz", inputs=np.zeros((20, 5, 2)), targets=np.zeros((20, 5, 1)), dt=0.1)
    ...     array_file(f"{folder}/mine.npz", validation=0.25).train
    Trials(15 trials, 5 bins, 2 inputs, 1 target per bin)
    """
    path = Path(path)
    found = read_npz(path, REQUIRED_ARRAYS, OPTIONAL_ARRAYS, what="task file")
    step = found.pop("dt", None) if dt is None else dt
    found.pop("dt", None)
    if step is None and "times" not in found:
        raise errors.ArgumentError(f"task file {path} holds no 'dt' (the length of a bin in seconds); pass --dt.")
    step = step if step is None or np.ndim(step) else float(as_numbers("dt", step))
    task = arrays(dt=step, name=str(path), **found, **options)
    return dataclasses.replace(task, options={"dt": dt, **options})
