"""The data sets: the addresses of their originals, and the conversion to the compact files of the cache."""

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gnode import errors
from gnode.tasks._formats.archives import entries
from gnode.tasks._formats.audio import FULL_SCALE, Recordings
from gnode.tasks._formats.npz import read_npz
from gnode.tasks._formats.plain import told
from gnode.tasks._formats.rollouts import read_rollouts
from gnode.tasks._formats.uci_mat import read_uci
from gnode.tasks._formats.uea_ts import read_ts
from gnode.tasks._mfcc import RATE, mfcc
from gnode.tasks._series import Series
from gnode.tasks.datasets import characters, speech, walker2d
from gnode.tasks.datasets.compact import as_series, check_features, in_order
from gnode.wording import plural

Compact = dict[str, dict[str, np.ndarray]]
"""Arrays of each compact file, by file name."""

LETTERS = "abcdeghlmnopqrsuvwyz"
"""Letters of the classes 1 to 20 in UEA's files."""

CLIPS_AT_ONCE = 256
"""Number of clips whose features are computed at a time."""


@dataclasses.dataclass(frozen=True, repr=False)
class DataSet:
    """Description of a data set and of its conversion.

    - `name`: name of the data set and of its folder in the cache.
    - `files`, `arrays`: names of the compact files, and of the arrays in each of them.
    - `url`, `sha256`: address of the original, and its published checksum. If there is none, the checksum of the first
      download is recorded.
    - `licence`: licence of the data.
    - `accepts`: formats of the original, for messages.
    - `convert`: function from the paths of the original to the arrays of the compact files.

    >>> DATASETS["walker2d"]
    DataSet('walker2d', 1 file, licence Apache-2.0)
    """

    name: str
    files: tuple[str, ...]
    arrays: tuple[str, ...]
    url: str
    sha256: str | None
    licence: str
    accepts: str
    convert: Callable[[Sequence[Path]], Compact]

    def __repr__(self) -> str:
        return f"DataSet({self.name!r}, {plural(len(self.files), 'file')}, licence {self.licence})"

    def compact(self, paths: Sequence[Path]) -> Compact:
        """Returns the arrays of the compact files, converted from an original or read from compact files (or their folder).

        **Raises:** `ArgumentError` if the files are not those of the data set.
        """
        found = {path.name: path for path in _plain_files(paths) if path.name in self.files}
        if not found:
            made = self.convert(paths)
        else:
            missing = [file for file in self.files if file not in found]
            if missing:
                raise errors.ArgumentError(f"{self.name} needs {', '.join(missing)} too; add all its files at once.")
            made = {file: read_npz(found[file], self.arrays, what="data set") for file in self.files}
        _check(self, made)
        return made


def _plain_files(paths: Sequence[Path]) -> list[Path]:
    try:
        return [file for path in paths for file in (sorted(path.iterdir()) if path.is_dir() else [path])]
    except OSError as problem:
        raise errors.ArgumentError(f"{_joined(paths)} cannot be read ({told(problem)}).") from problem


def _check(data: DataSet, made: Compact) -> None:
    """Raises an `ArgumentError` if the arrays of a compact file do not agree."""
    for file, arrays in made.items():
        with in_order(f"{file} of {data.name}"):
            if "mfcc" in arrays:
                check_features(arrays, len(speech.WORDS))
            else:
                as_series(arrays)
    if len({arrays["mfcc"].shape[1:] for arrays in made.values() if "mfcc" in arrays}) > 1:
        raise errors.ArgumentError(f"the files of {data.name} differ in the shape of their features.")


def _characters(paths: Sequence[Path]) -> Compact:
    found: list[Series] = []
    for path in paths:
        for name, content in entries(path, lambda name: name.endswith((".mat", ".ts")) and "__MACOSX" not in name):
            found.append(
                read_uci(content, name) if name.endswith(".mat") else read_ts(content.decode(errors="replace"), name)
            )
    if not found:
        raise errors.ArgumentError(f"{_joined(paths)} holds no trials of characters: no .mat and no .ts file.")
    names = found[0].label_names
    if any(series.label_names != names for series in found):
        raise errors.ArgumentError(f"the files in {_joined(paths)} name different classes.")
    if any(series.channels != found[0].channels for series in found):
        raise errors.ArgumentError(f"the files in {_joined(paths)} differ in the number of channels.")
    if len(names) > np.iinfo(np.int8).max:
        raise errors.ArgumentError(f"{_joined(paths)} names {len(names)} classes, but may name at most 127.")
    if names == tuple(str(number + 1) for number in range(len(LETTERS))):
        names = tuple(LETTERS)
    arrays: dict[str, Any] = {
        "values": np.concatenate([series.values for series in found]).astype(np.float32),
        "lengths": np.concatenate([series.lengths for series in found]).astype(np.int32),
        "labels": np.concatenate([_labels(series) for series in found]).astype(np.int8),
        "label_names": np.array(names),
    }
    return {characters.FILES[0]: arrays}


def _labels(series: Series) -> np.ndarray:
    assert series.labels is not None
    return series.labels


def _walker2d(paths: Sequence[Path]) -> Compact:
    series = read_rollouts(paths)
    return {walker2d.FILES[0]: {"values": series.values, "lengths": series.lengths.astype(np.int32)}}


def _speech(version: int, paths: Sequence[Path]) -> Compact:
    """Computes the features of all clips of exactly one second, distributed at random over three files."""
    recordings = Recordings(paths, speech.WORDS, RATE)
    names: list[str] = []
    features: list[np.ndarray] = []
    waiting: list[np.ndarray] = []
    for clip in recordings:
        if len(clip.samples) != RATE:
            continue
        names.append(clip.name)
        waiting.append(clip.samples)
        if len(waiting) == CLIPS_AT_ONCE:
            features.append(_features(waiting))
            waiting = []
    if not names:
        raise errors.ArgumentError(
            f"{_joined(paths)} holds no clips of one second of the words {', '.join(speech.WORDS)}."
        )
    if waiting:
        features.append(_features(waiting))
    values = np.concatenate(features)
    labels = np.array([speech.WORDS.index(name.split("/")[0]) for name in names], np.int8)
    split = recordings.official_split(names)
    # Sorted by label and name first, so that the parts do not depend on the order of the files in an archive.
    order = np.array(sorted(range(len(names)), key=lambda index: (labels[index], names[index])))
    part_of = np.random.default_rng(0).permutation(len(names)) % speech.PARTS
    made: Compact = {}
    for part, file in enumerate(speech.files_of(version)):
        chosen = order[part_of == part]
        made[file] = {
            "mfcc": values[chosen],
            "labels": labels[chosen],
            "official_split": split[chosen],
            "names": np.array(names)[chosen],
        }
    return made


def _features(clips: Sequence[np.ndarray]) -> np.ndarray:
    return mfcc(np.stack(clips).astype(np.float32) / FULL_SCALE).astype(np.float16)


def _joined(paths: Sequence[Path]) -> str:
    return ", ".join(map(str, paths))


SPEECH_URL = "https://storage.googleapis.com/download.tensorflow.org/data/speech_commands_v0.0{version}.tar.gz"
SPEECH_SHA256 = {
    1: "743935421bb51cccdb6bdd152e04c5c70274e935c82119ad7faeec31780d811d",
    2: "af14739ee7dc311471de98f5f9d2c9191b18aedfe957f4a6ff791c709868ff58",
}

DATASETS: dict[str, DataSet] = {
    "characters": DataSet(
        characters.NAME,
        characters.FILES,
        ("values", "lengths", "labels", "label_names"),
        "https://archive.ics.uci.edu/static/public/175/character+trajectories.zip",
        "5d2db017ef0d8cf0e65ed060c9e90399f78eb9f1e3cb63e22ca8c3ef4ba67d52",
        "CC BY 4.0",
        "UCI's zip or mixoutALL_shifted.mat, or UEA's CharacterTrajectories_TRAIN.ts and _TEST.ts",
        _characters,
    ),
    "walker2d": DataSet(
        walker2d.NAME,
        walker2d.FILES,
        ("values", "lengths"),
        "https://people.csail.mit.edu/mlechner/datasets/walker.zip",
        None,
        "Apache-2.0",
        "walker.zip of the ODE-LSTM benchmark, or a folder of rollouts (.npy)",
        _walker2d,
    ),
    **{
        speech.name_of(version): DataSet(
            speech.name_of(version),
            speech.files_of(version),
            ("mfcc", "labels", "official_split", "names"),
            SPEECH_URL.format(version=version),
            SPEECH_SHA256[version],
            "CC BY 4.0",
            f"speech_commands_v0.0{version}.tar.gz, or its folder of WAV files",
            partial(_speech, version),
        )
        for version in speech.VERSIONS
    },
}
"""The data sets by their names in the cache."""


def dataset(name: str, version: int | None = None) -> DataSet:
    """Returns a data set by the name of its task.

    **Arguments:**

    - `name`: "characters", "walker2d" or "speech".
    - `version`: version of `speech`, 1 by default.

    >>> dataset("speech", 2).name
    'speech-v2'
    """
    if name == "speech":
        if version not in (None, *speech.VERSIONS):
            raise errors.ArgumentError(f"version is {errors.shown(version)}, but must be 1 or 2.")
        name = speech.name_of(version or 1)
    elif version is not None and name in DATASETS:
        raise errors.ArgumentError(f"{name} has no versions; only speech has (1 or 2).")
    return DATASETS[errors.one_of("data set", name, [*DATASETS, "speech"])]
