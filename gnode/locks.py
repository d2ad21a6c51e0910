"""Locks on folders: one process at a time. The operating system releases a lock when its process ends, however it ends."""

import contextlib
import os
import socket
import stat
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from gnode import errors
from gnode.os_errors import translated

__all__ = ["LOCK", "LockFile", "locked", "opened", "this_process"]

LOCK = ".lock"


@contextmanager
def locked(folder: Path) -> Generator[None, None, None]:
    """Holds a folder's lock during the block.

    **Raises:** `StoreError`, which names the other process, if the folder is in use, or cannot be written.
    """
    with opened(folder / LOCK) as lock:
        lock.hold(str(folder), this_process())
        yield


def this_process() -> str:
    """Describes this process, for the error message of another one."""
    return f"process {os.getpid()} on {socket.gethostname()}"


@contextmanager
def opened(path: Path) -> Generator["LockFile", None, None]:
    """Opens a lock file during the block; closing it releases it.

    **Raises:** `StoreError` if it cannot be opened, or is not a plain file of its own: a folder from elsewhere may hold a
    link in its place, through which the name of this process would be written into another file.
    """
    # Without blocking, because opening a pipe would wait for somebody at its other end.
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with translated(f"lock {path.parent} by the file {path.name} in it"):
        number = os.open(path, flags, 0o666)
    try:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise errors.StoreError(f"{path} is a link, or not a plain file; remove it and try again.")
        yield LockFile(number)
    finally:
        os.close(number)


class LockFile:
    """An open lock file. Its text says who holds it."""

    def __init__(self, number: int):
        self._number = number

    def hold(self, what: str, owner: str | None) -> None:
        """Locks the file until it is closed.

        **Arguments:** `what` it protects, for messages; `owner`, written into the file, to hold it exclusively, or None to
        share it with other processes that pass None.

        **Raises:** `StoreError` if another process holds it.
        """
        try:
            import fcntl
        except ImportError:  # this system has no such locks: the folder is used unguarded
            return
        try:
            fcntl.flock(self._number, (fcntl.LOCK_SH if owner is None else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as problem:
            holder = errors.shortened(self.text()) or "an unknown process"
            raise errors.StoreError(
                f"{what} is in use by {holder}; wait for it to end, or stop it, and try again."
            ) from problem
        except OSError as problem:  # a file system without locks
            warnings.warn(
                f"{what} cannot be locked ({problem}); make sure that no other process trains the same.", stacklevel=4
            )
            return
        if owner is not None:
            with contextlib.suppress(OSError):  # of a full disk: the lock is held, only its note is missing
                os.ftruncate(self._number, 0)
                os.pwrite(self._number, owner.encode(errors="replace"), 0)

    def text(self) -> str:
        """Returns the note of whoever held the file last."""
        return os.pread(self._number, 1000, 0).decode(errors="replace").strip()
