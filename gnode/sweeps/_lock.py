"""The lock of a sweep's folder: held by one process, or shared by the processes that each train a part."""

import contextlib
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from gnode import errors, files
from gnode.locks import LOCK, LockFile, opened, this_process
from gnode.sweeps._part import Part

PATIENCE = 3.0
"""Seconds that a part waits for others that begin at the same moment."""


@contextmanager
def sweep_locked(folder: Path, part: Part | None = None) -> Generator[None, None, None]:
    """Holds the lock of a sweep's folder, or of one part of it, during the block.

    While parts are trained nobody holds the whole folder, and a division into another number of parts, whose members would
    overlap with these, is refused.

    **Raises:** `StoreError`, which names the other process, if the folder or the part is in use.
    """
    with opened(folder / LOCK) as whole:
        if part is None:
            whole.hold(str(folder), this_process())
            for own in folder.glob(f"{LOCK}-*"):
                files.remove(own)
            yield
            return
        division = f"processes that train parts of it, {part.of} in all"
        _hold_with_others(whole, str(folder), division)
        if (there := errors.shortened(whole.text())) not in ("", division):
            raise errors.StoreError(
                f"{folder} is in use by {there}; divide it in the same way, or wait for them to end."
            )
        with opened(folder / f"{LOCK}-{part.number}") as own:
            own.hold(f"part {part.number} of {folder}", this_process())
            yield


def _hold_with_others(lock: LockFile, what: str, division: str) -> None:
    """Holds a file together with other parts. The first one holds it exclusively for a moment to write the division."""
    patience = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(errors.StoreError):
            lock.hold(what, division)
        try:
            return lock.hold(what, None)
        except errors.StoreError:
            if time.monotonic() > patience:
                raise
            time.sleep(0.05)
