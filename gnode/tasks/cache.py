"""The cache of data sets: the folder `GNODE_DATA`, or the platform's folder for caches.

A data set is a folder of compact `.npz` files. It is written under a temporary name and renamed when it is complete, so the
cache never holds an incomplete data set. The compact files may also lie in the cache folder itself, which may be read-only.
"""

import errno
import os
import shutil
import stat
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gnode import errors, files

VARIABLE = "GNODE_DATA"
"""Environment variable that names the cache folder."""
WRITE_BITS = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
ABOUT = "about.json"
"""File in the folder of a data set that records its source and licence."""


def cache_folder() -> Path:
    """Returns the folder of the cache, which may not exist yet."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "gnode"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "gnode"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gnode"


def find(name: str, file_names: Sequence[str]) -> list[Path] | None:
    """Returns the paths of the files of a data set, in its own folder or in the cache folder; None if it is not there."""
    for folder in (cache_folder() / name, cache_folder()):
        paths = [folder / file for file in file_names]
        if all(path.is_file() for path in paths):
            return paths
    return None


def require(name: str, file_names: Sequence[str]) -> list[Path]:
    """Returns the paths of the files of a data set.

    **Raises:** `ArgumentError` if the data set is not in the cache; the message says how to get it.
    """
    found = find(name, file_names)
    if found is None:
        command, _, version = name.partition("-v")
        option = f" --version {version}" if version else ""
        raise errors.ArgumentError(
            f"the data set {name} is not in {cache_folder()}; get it with `gnode data get {command}{option}`, or from a "
            f"file of yours with `gnode data add {command} PATH{option}`."
        )
    return found


def refuse_to_replace(name: str, file_names: Sequence[str]) -> None:
    """Raises an `ArgumentError` if the data set is in the cache."""
    found = find(name, file_names)
    if found is not None:
        raise errors.ArgumentError(f"{name} is already in {found[0].parent}; --replace puts a new one in its place.")


def store(
    name: str, contents: Mapping[str, Mapping[str, np.ndarray]], about: dict[str, Any], replace: bool = False
) -> Path:
    """Writes a data set to the cache, completely or not at all.

    **Arguments:**

    - `name`: name of the data set and of its folder.
    - `contents`: arrays of each compact file.
    - `about`: source and licence, written to `about.json`.
    - `replace`: whether to replace the data set if it exists.

    **Returns:** the folder of the data set.

    **Raises:** `ArgumentError` if the data set exists and `replace` is False; `StoreError` if it cannot be written.
    """
    target = cache_folder() / name
    if not replace:
        refuse_to_replace(name, list(contents))
    with temporary_path(name) as complete, temporary_path(f"{name}.old") as old:
        complete.mkdir()
        for file, arrays in contents.items():
            files.write_arrays(complete / file, arrays, compressed=True)
        files.write_json(complete / ABOUT, about)
        if target.exists():
            os.replace(target, old)
        try:
            os.replace(complete, target)
        except BaseException:  # an interrupt too: the old data set goes back before its temporary name is removed
            if old.exists():
                os.replace(old, target)
            raise
    return target


@contextmanager
def writing() -> Generator[None, None, None]:
    """Creates the cache folder and turns operating-system errors inside the block into a `StoreError` with a remedy."""
    folder = cache_folder()
    try:
        with files.writing(folder):
            if not folder.stat().st_mode & WRITE_BITS:  # the superuser could write, but must not either
                raise PermissionError(errno.EACCES, "it is read-only")
            yield
    except errors.StoreError as problem:
        if not isinstance(
            problem.__cause__, OSError
        ):  # raised by another check, or by a `writing` block inside this one
            raise
        raise errors.StoreError(f"{str(problem).removesuffix('.')}; set {VARIABLE} to a folder of yours.") from problem


@contextmanager
def temporary_path(name: str) -> Generator[Path, None, None]:
    """Yields an unused path in the cache, and removes the file or folder at that path at the end, also after an error."""
    with writing():
        path = files.beside(cache_folder() / name)
        try:
            yield path
        finally:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
