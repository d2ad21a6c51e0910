"""Where data sets are kept: the folder `GNODE_DATA`, or the platform's place for caches.

A data set is a folder of compact `.npz` files. It is written under another name and renamed when it is whole, so that what
bears a data set's name is complete. A folder with the compact files themselves in it will do as well, and may be read-only.
"""

import errno
import json
import os
import shutil
import stat
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gnode import errors

VARIABLE = "GNODE_DATA"
WRITE_BITS = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
ABOUT = "about.json"
"""In each data set's folder: what it was made from."""


def cache_folder() -> Path:
    """The folder that data sets are kept in; it need not exist yet."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "gnode"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "gnode"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gnode"


def find(name: str, files: Sequence[str]) -> list[Path] | None:
    """The files of a data set in the cache, in its own folder or side by side; None if it is not there."""
    for folder in (cache_folder() / name, cache_folder()):
        paths = [folder / file for file in files]
        if all(path.is_file() for path in paths):
            return paths
    return None


def need(name: str, files: Sequence[str]) -> list[Path]:
    """As `find`; a data set that is not there is an error that says how to get it."""
    found = find(name, files)
    if found is None:
        command, _, version = name.partition("-v")
        option = f" --version {version}" if version else ""
        raise errors.ArgumentError(
            f"the data set {name} is not in {cache_folder()}; get it with `gnode data get {command}{option}`, or from a "
            f"file of yours with `gnode data add {command} PATH{option}`."
        )
    return found


def refuse_to_replace(name: str, files: Sequence[str]) -> None:
    """An error if the cache has the data set."""
    found = find(name, files)
    if found is not None:
        raise errors.ArgumentError(f"{name} is already in {found[0].parent}; --replace puts a new one in its place.")


def store(
    name: str, files: Mapping[str, Mapping[str, np.ndarray]], about: dict[str, Any], replace: bool = False
) -> Path:
    """Puts a data set into the cache, whole or not at all; returns its folder."""
    target = cache_folder() / name
    if not replace:
        refuse_to_replace(name, list(files))
    with _sentences(), _passing(name) as temporary:
        temporary.mkdir()
        for file, arrays in files.items():
            with (temporary / file).open("wb") as opened:
                np.savez_compressed(opened, **arrays)  # type: ignore[arg-type]
                opened.flush()
                os.fsync(opened.fileno())
        (temporary / ABOUT).write_text(json.dumps(about, indent=1) + "\n")
        with _passing(f"{name}.old") as old:
            if target.exists():
                os.replace(target, old)
            try:
                os.replace(temporary, target)
            except OSError:
                if old.exists():
                    os.replace(old, target)
                raise
    return target


@contextmanager
def _passing(name: str) -> Iterator[Path]:
    """A path in the cache under a passing name; whatever is there at the end, also after an error, is removed."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    if not cache_folder().stat().st_mode & WRITE_BITS:  # nobody may write: that binds the superuser too
        raise PermissionError(errno.EACCES, "it is read-only")
    path = cache_folder() / f".{name}.{uuid.uuid4().hex[:8]}.tmp"
    try:
        yield path
    finally:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


@contextmanager
def _sentences() -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise errors.StoreError(
            f"cannot write to {cache_folder()} ({problem.strerror or problem}); set {VARIABLE} to a folder of yours."
        ) from problem


@contextmanager
def passing_file(name: str) -> Iterator[Path]:
    """A path for a file that is needed for a while only, such as a download."""
    with _sentences(), _passing(name) as path:
        yield path
