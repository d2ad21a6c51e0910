"""Putting a complete folder in the place of another one, so that a process killed at any moment leaves one of the two.

The new folder is filled under a temporary name. The old one is renamed to `.NAME.old.tmp`, the new one gets its name, and
the old one is removed. If the process dies between the two renames, `restore` gives the old one its name back.

Two kinds of locks guard this. That of the cache folder is held for moments, while names change. That of a temporary folder
is held by the process that fills it, for as long as it lives: what nobody holds is left over, and `tidy` removes it. The
locks are on the folders themselves, so no files are left behind by them.
"""

import errno
import os
import re
import shutil
import stat
import time
from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager
from pathlib import Path

from gnode import errors, files

__all__ = ["is_writable", "locked", "put_in_place", "remove", "restore", "set_aside", "temporary_folder", "tidy"]

WRITE_BITS = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
PATIENCE = 10.0
"""Seconds to wait for another process that changes names in the same folder."""
LEFTOVER = re.compile(r"\.(?P<name>.+?)(-original|\.old)?\.[0-9a-f]{8}\.tmp")
"""Names of temporary files and folders, those of earlier versions included."""


@contextmanager
def locked(folder: Path) -> Generator[bool, None, None]:
    """Holds the lock of a folder; gives whether it could be locked at all, which not every file system allows.

    **Raises:** `StoreError` if another process holds it for long.
    """
    with _opened(folder) as number:
        end = time.monotonic() + PATIENCE
        while (got := _try_lock(number)) is False:
            if time.monotonic() > end:
                raise errors.StoreError(f"{folder} is in use by another process; wait for it to end, and try again.")
            time.sleep(0.02)
        yield got is True


@contextmanager
def _opened(folder: Path) -> Generator[int | None, None, None]:
    """Opens a folder, where the system can."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY) if hasattr(os, "O_DIRECTORY") else None
    try:
        yield number
    finally:
        if number is not None:
            os.close(number)


def _try_lock(number: int | None) -> bool | None:
    """Locks an open folder; False if another process holds it, None if it cannot be locked."""
    if number is None:
        return None
    try:
        import fcntl

        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # this system has no such locks
        return None
    except OSError as problem:
        return False if problem.errno in (errno.EWOULDBLOCK, errno.EACCES) else None
    return True


@contextmanager
def temporary_folder(target: Path) -> Generator[Path, None, None]:
    """Gives an empty folder beside `target`, and removes it at the end if it is still there."""
    path = files.beside(target)
    try:
        with ExitStack() as held:
            with locked(target.parent):  # `tidy` must not meet it before its own lock is held
                path.mkdir()
                _try_lock(held.enter_context(_opened(path)))
            yield path
    finally:
        remove(path)


def set_aside(target: Path) -> Path:
    """Returns the name that a folder has while another one takes its place."""
    return target.with_name(f".{target.name}.old.tmp")


def put_in_place(complete: Path, target: Path) -> None:
    """Gives a complete folder the name `target`, in place of what is there."""
    old = set_aside(target)
    with locked(target.parent):
        restore(target)
        _discard(old)  # left by a process that was killed
        if os.path.lexists(target):
            os.replace(target, old)
        try:
            os.replace(complete, target)
        except BaseException:  # an interrupt too: the old folder gets its name back
            restore(target)
            raise
        with _opened(target.parent) as number:
            if number is not None:
                os.fsync(number)  # the new name survives a power cut, before the old folder goes
        _discard(old)


def restore(target: Path) -> None:
    """Gives a folder that was set aside its name back if nothing has taken its place. Call it while holding the lock."""
    if os.path.lexists(target):
        return
    earlier = sorted(target.parent.glob(f".{target.name}.old.*.tmp"))  # the names of earlier versions
    for old in (set_aside(target), *earlier):
        if os.path.lexists(old):
            os.replace(old, target)
            return


def is_writable(folder: Path) -> bool:
    """Whether a folder may be written to. The superuser could write to one that is read-only, but must not either."""
    return bool(folder.stat().st_mode & WRITE_BITS) and os.access(folder, os.W_OK)


def tidy(folder: Path, names: Iterable[str]) -> None:
    """Restores folders that were set aside, and removes what killed processes have left of them.

    **Arguments:** `folder`; `names` of the folders in it, of which alone anything is changed.
    """
    if not folder.is_dir() or not is_writable(folder):
        return
    known = set(names)
    with locked(folder) as is_sure:
        for name in known:
            restore(folder / name)
            if os.path.lexists(folder / name):
                _discard(set_aside(folder / name))
        for path in sorted(folder.iterdir()):
            found = LEFTOVER.fullmatch(path.name)
            if found and found["name"] in known and is_sure and not _is_held(path):
                remove(path)


def _is_held(path: Path) -> bool:
    """Whether a living process holds the lock of a temporary folder. Files are written under the lock of the folder."""
    if path.is_symlink() or not path.is_dir():
        return False
    with _opened(path) as number:
        return _try_lock(number) is not True


def _discard(old: Path) -> None:
    """Removes a folder that was set aside; renamed first, so that no half of it is ever restored."""
    if os.path.lexists(old):
        doomed = files.beside(old.with_name(old.name.removeprefix(".").removesuffix(".old.tmp")))
        os.replace(old, doomed)
        remove(doomed)


def remove(path: Path) -> None:
    """Removes a file, a folder, or a link (not what it leads to), if it is there. What cannot be removed stays."""
    if path.is_symlink() or not path.is_dir():  # of a pipe too, which rmtree would open, and wait for its other end
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)
