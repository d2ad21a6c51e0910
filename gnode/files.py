"""Files that appear complete or not at all: written under a temporary name, flushed to the disk, then renamed.

Every file of runs, sweeps, reports, results and data sets is written and read here. A folder may come from anybody: what is
written replaces a link rather than following it, and only plain files are read.
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
from zipfile import BadZipFile, ZipFile

import numpy as np

from gnode import errors
from gnode.os_errors import translated

__all__ = [
    "as_read",
    "before",
    "beside",
    "check_storable",
    "csv_cell",
    "damaged",
    "inside",
    "new_folder",
    "read_arrays",
    "read_json",
    "read_text",
    "remove",
    "remove_folder",
    "remove_leftovers",
    "rename",
    "write_arrays",
    "write_by",
    "write_json",
    "write_text",
    "writing",
]

LARGEST_TEXT = 100_000_000
"""In bytes. A larger JSON file is damaged or hostile: the description of 300,000 members is smaller."""
LARGEST_EXPANSION = 1000
"""How many times its size in the archive an array may have: a file of real numbers compresses far less."""


def beside(path: Path) -> Path:
    """Returns a temporary name next to `path` that no other process uses, on this machine or on another."""
    return path.with_name(f".{path.name[:200]}.{uuid.uuid4().hex[:8]}.tmp")


def before(path: Path) -> Path:
    """Returns the name under which `write_arrays(..., keep_older=True)` keeps the file that it replaced."""
    return path.with_name(path.name + ".before")


def inside(folder: Path, *names: str) -> Path:
    """Returns a place inside a folder.

    **Raises:** `StoreError` if it is, or is reached by, a symbolic link: what is written or removed there would be outside.
    """
    place = folder
    for name in names:
        place = place / name
        if place.is_symlink():
            raise errors.StoreError(
                f"{place} is a symbolic link, which gnode does not follow when it writes or removes files; replace it by a "
                f"folder or file of its own."
            )
    return place


def rename(path: Path, name: Path) -> None:
    """Gives a file or folder another name, and flushes it to the disk."""
    with translated(f"rename {path} to {name}"):
        os.replace(path, name)
        _flush(name.parent)


def remove(path: Path) -> None:
    """Removes a file if it is there; of a link the link itself."""
    with translated(f"remove {path}"):
        path.unlink(missing_ok=True)


def remove_folder(path: Path) -> None:
    """Removes a folder and what is in it, if it is there; of a link the link itself. What cannot be removed stays."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):  # rmtree would open a pipe and wait
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Removes temporary files that a killed process left in a folder. Call it only while holding the folder's lock."""
    if folder.is_symlink():
        return
    for leftover in folder.glob(".*.tmp"):
        if leftover.is_dir():
            remove_folder(leftover)
        else:
            remove(leftover)


def write_text(path: Path, text: str) -> None:
    """Writes a text file atomically and flushes it to the disk."""
    with write_by(path) as temporary, temporary.open("w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def write_json(path: Path, value: Any) -> None:
    """Writes indented JSON atomically. NaN and infinity, which JSON lacks, become `{"float": "nan"}` and the like."""
    write_text(path, json.dumps(_to_json(value), indent=1) + "\n")


def as_read(value: Any) -> Any:
    """Returns what `read_json` gives back of a value that `write_json` stores: lists for tuples, for example."""
    return _from_json(_to_json(value))


def check_storable(name: str, value: Any) -> None:
    """Raises an `ArgumentError` if `write_json` cannot store a value: something else than numbers, texts, lists and
    dictionaries of these."""
    try:
        json.dumps(_to_json(value))
    except (TypeError, ValueError, RecursionError) as problem:
        raise errors.ArgumentError(
            f"{name} is {errors.shown(value)}, which JSON cannot store ({errors.shortened(str(problem))}); pass numbers, "
            f"texts, lists and dictionaries of these."
        ) from problem


def write_arrays(
    path: Path, arrays: Mapping[str, np.ndarray], *, compressed: bool = False, keep_older: bool = False
) -> None:
    """Writes an .npz file atomically and flushes it to the disk.

    **Arguments:** `path`; `arrays`, by name; `compressed`; `keep_older`: keep the file that is replaced, as `before(path)`.
    """
    with write_by(path, keep_older=keep_older) as temporary, temporary.open("wb") as file:
        (np.savez_compressed if compressed else np.savez)(file, **arrays)  # type: ignore[arg-type]


@contextmanager
def write_by(path: Path, *, keep_older: bool = False) -> Generator[Path, None, None]:
    """Gives a temporary name to write to; at the end of the block the file there is flushed and gets the name `path`.

    After an error, such as that of a full disk, the temporary file is gone and what was at `path` is as it was.

    **Raises:** `StoreError` for errors of the operating system.
    """
    temporary = beside(path)
    with translated(f"write {path}"):
        try:
            yield temporary
            _flush(temporary)
            if keep_older and path.exists():
                _keep_as(before(path), path)
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _flush(path.parent)


def _keep_as(name: Path, path: Path) -> None:
    """Gives a file a second name. A moment with neither name would be one at which a power cut loses it."""
    if path.is_symlink():
        return
    second = beside(name)
    try:
        os.link(path, second)
    except OSError:  # a file system without links: there it is renamed, and for a moment has its older name alone
        os.replace(path, name)
    else:
        os.replace(second, name)


@contextmanager
def new_folder(path: Path) -> Generator[Path, None, None]:
    """Gives a temporary folder to fill; at the end of the block it gets the name `path`, in place of one that was there.

    **Raises:** `StoreError` for errors of the operating system.
    """
    temporary = beside(path)
    with writing(path.parent):
        try:
            temporary.mkdir()
            yield temporary
            remove_folder(path)
            os.replace(temporary, path)
        except BaseException:
            remove_folder(temporary)
            raise
        _flush(path.parent)


@contextmanager
def writing(folder: Path) -> Generator[None, None, None]:
    """Creates `folder` and turns any operating-system error inside the block into a `StoreError`."""
    with translated(f"write to {folder}"):
        missing = [place for place in (folder, *folder.parents) if not place.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for place in missing:
            _flush(place.parent)
        yield


def _flush(path: Path) -> None:
    """Makes sure that a file, or the names in a folder, survive a power cut."""
    if path.is_dir() and not hasattr(os, "O_DIRECTORY"):  # this system cannot
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def read_text(path: Path) -> str:
    """Reads a text file.

    **Raises:** `StoreError` if it is missing, not a plain file, not text, or larger than any that gnode writes.
    """
    _check_plain(path)
    with translated(f"read {path}"):
        if path.stat().st_size > LARGEST_TEXT:
            raise errors.StoreError(f"{path} is larger than {LARGEST_TEXT // 10**6} MB, so gnode did not write it.")
        try:
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError as problem:
            raise damaged(path, "it is not text") from problem


def read_json(path: Path) -> Any:
    """Reads a JSON file that `write_json` wrote.

    **Raises:** `StoreError` if the file is missing or broken.
    """
    text = read_text(path)
    if not text.strip():
        raise damaged(path, "it is empty")
    try:
        return _from_json(json.loads(text))
    except RecursionError as problem:
        raise damaged(path, "it is nested too deeply") from problem
    except (ValueError, TypeError) as problem:
        raise damaged(path, str(problem)) from problem


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Reads all arrays of an .npz file. Pickled objects are refused.

    **Raises:** `StoreError` if the file is missing or broken.
    """
    _check_plain(path)
    with translated(f"read {path}"):
        try:
            with ZipFile(path) as archive:
                for part in archive.infolist():
                    if part.file_size > LARGEST_EXPANSION * max(part.compress_size, 10_000):
                        raise damaged(path, f"{errors.shown(part.filename)} would unpack to {part.file_size} bytes")
            with np.load(path, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}
        except (errors.StoreError, PermissionError):
            raise
        except (OSError, ValueError, EOFError, KeyError, BadZipFile, MemoryError) as problem:
            raise damaged(path, str(problem)) from problem
        except Exception as problem:  # zlib.error and struct.error, from damage inside the archive
            raise damaged(path, str(problem)) from problem


def damaged(path: Path, why: str) -> errors.StoreError:
    """Returns the error for a stored file that cannot be used."""
    return errors.StoreError(
        errors.in_one_line(
            f"{path} is damaged ({errors.shortened(why)}); gnode doctor {path.parent} says what can be saved."
        )
    )


def _check_plain(path: Path) -> None:
    """Raises a `StoreError` unless a path leads to a plain file. A pipe would never end, a device neither."""
    with translated(f"read {path}"):
        if not path.exists():
            raise errors.StoreError(errors.in_one_line(f"{path} does not exist."))
        path.stat()  # "exists" is silent about a folder that may not be read
    if not path.is_file():
        raise errors.StoreError(f"{path} is not a plain file, so gnode does not read it.")


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


def csv_cell(value: Any) -> Any:
    """Returns a value for a cell of a CSV file; a text that a spreadsheet would run as a formula begins with an apostrophe.

    >>> csv_cell("=2+3"), csv_cell("-0.5"), csv_cell("ring")
    ("'=2+3", '-0.5', 'ring')
    """
    if not isinstance(value, str) or not value.lstrip(" ").startswith(_BEGIN_FORMULAS):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


_BEGIN_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""With these, and with the wide forms of the first four, a spreadsheet takes a cell for a formula or skips to the next."""
