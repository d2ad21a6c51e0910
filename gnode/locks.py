"""Locks on folders: one process at a time. The operating system releases a lock when its process ends, however it ends."""

import os
import socket
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from gnode import errors

__all__ = ["LOCK", "hold", "locked", "this_process"]

LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Generator[None, None, None]:
    """Holds a folder's lock during the block.

    **Raises:** `StoreError`, which names the other process, if the folder is in use.
    """
    with (folder / LOCK).open("a+") as file:
        hold(file, str(folder), this_process())
        yield


def this_process() -> str:
    """Describes this process, for the error message of another one."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def hold(file: TextIO, what: str, owner: str | None) -> None:
    """Locks an open file until it is closed.

    **Arguments:** `file`; `what` it protects, for messages; `owner`, written into the file, to hold it exclusively, or
    None to share it with other processes that pass None.

    **Raises:** `StoreError` if another process holds it.
    """
    try:
        import fcntl
    except ImportError:  # this system has no such locks: the folder is used unguarded
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
        warnings.warn(
            f"{what} cannot be locked ({problem}); make sure that no other process trains the same.", stacklevel=4
        )
        return
    if owner is not None:
        file.truncate(0)
        file.write(owner)
        file.flush()
