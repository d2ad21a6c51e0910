"""Records of the file that a task was read from, to find it again and to detect changes."""

import hashlib
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Annotated, Any, TypedDict

from gnode import errors
from gnode.tasks._formats.plain import plain_file
from gnode.tasks.registry import FILE_TASKS


class FileRecord(TypedDict):
    """Where a file is, and what it holds."""

    path: Annotated[str, "absolute path"]
    sha256: Annotated[str, "digest of its content"]


def record_file(task: str) -> FileRecord | None:
    """Returns the absolute path and the SHA-256 of the file of a task; None if the task is not read from a file."""
    if PurePath(task).suffix not in FILE_TASKS:
        return None
    return {"path": str(Path(task).resolve()), "sha256": _digest(Path(task))}


def recorded_file(name: str, record: FileRecord) -> str:
    """Returns the path of a recorded file: relative to the current folder, or else the absolute path in the record.

    **Arguments:**

    - `name`: path of the file as the user gave it.
    - `record`: what `record_file` returned.

    **Raises:** `StoreError` if the file does not exist or has changed.
    """
    found = [place for place in (Path(name), Path(record["path"])) if _is_file(place)]
    for place in found:
        if _digest(place) == record["sha256"]:
            return str(place)
    if found:
        raise errors.StoreError(
            f"{found[0]} has changed since it was trained on, so the rest would be about other data; put the old file back, "
            f"or start a new run."
        )
    raise errors.StoreError(
        f"task file {name} does not exist here, nor at {record['path']}; put it there, or pass the task: "
        f"gnode.load(folder, task=task)."
    )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long, or a folder that may not be read
        return False


def _digest(path: Path) -> str:
    status = plain_file(path, "task file").stat()
    return _digest_of(str(path.resolve()), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _digest_of(path: str, *_: Any) -> str:
    """Computes the SHA-256 of a file; further arguments (time and size) only distinguish the entries of the cache."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
