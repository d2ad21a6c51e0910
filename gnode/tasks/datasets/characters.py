"""The CharacterTrajectories task: classify the letter that a pen wrote (Appendix H of the paper)."""

import numpy as np

from gnode import errors
from gnode.arguments import checked
from gnode.tasks import cache
from gnode.tasks._filling import fill as fill_missing
from gnode.tasks._formats.npz import read_npz
from gnode.tasks._preparation import (
    GAPS,
    Scale,
    observation_counts,
    samples_of,
    stratified_split,
    time_stamps,
    with_masks,
)
from gnode.tasks._series import Series
from gnode.tasks._trials import Task, Trials
from gnode.tasks.datasets.compact import as_series, usable
from gnode.types import Key, numpy_generator, plain_key

NAME, FILES = "characters", ("character_trajectories.npz",)
STEP = 1.0
"""Length of a bin in seconds, as in the paper."""

CHANNELS = ("velocity x", "velocity y", "force")
"""Names of the channels of the pen."""

ENDS = ("padded", "own")
"""Where a trial ends: at the end of its padding, or at its own last sample."""


@checked
def characters(
    *,
    dropped: float = 0.3,
    fill: str = "natural",
    timestamp: str = "relative",
    counts: bool = False,
    ends: str = "padded",
    gaps: str = "filled",
    ahead: bool = False,
    masks: bool = False,
    key: Key | int = 0,
) -> Task:
    """Makes the task to classify 20 letters from the velocity and force of a pen: 2858 trials of 182 bins with gaps.

    Zeros at both ends of a trial are removed, the trial is padded with its last value to the length of the longest one, and
    a share of its bins is dropped at random. Channels are standardised on the training trials and then filled. The split is
    70% training, 15% validation and 15% test, stratified by letter.

    **Arguments:**

    - `dropped`: share of bins that are dropped: 0.3, 0.5 and 0.7 in the paper.
    - `fill`: one of `gnode.tasks.FILLS`; the paper uses "natural", which is not causal. "hold" is causal.
    - `timestamp`: first channel: "relative" (bin / 182), "seconds" or "none".
    - `counts`: whether to add channels with the share of bins at which each channel has been observed so far.
    - `ends`: whether the loss counts at the last bin of the "padded" trial or of the trial's "own" samples.
    - `gaps`: "filled" has every bin; "skipped" leaves out those without a sample, and a bin is as long as the time since the
      sample before (`fill` then does nothing).
    - `ahead`: whether such a bin lasts until the next sample instead, as an `interpolation` other than "hold" needs.
    - `masks`: whether to put a channel before the inputs for each of them that says whether it was observed.
    - `key`: seed or key of the split and of the dropped bins; the split does not depend on `dropped`.

    **Returns:** a `Task` with the cross-entropy at the last bin.

    No example: it needs the data set.
    """
    errors.one_of("ends", ends, ENDS)
    errors.one_of("gaps", gaps, GAPS)
    if not 0 <= errors.not_negative("dropped", dropped) < 1:
        raise errors.ArgumentError(f"dropped is {dropped!r}, but must be a share from 0 up to (not including) 1.")
    series, values, parts = letters_with_gaps(dropped, key)
    assert series.labels is not None
    observed, stamps = ~np.isnan(values), time_stamps(len(series), values.shape[1], STEP, timestamp)
    columns = [stamps, fill_missing(values, fill), *([observation_counts(observed)] if counts else [])]
    inputs = np.concatenate(columns, axis=2, dtype=np.float32)
    inputs = with_masks(inputs, observed, stamps.shape[2]) if masks else inputs
    lengths = series.lengths if ends == "own" else np.full(len(series), values.shape[1])
    everything = _trials(inputs, series.labels, lengths, observed if gaps == "skipped" else None, ahead)
    given = {"dropped": dropped, "fill": fill, "timestamp": timestamp, "counts": counts}
    return Task(
        name=NAME,
        train=everything.take(parts[0]),
        validation=everything.take(parts[1]),
        test=everything.take(parts[2]),
        outputs=len(series.label_names),
        loss="cross_entropy",
        when="last",
        classes=series.label_names,
        input_names=None if series.channels != len(CHANNELS) else _input_names(timestamp, counts, masks),
        since_before=gaps == "skipped" and not ahead,
        options={**given, "ends": ends, "gaps": gaps, "ahead": ahead, "masks": masks, "key": plain_key(key)},
    )


def _trials(
    inputs: np.ndarray, labels: np.ndarray, lengths: np.ndarray, observed: np.ndarray | None, ahead: bool
) -> Trials:
    """Makes trials of every bin or, if it is given what of every bin and channel was observed, of the samples alone."""
    if observed is None:
        return Trials(inputs, labels, STEP, lengths=lengths)
    samples = samples_of(observed.any(axis=2) & (np.arange(inputs.shape[1]) < lengths[:, None]), STEP, ahead)
    return Trials(samples.of(inputs), labels, samples.elapsed, lengths=samples.lengths)


def _input_names(timestamp: str, counts: bool, masks: bool) -> tuple[str, ...]:
    counted = [f"count of {name}" for name in CHANNELS] if counts else []
    names = (*(() if timestamp == "none" else ("time",)), *CHANNELS, *counted)
    return (*(f"mask of {name}" for name in names), *names) if masks else names


def letters_with_gaps(dropped: float, key: Key | int) -> tuple[Series, np.ndarray, list[np.ndarray]]:
    """Returns the trimmed trials, their values (padded, standardised, NaN in the gaps), and the indices of the split."""
    series = read_letters()
    assert series.labels is not None
    values = padded_with_last(series)
    parts = stratified_split(series.labels, key=key)
    drop_at_random(values, dropped, numpy_generator(key).spawn(1)[0])
    Scale.of(values[parts[0]]).apply(values)
    return series, values, parts


def read_letters() -> Series:
    """Reads all trials from the cache and trims them."""
    (path,) = cache.require(NAME, FILES)
    stored = read_npz(path, ("values", "lengths", "labels", "label_names"), what="data set")
    whole = usable(path, lambda: as_series(stored))
    return Series.of(
        [trimmed(whole.trial(index)[1]) for index in range(len(whole))],
        labels=whole.labels,
        label_names=whole.label_names,
    )


def trimmed(trial: np.ndarray) -> np.ndarray:
    """Removes the samples at both ends of a trial at which every channel is 0.

    >>> trimmed(np.array([[0.0], [1.0], [0.0], [2.0], [0.0]]))[:, 0].tolist()
    [1.0, 0.0, 2.0]
    """
    moving = np.flatnonzero(np.any(trial != 0, axis=1))
    return trial[moving[0] : moving[-1] + 1] if moving.size else trial


def padded_with_last(series: Series) -> np.ndarray:
    """Returns an array of shape (trials, time, channels), each trial padded with its last sample.

    >>> padded_with_last(Series.of([[[1.0], [2.0]], [[3.0]]]))[:, :, 0].tolist()
    [[1.0, 2.0], [3.0, 3.0]]
    """
    bin = np.minimum(np.arange(series.lengths.max()), series.lengths[:, None] - 1)
    return series.values[series.starts[:, None] + bin]


def drop_at_random(values: np.ndarray, share: float, rng: np.random.Generator) -> None:
    """Sets all channels to NaN in a random choice of bins, equally many in each trial. Changes `values` in place."""
    trials, bins, _ = values.shape
    count = int(bins * share)
    order = np.argsort(rng.random((trials, bins)), axis=1)[:, :count]
    values[np.arange(trials)[:, None], order] = np.nan
