"""The Walker2D task: predict the next state of a simulated walker from samples with gaps (Appendix H of the paper).

The windows are exactly those of the ODE-LSTM benchmark: one random generator shuffles and splits the rollouts, another one
drops samples, and a window of 64 kept samples begins at every 16th of them.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from gnode import errors
from gnode.arguments import checked
from gnode.tasks import cache
from gnode.tasks._filling import FILLS
from gnode.tasks._filling import fill as fill_missing
from gnode.tasks._formats.npz import read_npz
from gnode.tasks._preparation import GAPS, samples_of, time_stamps, with_masks
from gnode.tasks._series import OnGrid, Series
from gnode.tasks._trials import Task, Trials
from gnode.tasks.datasets.compact import as_series, usable

NAME, FILES = "walker2d", ("walker2d_rollouts.npz",)
SPLIT_SEED, DROP_SEED = 125487, 891374
TEST_SHARE, VALIDATION_SHARE = 0.15, 0.10
DROPPED = 0.1
WINDOW, STRIDE = 64, 16
STEP = 1.0
"""Length of a bin in seconds, as in the paper."""


@checked
def walker2d(
    *,
    fill: str = "natural",
    timestamp: str = "relative",
    gaps: str = "filled",
    ahead: bool = False,
    masks: bool = False,
    key: int = 0,
) -> Task:
    """Makes the task to predict the next state of a walker: 12,893 windows of 84 bins, one in ten of them missing.

    The 64 kept samples of a window are put on a regular grid. Missing bins are filled in the inputs and do not count in the
    loss. The target of a kept sample is the next state of the rollout, whether that is kept or not. The inputs are the time
    stamp and the 17 channels, not standardised.

    **Arguments:**

    - `fill`: one of `gnode.tasks.FILLS`; the paper uses "natural", which is not causal. "hold" is causal.
    - `timestamp`: first channel: "relative" (bin / 84), "seconds" or "none".
    - `gaps`: "filled" has every bin; "skipped" has the 64 samples alone, each as a bin as long as the time since the sample
      before, which is what networks for irregular times get (`fill` then does nothing).
    - `ahead`: whether such a bin lasts until the next sample instead, as an `interpolation` other than "hold" needs.
    - `masks`: whether to put a channel before the inputs for each of them that says whether it was observed.
    - `key`: whole number that is added to the seeds of the split and of the gaps; 0 gives the published windows.

    **Returns:** a `Task` with the masked mean squared error.

    No example: it needs the data set.
    """
    key = errors.whole("key", key, at_least=0, at_most=2**32 - 1 - DROP_SEED)  # numpy's seeds have 32 bits
    errors.one_of("fill", fill, FILLS)
    errors.one_of("gaps", gaps, GAPS)
    made = {part: _trials(grid, fill, timestamp, gaps, ahead, masks) for part, grid in windows_with_gaps(key).items()}
    return Task(
        name=NAME,
        train=made["train"],
        validation=made["validation"],
        test=made["test"],
        outputs=made["train"].targets.shape[2],
        since_before=gaps == "skipped" and not ahead,
        options={"fill": fill, "timestamp": timestamp, "gaps": gaps, "ahead": ahead, "masks": masks, "key": key},
    )


def windows_with_gaps(key: int = 0) -> dict[str, OnGrid]:
    """Returns the windows of each part on a regular grid, NaN where a sample was dropped."""
    rollouts = read_rollouts()
    parts = split_rollouts(len(rollouts), key)
    dropping = np.random.RandomState(DROP_SEED + key)  # numpy's legacy generator, as in the benchmark
    windows = {part: cut_windows([rollouts[index] for index in parts[part]], dropping) for part in parts}
    bins = max(series.bins(STEP) for series in windows.values())
    return {part: series.on_grid(STEP, bins) for part, series in windows.items()}


def read_rollouts() -> list[Float[np.ndarray, "time channels"]]:
    """Reads the simulated rollouts from the cache, in the order of their file names."""
    (path,) = cache.require(NAME, FILES)
    stored = read_npz(path, ("values", "lengths"), what="data set")
    series = usable(path, lambda: as_series(stored))
    return np.split(series.values, series.starts[1:])


def split_rollouts(count: int, key: int = 0) -> dict[str, list[int]]:
    """Returns the rollouts of each part. Samples are dropped in this order."""
    order = list(range(count))
    np.random.RandomState(SPLIT_SEED + key).shuffle(order)
    tested, validated = int(TEST_SHARE * count), int(VALIDATION_SHARE * count)
    return {
        "train": order[tested + validated :],
        "validation": order[tested : tested + validated],
        "test": order[:tested],
    }


def cut_windows(rollouts: Sequence[np.ndarray], dropping: np.random.RandomState) -> Series:
    """Cuts windows of 64 kept samples. Times are indices in the rollout, targets are the next states."""
    values, targets, times = [], [], []
    for rollout in rollouts:
        kept = np.flatnonzero(_kept(len(rollout) - 1, dropping))
        for start in range(0, len(kept) - WINDOW, STRIDE):
            chosen = kept[start : start + WINDOW]
            values.append(rollout[chosen])
            targets.append(rollout[chosen + 1])
            times.append(chosen * STEP)
    if not values:
        raise errors.ArgumentError(
            f"no rollout of a part of {NAME} holds more than {WINDOW} kept samples, so there is no window to cut."
        )
    return Series.of(values, times, targets=targets)


def _kept(samples: int, dropping: np.random.RandomState) -> Bool[np.ndarray, " samples"]:
    return dropping.rand(samples) < 1 - DROPPED  # "> DROPPED" would drop other samples than the benchmark


def _trials(grid: OnGrid, fill: str, timestamp: str, gaps: str, ahead: bool, masks: bool) -> Trials:
    trials, bins, _ = grid.values.shape
    stamps, observed = time_stamps(trials, bins, STEP, timestamp), ~np.isnan(grid.values)
    inputs = np.concatenate([stamps, fill_missing(grid.values, fill)], axis=2, dtype=np.float32)
    if masks:
        inputs = with_masks(inputs, observed, stamps.shape[2])
    assert grid.targets is not None
    assert grid.target_mask is not None
    if gaps == "filled":
        return Trials(inputs, grid.targets, STEP, mask=grid.target_mask, lengths=grid.lengths)
    samples = samples_of(np.any(observed, axis=2), STEP, ahead)
    targets, mask = samples.of(grid.targets), samples.of(grid.target_mask)
    return Trials(samples.of(inputs), targets, samples.elapsed, mask=mask, lengths=samples.lengths)
