"""One process per folder. The lock goes with the process, however it ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from gnode import errors

LOCK = ".lock"


@contextmanager
def locked(folder: Path, part: str | None = None) -> Iterator[None]:
    """Holds the folder's lock; a folder that another process holds is an error that names that process.

    With `part` only what has that name is locked: other parts go on, but nobody has the whole folder meanwhile.
    """
    try:
        import fcntl
    except ImportError:  # no such locks on this system: the folder is used unguarded
        yield
        return
    with (folder / LOCK).open("a+") as whole:
        if part is None:
            _hold(whole, fcntl.LOCK_EX, str(folder))
            yield
            return
        _hold(whole, fcntl.LOCK_SH, str(folder))
        with (folder / f"{LOCK}-{part}").open("a+") as own:
            _hold(own, fcntl.LOCK_EX, f"part {part} of {folder}")
            yield


def _hold(file: TextIO, kind: int, what: str) -> None:
    import fcntl

    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except OSError as problem:
        file.seek(0)
        owner = file.read().strip() or "unknown"
        raise errors.StoreError(
            f"{what} is in use by process {owner}; wait for it to end, or stop it, and try again."
        ) from problem
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
