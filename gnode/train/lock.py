"""One process per folder, or one per part of it. A lock goes with its process, however that ends."""

import contextlib
import os
import socket
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from gnode import errors
from gnode.train.parts import Part

LOCK = ".lock"
PATIENCE = 3.0
"""Seconds that a part waits for others that begin at the same moment."""


@contextmanager
def locked(folder: Path, part: Part | None = None) -> Iterator[None]:
    """Holds the folder's lock; a folder that another process holds is an error that names that process.

    With `part` only that part is held: other parts of the same division go on, but nobody has the whole folder meanwhile,
    and a division into another number of parts, whose members would overlap with these, is refused.
    """
    with (folder / LOCK).open("a+") as whole:
        if part is None:
            _hold(whole, str(folder), _here())
            for own in folder.glob(f"{LOCK}-*"):
                own.unlink(missing_ok=True)
            yield
            return
        division = f"processes that train parts of it, {part.of} in all"
        _hold_with_others(whole, str(folder), division)
        whole.seek(0)
        if (there := whole.read()) not in ("", division):
            raise errors.StoreError(
                f"{folder} is in use by {there}; divide it in the same way, or wait for them to end."
            )
        with (folder / f"{LOCK}-{part.number}").open("a+") as own:
            _hold(own, f"part {part.number} of {folder}", _here())
            yield


def _hold_with_others(file: TextIO, what: str, division: str) -> None:
    """Holds a file together with other parts. The first has it alone for a moment and writes the division into it."""
    patience = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(errors.StoreError):
            _hold(file, what, division)
        try:
            return _hold(file, what, None)
        except errors.StoreError:
            if time.monotonic() > patience:
                raise
            time.sleep(0.05)


def _here() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"


def _hold(file: TextIO, what: str, owner: str | None) -> None:
    """Holds a file alone and writes the owner into it, or with others if there is no owner to write."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: the folder is used unguarded
        return
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if owner is None else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError) as problem:
        file.seek(0)
        holder = file.read().strip() or "an unknown process"
        raise errors.StoreError(
            f"{what} is in use by {holder}; wait for it to end, or stop it, and try again."
        ) from problem
    except OSError as problem:  # a file system without locks
        warnings.warn(f"{what} can not be locked ({problem}); see that no other process trains the same.", stacklevel=4)
        return
    if owner is not None:
        file.truncate(0)
        file.write(owner)
        file.flush()
