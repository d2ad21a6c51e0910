"""Files that appear complete or not at all: written under a temporary name, then renamed.

Every JSON, CSV and .npz file of runs, sweeps, reports, results and data sets is written and read here.
"""

import json
import math
import os
import shutil
import uuid
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from gnode import errors

__all__ = [
    "beside",
    "read_arrays",
    "read_json",
    "remove_leftovers",
    "write_arrays",
    "write_json",
    "write_text",
    "writing",
]


def beside(path: Path) -> Path:
    """Returns a temporary name next to `path` that no other process uses, on this machine or on another."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")


def remove_leftovers(folder: Path) -> None:
    """Removes temporary files that a killed process left in a folder. Call it only while holding the folder's lock."""
    for leftover in folder.glob(".*.tmp"):
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a text file atomically and flushes it to the disk."""
    temporary = beside(path)
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    _rename(temporary, path)


def write_json(path: Path, value: Any) -> None:
    """Writes indented JSON atomically. NaN and infinity, which JSON lacks, become `{"float": "nan"}` and the like."""
    write_text(path, json.dumps(_to_json(value), indent=1) + "\n")


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], *, compressed: bool = False) -> None:
    """Writes an .npz file atomically and flushes it to the disk."""
    temporary = beside(path)
    with temporary.open("wb") as file:
        (np.savez_compressed if compressed else np.savez)(file, **arrays)  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())
    _rename(temporary, path)


def _rename(temporary: Path, path: Path) -> None:
    """Gives a finished file its name, and flushes the folder, so that the name too survives a power cut."""
    os.replace(temporary, path)
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read_json(path: Path) -> Any:
    """Reads a JSON file that `write_json` wrote.

    **Raises:** `StoreError` if the file is missing or broken.
    """
    try:
        return _from_json(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as problem:
        raise errors.StoreError(f"{path} does not exist.") from problem
    except (OSError, ValueError) as problem:
        raise errors.StoreError(f"{path} is broken and cannot be read ({problem}).") from problem


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Reads all arrays of an .npz file. Pickled objects are refused.

    **Raises:** `StoreError` if the file is missing or broken.
    """
    if not path.is_file():
        raise errors.StoreError(f"{path} does not exist.")
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, KeyError, BadZipFile) as problem:
        raise errors.StoreError(f"{path} is broken or truncated and cannot be read ({problem}).") from problem
    except Exception as problem:  # zlib.error and struct.error, from damage inside the archive
        raise errors.StoreError(f"{path} is damaged and cannot be read ({problem}).") from problem


@contextmanager
def writing(folder: Path) -> Generator[None, None, None]:
    """Creates `folder` and turns any operating-system error inside the block into a `StoreError`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as problem:
        raise errors.StoreError(f"cannot write to {folder} ({problem}).") from problem


def _to_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _to_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(float(value))}
    if not isinstance(value, str | int | float | bool) and value is not None and hasattr(value, "__array__"):
        return _to_json(np.asarray(value).tolist())  # of numpy or jax
    return value


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        return float(value["float"]) if set(value) == {"float"} else {k: _from_json(v) for k, v in value.items()}
    return [_from_json(part) for part in value] if isinstance(value, list) else value
