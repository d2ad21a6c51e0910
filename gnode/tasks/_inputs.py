"""From samples on bins to the inputs of a network: standardised, filled, with the time and the counts of observations."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gnode import errors
from gnode.tasks._filling import fill as fill_missing
from gnode.tasks._preparation import Scale, observation_counts, time_stamps, with_masks
from gnode.tasks._trials import single


class Binned(NamedTuple):
    """The arrays of `Trials` before they are split, filled and checked."""

    inputs: np.ndarray
    targets: np.ndarray
    dt: Any
    mask: Any
    lengths: Any


class Preparation(NamedTuple):
    """How inputs are prepared, as in `arrays`. `by_sample` is whether every sample is a bin, which `ahead` lets it begin."""

    fill: str | None
    standardise: bool
    timestamp: str
    counts: bool
    masks: bool
    has_times: bool
    by_sample: bool = False
    ahead: bool = False


def prepared(binned: Binned, training: np.ndarray, how: Preparation) -> np.ndarray:
    """Returns the inputs as a network gets them: filled, masks first, then the time, counts of observations last."""
    inputs = binned.inputs
    if how.standardise or how.fill is not None or how.has_times:
        inputs = _filled(binned, training, how)
    if how.counts:
        observed = ~np.isnan(binned.inputs) & ~_padding(binned)[..., None]
        counted = np.where(_padding(binned)[..., None], 0.0, observation_counts(observed))
        inputs = np.concatenate([inputs, counted], axis=2, dtype=np.float32)
    inputs = _with_time_stamps(inputs, binned.dt, how.timestamp)
    if how.masks:
        observed = ~np.isnan(binned.inputs) & ~_padding(binned)[..., None]
        inputs = with_masks(inputs, observed, int(how.timestamp != "none"))
    return inputs


def channel_names(given: Sequence[str] | None, channels: int, how: Preparation) -> tuple[str, ...] | None:
    """Returns the names of all inputs, with those of the time and of the counts."""
    if given is None:
        return None
    if len(given) != channels:
        raise errors.ArgumentError(f"input_names holds {len(given)} names, but inputs has {channels} channels.")
    counted = [f"count of {name}" for name in given] if how.counts else []
    names = (*(() if how.timestamp == "none" else ("time",)), *given, *counted)
    return (*(f"mask of {name}" for name in names), *names) if how.masks else names


def _padding(binned: Binned) -> np.ndarray:
    """Where a trial has ended, of shape (trials, time)."""
    trials, bins = binned.inputs.shape[:2]
    lengths = np.full(trials, bins)
    if np.shape(binned.lengths) == lengths.shape:  # `Trials` raises an error for any other shape
        lengths = np.asarray(binned.lengths)
    return np.arange(bins) >= lengths[:, None]


def _filled(binned: Binned, training: np.ndarray, how: Preparation) -> np.ndarray:
    """Returns the inputs standardised and filled, with zeros in the padding after a trial."""
    inputs = np.array(single(binned.inputs))  # what float32 cannot hold is refused below
    padding = _padding(binned)
    _refuse_infinite(binned.inputs, inputs, padding)
    inputs[padding] = np.nan  # excludes padding from mean and deviation
    if how.standardise:
        Scale.of(inputs[training]).apply(inputs)
    dt = binned.dt
    times = None
    if np.shape(dt) == inputs.shape[:2]:  # of the samples: at the end of each bin, or where it begins
        times = np.cumsum(np.asarray(dt, float), axis=1) - (dt if how.ahead else 0.0)
    filled = inputs if how.fill is None else fill_missing(inputs, how.fill, times)
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


def _with_time_stamps(inputs: np.ndarray, dt: Any, timestamp: str) -> np.ndarray:
    """Returns the inputs with the time as a first channel, if there is to be one."""
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
