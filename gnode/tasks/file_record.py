"""The file of a user that a task was made of: which one it was, and whether it has changed."""

import hashlib
from functools import lru_cache
from pathlib import Path, PurePath
from typing import Any

from gnode import errors
from gnode.tasks.registry import FILE_TASKS


def record_file(task: str) -> dict[str, str] | None:
    """Records where the file of a task is, and a digest of its content; None if the task is not made of a file."""
    if PurePath(task).suffix not in FILE_TASKS:
        return None
    return {"path": str(Path(task).resolve()), "sha256": _digest(Path(task))}


def recorded_file(name: str, record: dict[str, str]) -> str:
    """Returns where the file of a record is now: under its name as seen from here, or where it was.

    **Raises:** `StoreError` if it is gone or has changed since.
    """
    found = [place for place in (Path(name), Path(record["path"])) if place.is_file()]
    for place in found:
        if _digest(place) == record["sha256"]:
            return str(place)
    if found:
        raise errors.StoreError(
            f"{found[0]} has changed since it was trained on, so the rest would be about other data; put the old file back, "
            f"or train anew."
        )
    raise errors.StoreError(
        f"task file {name} does not exist here, nor at {record['path']}; put it there, or pass the task: "
        f"gnode.load(folder, task=task)."
    )


def _digest(path: Path) -> str:
    status = path.stat()
    return _digest_of(str(path.resolve()), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _digest_of(path: str, *_: Any) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
