"""Tasks from a user's own arrays, or from an .npz file of arrays."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gnode import errors
from gnode.arguments import checked
from gnode.tasks._formats.npz import read_npz
from gnode.tasks._inputs import Binned, Preparation, channel_names, prepared
from gnode.tasks._preparation import until_next
from gnode.tasks._series import OnGrid, Series
from gnode.tasks._split import HeldOut
from gnode.tasks._trials import Task, Trials, as_numbers, class_count, single
from gnode.types import Key

REQUIRED_ARRAYS = ("inputs", "targets")
OPTIONAL_ARRAYS = ("times", "dt", "mask", "lengths", "split", "input_names", "target_names", "classes", "label_names")
"""Names of the arrays in an .npz file; `classes` and `label_names` are the same."""


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
    counts: bool = False,
    masks: bool = False,
    ahead: bool = False,
    validation: float | None = None,
    test: float | None = None,
    split: Any = None,
    validate_on: Any = None,
    test_on: Any = None,
    outputs: int | None = None,
    when: str | None = None,
    classes: Sequence[str] | None = None,
    input_names: Sequence[str] | None = None,
    target_names: Sequence[str] | None = None,
    name: str = "arrays",
    key: Key | int = 0,
) -> Task:
    """Makes a task from arrays: a regression if `targets` are real numbers, a classification if they are whole numbers.

    **Arguments:**

    - `inputs`: array (trials, time, channels), NaN where a value is missing; or a `Series`, with its own times and targets.
    - `targets`: array (trials, time, outputs), or class indices from 0, one per trial or (trials, time).
    - `dt`, `mask`, `lengths`: as in `Trials`.
    - `times`: times of the samples in seconds, (trials, time), if samples are not equally spaced. With `dt` (one number)
      each trial is put on regular bins of that length, beginning at its first sample. Without `dt`, every sample is a bin
      whose length is the time since the previous sample (for the first sample of a trial, the median over all).
    - `fill`: how missing inputs are filled, one of `gnode.tasks.FILLS`; only "hold" is causal.
    - `standardise`: whether to standardise every channel with mean and deviation of the training trials, before filling.
    - `timestamp`: first channel with the time: "relative" (from 0 to 1), "seconds" or "none".
    - `counts`: whether to add, for each channel, the share of bins at which it has been observed so far.
    - `masks`: whether to put a channel before the inputs for each of them that says whether it was observed.
    - `ahead`: whether a bin by `times` lasts until the next sample instead, as an `interpolation` other than "hold" needs.
    - `validation`, `test`: shares of trials that are held out at random, stratified by class; 0.15 and 0 by default.
    - `split`: instead, "train", "validation" or "test" for each trial; or the name of its group (speaker, session, animal),
      with `validate_on` and `test_on`, the group or groups that are held out.
    - `outputs`, `classes`: number of classes (needed if one does not occur, or a label reaches `trials`), and their names.
    - `when`: "every" if the loss counts at every bin, "last" if only at the last one (default for one class per trial).
    - `input_names`, `target_names`: names of the channels and of the outputs, for figures and reports.
    - `name`, `key`: name of the task, and seed or key of the split.

    >>> arrays(np.zeros((20, 5, 2)), np.zeros((20, 5, 1)), 0.1, validation=0.25)
    Task('arrays', 15 training and 5 validation trials of 5 bins, 2 inputs, 1 output, loss mse at every bin)
    """
    binned = _binned(inputs, targets, dt, times, mask, lengths)
    classes = classes or (inputs.label_names if isinstance(inputs, Series) else None) or None
    held_out = HeldOut(split, validate_on, test_on, validation, test)
    has_times = isinstance(inputs, Series) or times is not None
    how = Preparation(fill, standardise, timestamp, counts, masks, has_times, has_times and dt is None, ahead)
    named = _Names(input_names, target_names, classes)
    return _task(name, binned, held_out, how, named, outputs=outputs, when=when, key=key)


class _Names(NamedTuple):
    """Names of channels, outputs and classes; None where they have none."""

    inputs: Sequence[str] | None
    outputs: Sequence[str] | None
    classes: Sequence[str] | None


def _task(
    name: str,
    binned: Binned,
    held_out: HeldOut,
    how: Preparation,
    named: _Names,
    *,
    outputs: int | None,
    when: str | None,
    key: Key | int,
) -> Task:
    is_class = np.issubdtype(binned.targets.dtype, np.integer)
    parts = held_out.parts(binned.targets if is_class else None, len(binned.inputs), key)
    channels = binned.inputs.shape[2]
    if how.ahead:
        binned = _until_next(binned, how)
    binned = binned._replace(inputs=prepared(binned, parts[0], how))
    everything = Trials(**binned._asdict())
    return Task(
        name=name,
        train=everything.take(parts[0]),
        validation=everything.take(parts[1]),
        test=everything.take(parts[2]) if len(parts[2]) else None,
        outputs=_output_count(everything, outputs, named.classes),
        loss="cross_entropy" if is_class else "mse",
        since_before=how.by_sample and not how.ahead,
        when=when or ("last" if everything.targets.ndim == 1 else "every"),
        classes=None if named.classes is None else tuple(named.classes),
        input_names=channel_names(named.inputs, channels, how),
        output_names=None if named.outputs is None else tuple(named.outputs),
    )


def _until_next(binned: Binned, how: Preparation) -> Binned:
    """Lets the bin of every sample last until the next one; the last bin of a trial stays as long as the one before it."""
    if not how.by_sample:
        raise errors.ArgumentError(
            "ahead is True, but only bins whose lengths come from times can last until the next sample."
        )
    return binned._replace(dt=until_next(binned.dt, binned.lengths))


def _binned(inputs: Any, targets: Any, dt: Any, times: Any, mask: Any, lengths: Any) -> Binned:
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
        binned = Binned(given, targets, dt, mask, lengths)
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


def _from_series(series: Series, targets: np.ndarray, dt: Any) -> Binned:
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
    return Binned(
        grid.values, targets if grid.targets is None else grid.targets, bin_lengths, grid.target_mask, grid.lengths
    )


def _bin_per_sample(series: Series) -> OnGrid:
    index = np.arange(len(series.values)) - np.repeat(series.starts, series.lengths)
    return dataclasses.replace(series, times=index.astype(float)).on_grid(1.0)


@checked
def array_file(path: str | Path, *, dt: float | None = None, **options: Any) -> Task:
    """Makes a task from an .npz file with the arrays `inputs` and `targets`.

    The file may also hold `times`, `dt`, `mask`, `lengths` and `split`, and as texts `input_names`, `target_names` and
    `classes` (or `label_names`).

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
    task = arrays(dt=step, name=str(path), **_as_texts(found), **options)
    return dataclasses.replace(task, options={"dt": dt, **options})


def _as_texts(found: dict[str, np.ndarray]) -> dict[str, Any]:
    """Returns the arrays of a file with names as lists of texts; `label_names` is another word for `classes`."""
    arguments: dict[str, Any] = dict(found)
    for name in ("input_names", "target_names", "classes", "label_names"):
        if name in found:
            texts = found[name]
            if texts.ndim != 1:
                raise errors.ArgumentError(f"{name} has shape {texts.shape}, but must hold texts in one row.")
            arguments["classes" if name == "label_names" else name] = texts.tolist()
    arguments.pop("label_names", None)
    return arguments
