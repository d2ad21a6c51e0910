"""CharacterTrajectories: which of 20 letters a pen wrote (Appendix H of the paper)."""

import numpy as np

from gnode import errors
from gnode.tasks import cache
from gnode.tasks._filling import fill as fill_missing
from gnode.tasks._formats.npz import read_npz
from gnode.tasks._preparation import Scale, observation_counts, stratified_split, time_stamps
from gnode.tasks._series import Series
from gnode.tasks._trials import Task, Trials
from gnode.types import Key, numpy_generator, plain_key

NAME, FILES = "characters", ("character_trajectories.npz",)
STEP = 1.0
"""The paper takes a bin to be one second long."""

ENDS = ("padded", "own")


def characters(
    *,
    dropped: float = 0.3,
    fill: str = "natural",
    timestamp: str = "relative",
    counts: bool = False,
    ends: str = "padded",
    key: Key | int = 0,
) -> Task:
    """Tell 20 letters from the pen's velocity and force: 2858 trials of 182 bins, some of which are missing.

    Each trial is freed of the zeros around it, padded to the longest with its last value, and loses a share of its bins at
    random. Channels are standardised on the training trials, then filled. 70% of each letter's trials train, 15% validate,
    15% test.

    **Arguments:**

    - `dropped`: the share of bins that is missing: 0.3, 0.5 and 0.7 in the paper.
    - `fill`: one of `gnode.tasks.FILLS`; the paper's "natural" spline looks ahead in time, "hold" does not.
    - `timestamp`: the first channel: "relative" (bin / 182), "seconds" or "none".
    - `counts`: more channels, with the share of bins at which each was observed so far.
    - `ends`: the letter is asked for at the last bin of the "padded" trial, or of the trial's "own" samples.
    - `key`: of the split and of the bins that are dropped; the split is the same whatever `dropped` is.

    **Returns:** a `Task`, cross-entropy at the last bin.
    """
    errors.one_of("ends", ends, ENDS)
    if not 0 <= errors.not_negative("dropped", dropped) < 1:
        raise errors.ArgumentError(f"dropped is {dropped!r}, but must be a share from 0 up to (not including) 1.")
    series, values, parts = letters_with_gaps(dropped, key)
    assert series.labels is not None
    columns = [time_stamps(len(series), values.shape[1], STEP, timestamp), fill_missing(values, fill)]
    if counts:
        columns.append(observation_counts(~np.isnan(values)))
    lengths = series.lengths if ends == "own" else np.full(len(series), values.shape[1])
    everything = Trials(np.concatenate(columns, axis=2, dtype=np.float32), series.labels, STEP, lengths=lengths)
    return Task(
        name=NAME,
        train=everything.take(parts[0]),
        validation=everything.take(parts[1]),
        test=everything.take(parts[2]),
        outputs=len(series.label_names),
        loss="cross_entropy",
        when="last",
        classes=series.label_names,
        options={
            "dropped": dropped,
            "fill": fill,
            "timestamp": timestamp,
            "counts": counts,
            "ends": ends,
            "key": plain_key(key),
        },
    )


def letters_with_gaps(dropped: float, key: Key | int) -> tuple[Series, np.ndarray, list[np.ndarray]]:
    """The trimmed trials; their values padded, standardised and with gaps (NaN); and who trains, validates and tests."""
    series = read_letters()
    assert series.labels is not None
    values = padded_with_last(series)
    parts = stratified_split(series.labels, key=key)
    drop_at_random(values, dropped, numpy_generator(key).spawn(1)[0])
    Scale.of(values[parts[0]]).apply(values)
    return series, values, parts


def read_letters() -> Series:
    """All trials, freed of the zeros around them."""
    (path,) = cache.need(NAME, FILES)
    stored = read_npz(path, ("values", "lengths", "labels", "label_names"), what="data set")
    whole = Series(
        stored["values"], stored["lengths"], labels=stored["labels"], label_names=tuple(stored["label_names"])
    )
    return Series.of(
        [trimmed(whole.trial(index)[1]) for index in range(len(whole))],
        labels=whole.labels,
        label_names=whole.label_names,
    )


def trimmed(trial: np.ndarray) -> np.ndarray:
    """A trial without the samples at both ends at which every channel is 0.

    >>> trimmed(np.array([[0.0], [1.0], [0.0], [2.0], [0.0]]))[:, 0].tolist()
    [1.0, 0.0, 2.0]
    """
    moving = np.flatnonzero(np.any(trial != 0, axis=1))
    return trial[moving[0] : moving[-1] + 1] if moving.size else trial


def padded_with_last(series: Series) -> np.ndarray:
    """Trials x time x channels, each trial going on with its last sample until the longest one ends.

    >>> padded_with_last(Series.of([[[1.0], [2.0]], [[3.0]]]))[:, :, 0].tolist()
    [[1.0, 2.0], [3.0, 3.0]]
    """
    bin = np.minimum(np.arange(series.lengths.max()), series.lengths[:, None] - 1)
    return series.values[series.starts[:, None] + bin]


def drop_at_random(values: np.ndarray, share: float, rng: np.random.Generator) -> None:
    """Turns the same number of bins of every trial, at random places, into NaN in all channels (in place)."""
    trials, bins, _ = values.shape
    count = int(bins * share)
    order = np.argsort(rng.random((trials, bins)), axis=1)[:, :count]
    values[np.arange(trials)[:, None], order] = np.nan
