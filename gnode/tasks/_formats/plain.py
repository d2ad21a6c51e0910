"""Checks before a file of the user is read."""

import stat
from pathlib import Path

from gnode import errors

__all__ = ["plain_file", "told"]


def plain_file(path: str | Path, what: str = "file") -> Path:
    """Returns `path` if a plain file can be read there, also by a symbolic link.

    **Raises:** `ArgumentError` otherwise. A pipe or a device is not opened: reading it might never end.
    """
    path = Path(path)
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as problem:
        raise errors.ArgumentError(f"{what} {errors.in_one_line(str(path))} does not exist.") from problem
    except (OSError, ValueError) as problem:  # ValueError: a name with a NUL
        raise errors.ArgumentError(
            f"{what} {errors.in_one_line(str(path))} cannot be read ({told(problem)})."
        ) from problem
    if not stat.S_ISREG(mode):
        kind = "folder" if stat.S_ISDIR(mode) else "pipe or a device"
        raise errors.ArgumentError(f"{what} {errors.in_one_line(str(path))} is a {kind}, but must be a file.")
    return path


def told(problem: BaseException) -> str:
    """Returns what an exception says, in one short line; its type if it says nothing."""
    text = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return errors.shortened(errors.in_one_line(text)) or type(problem).__name__
