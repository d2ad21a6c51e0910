"""Checkpoints of members in training, a file each: any engine resumes them, on any machine that sees the folder."""

import time
import warnings
from pathlib import Path

from gnode import errors, files
from gnode.sweeps.stored import UNFINISHED
from gnode.train.checkpoint import Checkpoint, read_checkpoint, remove_checkpoint, write_checkpoint

SECONDS = 30.0
SHARE = 0.05
"""The share of the time that saving may take: where it is slow (many members, a distant disk) it happens less often."""


class MemberCheckpoints:
    """The checkpoints of a sweep's members; without a folder nothing is kept."""

    def __init__(self, sweep: Path | None):
        self._folder = None if sweep is None else files.inside(sweep, UNFINISHED)

    def epoch(self, index: int) -> int:
        """Returns how many epochs of a member are kept."""
        path = self._path(index)
        if path is None or not path.exists():
            return 0
        try:  # the whole file is read: one that is damaged further on counts as none
            return int(files.read_arrays(path)["epoch"])
        except (errors.StoreError, KeyError):
            return 0

    def load(self, index: int, start: Checkpoint) -> Checkpoint:
        """Returns the last checkpoint of a member, or its `start`. A damaged file is a warning, and the member restarts."""
        path = self._path(index)
        try:
            found = None if path is None else read_checkpoint(path, start.state)
        except errors.StoreError as problem:
            warnings.warn(f"member {index} begins anew: {str(problem).partition(';')[0].rstrip('.')}.", stacklevel=2)
            found = None
        return start if found is None else found

    def save(self, index: int, checkpoint: Checkpoint) -> None:
        """Saves the checkpoint of a member."""
        if (path := self._path(index)) is not None:
            with files.writing(path.parent):
                write_checkpoint(path, checkpoint)

    def remove(self, index: int) -> None:
        """Removes the checkpoint of a member that has been trained."""
        if (path := self._path(index)) is not None:
            remove_checkpoint(path)

    def _path(self, index: int) -> Path | None:
        return None if self._folder is None else self._folder / f"{index:04d}.npz"


class SavePace:
    """Decides when it is time to save again. Use it as a context around saving."""

    def __init__(self) -> None:
        self._next = time.monotonic() + SECONDS
        self._began = 0.0

    def is_due(self) -> bool:
        return time.monotonic() >= self._next

    def __enter__(self) -> None:
        self._began = time.monotonic()

    def __exit__(self, *problem: object) -> None:
        now = time.monotonic()
        self._next = now + max(SECONDS, (now - self._began) / SHARE)
