"""Errors of the operating system as sentences: what could not be done, why, and what to do."""

import contextlib
import errno
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from gnode import errors

__all__ = ["as_path", "as_sentence", "translated"]

_OTHER_PLACE = "choose another place, or change its permissions"
_ROOM = "make room and try again: what has been stored is kept"

_REASONS: dict[int, tuple[str, str]] = {
    errno.ENOSPC: ("the disk is full", _ROOM),
    errno.EDQUOT: ("your quota on this disk is used up", _ROOM),
    errno.EFBIG: ("the file would be larger than this system allows", _ROOM),
    errno.EACCES: ("permission is denied", _OTHER_PLACE),
    errno.EPERM: ("permission is denied", _OTHER_PLACE),
    errno.EROFS: ("the disk is read-only", "choose another place"),
    errno.ENOENT: ("it does not exist, or was removed", "look at the path"),
    errno.ENOTDIR: ("a part of the path is a file, not a folder", "look at the path"),
    errno.EISDIR: ("it is a folder, but a file belongs there", "choose another name"),
    errno.EEXIST: ("it is there already", "choose another name"),
    errno.ENOTEMPTY: ("it is a folder that is not empty", "choose another name"),
    errno.ENAMETOOLONG: ("the name is too long", "choose a shorter one"),
    errno.ELOOP: ("it is a symbolic link, or links form a circle", "replace the link by what it stands for"),
    errno.EMFILE: ("too many files are open", "raise the limit (ulimit -n), or use fewer --workers"),
    errno.ENFILE: ("too many files are open on this machine", "try again later"),
    errno.EIO: ("the disk reports an error", "check the disk"),
    errno.ESTALE: ("the network disk has lost it", "try again"),
    errno.ENOMEM: ("there is not enough memory", "try again later"),
}


@contextmanager
def translated(doing: str) -> Generator[None, None, None]:
    """Turns errors of the operating system inside the block into a `StoreError`.

    **Arguments:** `doing`: what the block does, after "cannot": "write to runs/a".

    >>> with translated("read nowhere.txt"):
    ...     Path("nowhere.txt").read_text()
    Traceback (most recent call last):
    ...
    gnode.errors.StoreError: cannot read nowhere.txt: it does not exist, or was removed; look at the path.
    """
    try:
        yield
    except OSError as problem:
        raise errors.StoreError(as_sentence(doing, problem)) from problem
    except ValueError as problem:
        if "null byte" not in str(problem) and not isinstance(problem, UnicodeError):
            raise
        reason = "its name holds a character that no file name may hold"
        raise errors.StoreError(f"cannot {errors.in_one_line(doing)}: {reason}; choose another name.") from problem


def as_sentence(doing: str, problem: OSError) -> str:
    """Says what could not be done, why, and what to do."""
    known = _REASONS.get(problem.errno or 0)
    reason = (problem.strerror or str(problem) or type(problem).__name__).lower()
    why, remedy = known if known is not None else (reason, "look at the path and the disk")
    return errors.in_one_line(f"cannot {doing}: {why}; {remedy}.")


def as_path(name: str, value: str | Path) -> Path:
    """Returns an argument as a path, if the operating system can be asked for what is there.

    **Raises:** `StoreError` otherwise: a name too long or with a null, a folder that may not be read, a file where a
    folder belongs.

    >>> as_path("out", "runs/square").name
    'square'
    """
    path = Path(value)
    if not str(value).strip():
        raise errors.StoreError(f"{name} is {errors.shown(value)}, but must be the name of a file or folder.")
    with translated(f"use {name}={errors.shown(value)}"), contextlib.suppress(FileNotFoundError):
        path.stat()
    return path
