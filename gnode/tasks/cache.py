"""The cache of data sets: the folder `GNODE_DATA`, or the platform's folder for caches.

A data set is a folder of compact `.npz` files. It is written under a temporary name and renamed when it is complete, so the
cache never holds an incomplete data set, and a data set that is replaced is there at every moment (`_replacing`). The
compact files may also lie in the cache folder itself, which may be read-only.
"""

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, TypedDict

import numpy as np

from gnode import errors, files, user_folders
from gnode.schema import StoredFile
from gnode.tasks import _replacing

VARIABLE = "GNODE_DATA"
"""Environment variable that names the cache folder."""
CHECKSUMS = "checksums.json"
"""File in the cache with the SHA-256 of the first download from each URL, for originals without a published checksum."""
ABOUT = "about.json"
"""File in the folder of a data set that records its source and licence."""


class AboutRecord(TypedDict):
    """`about.json`."""

    name: Annotated[str, "name of the data set"]
    licence: Annotated[str, "its licence"]
    made_from: Annotated[dict[str, Any], "the address or the files it was made from, with their SHA-256"]


ABOUT_FILE = StoredFile(ABOUT, "name, licence and source of the data set", AboutRecord)
FILES: tuple[StoredFile[Any], ...] = (
    ABOUT_FILE,
    StoredFile("*.npz", "the data in compact form; which arrays depends on the data set"),
    StoredFile(f"../{CHECKSUMS}", "SHA-256 of the first download from each address"),
)


def cache_folder() -> Path:
    """Returns the folder of the cache, which may not exist yet.

    **Raises:** `StoreError` if there is no home folder to look in.
    """
    named = os.environ.get(VARIABLE)
    try:
        if named:
            return Path(named).expanduser()
        return user_folders.cache_folder()
    except RuntimeError as problem:
        raise errors.StoreError(
            f"the home folder is not known ({problem}); set {VARIABLE} to a folder for the data sets."
        ) from problem


def find(name: str, file_names: Sequence[str]) -> list[Path] | None:
    """Returns the paths of the files of a data set, in its own folder or in the cache folder; None if it is not there.

    If a process was killed while it replaced the data set, the one that it set aside is found.
    """
    target = cache_folder() / name
    aside = _replacing.set_aside(target)
    if not target.exists() and aside.exists():
        with suppress(OSError):  # the cache may be read-only; the files are read where they are
            if _replacing.is_writable(target.parent):
                with _replacing.locked(target.parent):
                    _replacing.restore(target)
    for folder in (target, aside, target.parent):
        paths = [folder / file for file in file_names]
        if all(path.is_file() for path in paths):
            return paths
    return None


def tidy(names: Sequence[str], folder: Path | None = None) -> None:
    """Removes what killed processes have left of the named data sets, and restores those that they set aside.

    **Arguments:** `names`; `folder`, by default that of the cache.
    """
    with suppress(OSError, errors.StoreError):  # what cannot be removed now is removed another time
        _replacing.tidy(cache_folder() if folder is None else folder, [*names, CHECKSUMS])


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
    with temporary_folder(name) as complete:
        for file, arrays in contents.items():
            files.write_arrays(complete / file, arrays, compressed=True)
        files.write_json(complete / ABOUT, about)
        _replacing.put_in_place(complete, target)
    return target


@contextmanager
def writing() -> Generator[None, None, None]:
    """Creates the cache folder and turns operating-system errors inside the block into a `StoreError` with a remedy."""
    folder = cache_folder()
    try:
        with files.writing(folder):
            if not _replacing.is_writable(folder):
                raise errors.StoreError(
                    f"cannot write to {folder}: it is read-only; set {VARIABLE} to a folder of yours."
                )
            yield
    except errors.StoreError as problem:
        if not isinstance(
            problem.__cause__, OSError
        ):  # raised by another check, or by a `writing` block inside this one
            raise
        raise errors.StoreError(f"{str(problem).removesuffix('.')}; set {VARIABLE} to a folder of yours.") from problem


@contextmanager
def temporary_folder(name: str) -> Generator[Path, None, None]:
    """Gives an empty folder in the cache, and removes it at the end if it is still there, also after an error."""
    with writing(), _replacing.temporary_folder(cache_folder() / name) as path:
        yield path
