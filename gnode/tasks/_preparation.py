"""Steps from observed series to the inputs of a network: standardising, time stamps, observation counts, the split."""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Integer

from gnode import errors
from gnode.types import Key, numpy_generator

CHUNK = 256
"""Number of trials that are processed at a time, which limits the memory for copies in double precision."""

GAPS = ("filled", "skipped")
"""What happens to bins without a sample: they are filled, or left out, and then bins are of unequal length."""

TIMESTAMPS = ("relative", "seconds", "none")
"""Kinds of time stamps that can be the first channel of the inputs."""


@dataclasses.dataclass(frozen=True, repr=False)
class Scale:
    """Mean and standard deviation of each channel. Standardising maps x to (x - mean) / deviation."""

    mean: Float[np.ndarray, " channels"]
    deviation: Float[np.ndarray, " channels"]

    def __repr__(self) -> str:
        return f"Scale({len(self.mean)} channels)"

    @classmethod
    def of(cls, values: Float[np.ndarray, "trials bins channels"]) -> "Scale":
        """Computes the scale of the observed values; NaN is ignored. Constant or unobserved channels get deviation 1.

        >>> Scale.of(np.array([[[1.0], [3.0], [np.nan]]])).mean.tolist()
        [2.0]
        """
        counts, sums = np.zeros(values.shape[2]), np.zeros(values.shape[2])
        for part in _chunks(values):
            counts += np.sum(~np.isnan(part), axis=(0, 1))
            sums += np.nansum(part, axis=(0, 1), dtype=np.float64)
        mean = sums / np.maximum(counts, 1)
        squares = np.zeros(values.shape[2])
        for part in _chunks(values):
            squares += np.nansum((part - mean) ** 2, axis=(0, 1))
        deviation = np.sqrt(squares / np.maximum(counts, 1))
        return cls(mean, np.where(deviation > 0, deviation, 1.0))

    def apply(self, values: Float[np.ndarray, "trials bins channels"]) -> Float[np.ndarray, "trials bins channels"]:
        """Standardises `values` in place and returns the same array."""
        for part in _chunks(values):
            part[...] = (part - self.mean) / self.deviation
        return values


def _chunks(values: np.ndarray) -> list[np.ndarray]:
    return [values[start : start + CHUNK] for start in range(0, len(values), CHUNK)]


def time_stamps(trials: int, bins: int, step: float = 1.0, how: str = "relative") -> np.ndarray:
    """Returns the time of each bin as a channel.

    **Arguments:**

    - `trials`, `bins`: shape of the result.
    - `step`: length of a bin in seconds.
    - `how`: "relative" divides the time by the length of a trial, "seconds" does not, "none" returns no channel.

    **Returns:** an array of shape (trials, bins, 1), or (trials, bins, 0) for "none".

    >>> time_stamps(1, 4)[0, :, 0].tolist()
    [0.0, 0.25, 0.5, 0.75]
    """
    errors.one_of("timestamp", how, TIMESTAMPS)
    if how == "none":
        return np.zeros((trials, bins, 0), np.float32)
    stamps = np.arange(bins, dtype=np.float32) * (step if how == "seconds" else 1 / bins)
    return np.broadcast_to(stamps[:, None], (trials, bins, 1))


def observation_counts(observed: Bool[np.ndarray, "trials bins channels"]) -> Float[np.ndarray, "trials bins channels"]:
    """Counts the observations of each channel up to and including each bin, divided by the number of bins. Causal.

    >>> observation_counts(np.array([[[True], [False], [True], [False]]]))[0, :, 0].tolist()
    [0.25, 0.25, 0.5, 0.5]
    """
    return (np.cumsum(observed, axis=1) / observed.shape[1]).astype(np.float32)


def with_masks(
    inputs: Float[np.ndarray, "trials bins inputs"], observed: Bool[np.ndarray, "trials bins channels"], first: int = 0
) -> Float[np.ndarray, "trials bins both"]:
    """Puts the mask of every input before them: 1 where it was observed.

    Inputs that are no data (time, counts) count as observed with any channel of the data, so that a bin without a sample
    has a mask of zeros.

    **Arguments:** `inputs`; `observed`, of the channels of the data; `first`, the place of the first of these.

    >>> with_masks(np.full((1, 2, 2), 5.0), np.array([[[True], [False]]]), first=1)[0].tolist()
    [[1.0, 1.0, 5.0, 5.0], [0.0, 0.0, 5.0, 5.0]]
    """
    masks = np.repeat(observed.any(axis=2, keepdims=True), inputs.shape[2], axis=2).astype(np.float32)
    masks[..., first : first + observed.shape[2]] = observed
    return np.concatenate([masks, inputs], axis=2, dtype=np.float32)


class Samples(NamedTuple):
    """The bins with a sample, without those between: how to take them, and the time that each stands for."""

    places: Int[np.ndarray, "trials samples"]
    lengths: Int[np.ndarray, " trials"]
    elapsed: Float[np.ndarray, "trials samples"]

    def of(self, values: np.ndarray) -> np.ndarray:
        """Returns the values (trials x bins, ...) of the samples; after the last sample of a trial its last one."""
        return values[np.arange(len(values))[:, None], self.places]


def samples_of(observed: Bool[np.ndarray, "trials bins"], step: float = 1.0, ahead: bool = False) -> Samples:
    """Finds the samples of trials with gaps. The time of a sample is that since the one before it, as in `arrays`, or with
    `ahead` that until the next one.

    >>> samples_of(np.array([[True, False, True], [False, True, False]])).elapsed.tolist()
    [[1.0, 2.0], [2.0, 0.0]]
    """
    lengths = observed.sum(axis=1)
    most = max(1, int(lengths.max()))
    index = np.argsort(~observed, axis=1, kind="stable")[:, :most]
    index = np.where(np.arange(most) < lengths[:, None], index, np.take_along_axis(index, (lengths - 1)[:, None], 1))
    elapsed = np.diff(index, axis=1, prepend=-1) * np.float32(step)
    lengths = np.maximum(lengths, 1)
    return Samples(index, lengths, until_next(elapsed, lengths) if ahead else elapsed)


def until_next(
    elapsed: Float[np.ndarray, "trials samples"], lengths: Int[np.ndarray, " trials"]
) -> Float[np.ndarray, "trials samples"]:
    """Returns the times from each sample to the next one, of times since the one before. The last keeps its own.

    >>> until_next(np.array([[1.0, 2.0, 3.0, 0.0]]), np.array([3])).tolist()
    [[2.0, 3.0, 3.0, 0.0]]
    """
    bin = np.arange(elapsed.shape[1])
    return np.take_along_axis(elapsed, np.where(bin < lengths[:, None] - 1, bin + 1, bin), axis=1)


def stratified_split(
    labels: Integer[np.ndarray, " trials"], shares: Sequence[float] = (0.7, 0.15, 0.15), key: Key | int = 0
) -> list[Int[np.ndarray, " part"]]:
    """Splits trials at random into parts with (up to rounding) the same share of every class.

    Trials are sorted by class, in random order within each class. Each trial in turn goes to the part that is furthest
    behind its share. Therefore the sizes of the parts, overall and within each class, equal `shares` up to rounding.

    **Arguments:**

    - `labels`: class of each trial; all equal for a plain random split.
    - `shares`: share of each part; they add up to 1.
    - `key`: seed or key of the random order.

    **Returns:** for each part the indices of its trials, in increasing order.

    >>> [len(part) for part in stratified_split(np.arange(100) % 5)]
    [70, 15, 15]
    """
    labels = np.asarray(labels)
    wanted = np.asarray([errors.not_negative("share", share) for share in shares])
    if abs(wanted.sum() - 1) > 1e-9:
        raise errors.ArgumentError(f"shares is {errors.shown(tuple(shares))}, but must add up to 1.")
    sizes = _rounded(wanted * len(labels), len(labels))
    order = numpy_generator(key).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    part_of = np.empty(len(labels), np.int64)
    given = np.zeros(len(sizes))
    for done, trial in enumerate(order, start=1):
        behind = np.where(given < sizes, sizes * (done / len(labels)) - given, -np.inf)
        part = int(np.argmax(behind))
        part_of[trial] = part
        given[part] += 1
    return [np.flatnonzero(part_of == part) for part in range(len(sizes))]


def _rounded(sizes: Float[np.ndarray, " parts"], total: int) -> Int[np.ndarray, " parts"]:
    """Rounds `sizes` to whole numbers that add up to `total`; the largest fractions are rounded up."""
    whole = np.floor(sizes + 1e-9).astype(np.int64)
    fractions = sizes - whole
    whole[np.argsort(-fractions, kind="stable")[: total - whole.sum()]] += 1
    return whole
