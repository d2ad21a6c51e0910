"""Members of a sweep in training, a file each: any engine goes on with them, on any machine that sees the folder."""

import time
import warnings
from pathlib import Path
from typing import NamedTuple

from gnode import errors
from gnode.train import store, structure
from gnode.train.loop import Progress

UNFINISHED = "unfinished"
"""Where a sweep's folder keeps them."""
SECONDS = 30.0
SHARE = 0.05
"""Of the time that saving may take: where it is slow (many members, a distant disk) it is done less often."""


class Begun(NamedTuple):
    """How far a member has come, and in how many seconds."""

    progress: Progress
    seconds: float


class Unfinished:
    """Keeps how far members have come; without a sweep's folder it keeps nothing."""

    def __init__(self, sweep: Path | None):
        self._folder = None if sweep is None else sweep / UNFINISHED

    def epoch(self, index: int) -> int:
        """How many epochs of a member are kept."""
        path = self._path(index)
        if path is None or not path.exists():
            return 0
        try:
            return int(
                structure.read_arrays(path)["epoch"]
            )  # all of it: a file that is damaged further on counts as none
        except (errors.StoreError, KeyError):
            return 0

    def load(self, index: int, start: Progress) -> Begun:
        """A member as it was last kept, or at its `start`."""
        path = self._path(index)
        try:
            found = None if path is None else store.read_checkpoint(path, start.state)
        except errors.StoreError as problem:
            warnings.warn(f"member {index} begins anew: {problem}", stacklevel=2)
            found = None
        return Begun(start, 0.0) if found is None else Begun(Progress(*found[:3]), found[3])

    def save(self, index: int, progress: Progress, seconds: float) -> None:
        """Keeps how far a member has come."""
        if (path := self._path(index)) is not None:
            path.parent.mkdir(exist_ok=True)
            store.write_checkpoint(path, *progress, seconds)

    def remove(self, index: int) -> None:
        """Of a member that has been trained."""
        if (path := self._path(index)) is not None:
            path.unlink(missing_ok=True)

    def _path(self, index: int) -> Path | None:
        return None if self._folder is None else self._folder / f"{index:04d}.npz"


class Pace:
    """When it is time to save again."""

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
