"""The SpeechCommands task: classify a spoken word (Appendix H of the paper)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gnode import errors
from gnode.arguments import checked
from gnode.tasks import cache
from gnode.tasks._formats.npz import read_npz
from gnode.tasks._preparation import Scale, stratified_split
from gnode.tasks._trials import Task, Trials
from gnode.tasks.datasets.compact import check_labels, usable
from gnode.types import Key, plain_key

WORDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
"""Names of the classes."""
VERSIONS = (1, 2)
"""Versions of Google's Speech Commands."""
PARTS = 3
"""Number of compact files; each holds a random third of the clips."""

STEP = 1 / 161
"""Length of a bin in seconds: the paper divides one second into 161 bins (its tau of 0.006, 0.062 and 0.621 s are 1, 10 and
100 bins)."""


def name_of(version: int) -> str:
    """Returns the name of the data set in the cache."""
    return f"speech-v{version}"


def files_of(version: int) -> tuple[str, ...]:
    """Returns the names of the compact files of a version."""
    return tuple(f"speech_commands_v{version}_mfcc_{part}.npz" for part in range(PARTS))


@checked
def speech(*, version: int = 1, parts: int = PARTS, key: Key | int = 0) -> Task:
    """Makes the task to classify ten spoken words: clips of one second, 161 bins of 20 cepstral coefficients.

    Channels are standardised on the training clips. The split is 70% training, 15% validation and 15% test, stratified by
    word.

    **Arguments:**

    - `version`: version of Google's Speech Commands: 1 has 21,312 clips, 2 (used in the paper) has 34,975.
    - `parts`: number of compact files to use; each of the three holds a third of the clips.
    - `key`: seed or key of the split.

    **Returns:** a `Task` with the cross-entropy at the last bin. Loading needs less than twice the size of its arrays.

    No example: it needs the data set.
    """
    if np.ndim(version) or version not in VERSIONS:
        raise errors.ArgumentError(f"version is {errors.shown(version)}, but must be 1 or 2.")
    if errors.whole("parts", parts) > PARTS:
        raise errors.ArgumentError(f"parts is {parts!r}, but must be 1, 2 or 3.")
    paths = cache.require(name_of(version), files_of(version)[:parts])
    labels = np.concatenate([_read_labels(path) for path in paths]).astype(np.int32)
    split = stratified_split(labels, key=key)
    features = _read_split(paths, split, len(labels))
    scale = Scale.of(features[0])
    made = [Trials(scale.apply(values), labels[chosen], STEP) for values, chosen in zip(features, split)]
    return Task(
        name="speech",
        train=made[0],
        validation=made[1],
        test=made[2],
        outputs=len(WORDS),
        loss="cross_entropy",
        when="last",
        classes=WORDS,
        options={"version": version, "parts": parts, "key": plain_key(key)},
    )


def _read_labels(path: Path) -> np.ndarray:
    labels = read_npz(path, ("labels",), what="data set")["labels"]
    usable(path, lambda: check_labels(labels, len(WORDS)))
    return labels


def _read_split(paths: Sequence[Path], split: Sequence[np.ndarray], clips: int) -> list[np.ndarray]:
    """Returns the features of each part of the split.

    Only one compact file (half precision) at a time is in memory beside the result.
    """
    made: list[np.ndarray] = []
    first = 0
    for path in paths:
        stored = read_npz(path, ("mfcc",), what="data set")["mfcc"]
        if stored.ndim != 3 or (made and stored.shape[1:] != made[0].shape[1:]) or not np.isfinite(stored).all():
            raise errors.ArgumentError(
                f"data set {path} has features of shape {stored.shape}, unlike the others, or not finite; add the data set "
                f"again."
            )
        if not made:
            made = [np.empty((len(chosen), *stored.shape[1:]), np.float32) for chosen in split]
        last = first + len(stored)
        for values, chosen in zip(made, split):
            here = (chosen >= first) & (chosen < last)  # `chosen` increases, so these are consecutive rows
            rows = np.flatnonzero(here)
            for row, clip in zip(rows, chosen[here]):
                values[row] = stored[clip - first]
        first = last
        del stored
    if first != clips:
        raise errors.ArgumentError(f"the speech files hold {first} clips but {clips} labels; add the data set again.")
    return made
