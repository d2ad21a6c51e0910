"""A user's file that a task was made of: which it was, and whether it still is that."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from gnode import errors


def record(path: str | Path) -> dict[str, str]:
    """Where a file is, and a digest of what it holds."""
    return {"path": str(Path(path).resolve()), "sha256": _digest(Path(path))}


def recorded(name: str, record: dict[str, str]) -> str:
    """The file of a record, under its name as seen from here or where it was. One that has changed since is an error."""
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
