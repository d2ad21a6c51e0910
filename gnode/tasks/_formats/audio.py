"""Reader of sound clips: WAV files in one folder per word, in a folder or an archive."""

import io
import struct
import wave
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from gnode import errors
from gnode.tasks._formats.archives import entries

FULL_SCALE = 2**15
"""Integer sample that corresponds to the amplitude 1."""

SPLIT_LISTS = {"validation_list.txt": 1, "testing_list.txt": 2}
"""Files that list the clips of the official validation (1) and test (2) sets; all others are training clips (0)."""


class Clip(NamedTuple):
    """A clip of a word: `name` is word/file, `samples` are 16-bit integers."""

    name: str
    word: str
    samples: Int[np.ndarray, " samples"]

    def __repr__(self) -> str:
        return f"Clip({self.name!r}, {len(self.samples)} samples)"


class Recordings:
    """Iterates over the clips of some words in folders or archives, and reads the lists of the official split.

    Iteration reads one clip at a time; `official_split` is complete after it.

    **Arguments:**

    - `paths`: folders or archives.
    - `words`: words to read, the names of the folders.
    - `rate`: sampling rate in Hz.
    """

    def __init__(self, paths: Sequence[Path], words: Sequence[str], rate: int):
        self.paths, self.words, self.rate = list(paths), tuple(words), rate
        self._listed: dict[str, int] = {}

    def __iter__(self) -> Iterator[Clip]:
        for path in self.paths:
            for name, content in entries(path, self._is_wanted):
                *folders, file = name.split("/")
                if file in SPLIT_LISTS:
                    self._listed |= {
                        line.strip(): SPLIT_LISTS[file]
                        for line in content.decode(errors="replace").splitlines()
                        if line.strip()
                    }
                else:
                    word = folders[-1]
                    yield Clip(f"{word}/{file}", word, read_wav(content, f"{name} in {path}", self.rate))

    def official_split(self, names: Sequence[str]) -> Int[np.ndarray, " clips"]:
        """Returns the official part of each clip: 0 for training, 1 for validation, 2 for test."""
        return np.array([self._listed.get(name, 0) for name in names], np.int8)

    def _is_wanted(self, name: str) -> bool:
        *folders, file = name.split("/")
        return file in SPLIT_LISTS or (file.endswith(".wav") and bool(folders) and folders[-1] in self.words)


def read_wav(content: bytes, name: str, rate: int) -> Int[np.ndarray, " samples"]:
    """Returns the samples of a WAV file with one channel of 16 bits at the given rate."""
    try:
        with wave.open(io.BytesIO(content)) as sound:
            kind = (sound.getnchannels(), sound.getsampwidth(), sound.getframerate())
            claimed = sound.getnframes()
            frames = sound.readframes(claimed) if kind == (1, 2, rate) else b""
    except (wave.Error, EOFError, struct.error, ValueError, RuntimeError) as problem:  # of damage to any chunk
        raise errors.ArgumentError(f"{name} cannot be read as WAV ({str(problem) or 'it is truncated'}).") from problem
    if kind != (1, 2, rate):
        raise errors.ArgumentError(
            f"{name} has {kind[0]} channels of {8 * kind[1]} bits at {kind[2]} Hz, "
            f"but must have one of 16 bits at {rate} Hz."
        )
    if len(frames) != 2 * claimed:
        raise errors.ArgumentError(
            f"{name} is truncated: its header tells of {claimed} samples, but it holds {len(frames) // 2}."
        )
    return np.frombuffer(frames, "<i2")
