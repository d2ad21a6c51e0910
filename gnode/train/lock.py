"""One process per folder. The lock goes with the process, however it ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gnode import errors

LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds the folder's lock; a folder that another process holds is an error that names that process."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: the folder is used unguarded
        yield
        return
    with (folder / LOCK).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as problem:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            raise errors.StoreError(
                f"{folder} is in use by process {owner}; wait for it to end, or stop it, and try again."
            ) from problem
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
