"""Reader of .npz files, without pickle."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gnode import errors
from gnode.tasks._formats.archives import ARCHIVE_ERRORS, refuse_expansion
from gnode.tasks._formats.npy import NUMBERS, TEXTS, read_npy
from gnode.tasks._formats.plain import plain_file, told

TEXT_ARRAYS = ("label_names", "names", "classes", "input_names", "target_names")
"""Arrays that hold texts; all others hold real numbers, but for `split`, which may hold either."""


def read_npz(
    path: Path, needed: Sequence[str], optional: Sequence[str] = (), what: str = "file"
) -> dict[str, np.ndarray]:
    """Reads named arrays of an .npz file. Other arrays in the file are not loaded.

    **Arguments:**

    - `path`: the file.
    - `needed`, `optional`: names of the arrays.
    - `what`: noun for the file in messages.

    **Raises:** `ArgumentError` if the file is missing or damaged, lacks a needed array, or if an array holds anything but
    real numbers (`TEXT_ARRAYS`: texts).
    """
    path = plain_file(path, what)
    try:
        with zipfile.ZipFile(path) as archive:
            stored = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            for name in needed:
                if name not in stored:
                    raise errors.ArgumentError(
                        f"it lacks the array {name!r}; it needs {' and '.join(map(repr, needed))}"
                    )
            return {name: _read(archive, stored[name], name) for name in (*needed, *optional) if name in stored}
    except errors.ArgumentError as problem:
        raise errors.ArgumentError(f"{what} {path} cannot be read: {str(problem).removesuffix('.')}.") from problem
    except zipfile.BadZipFile as problem:
        raise errors.ArgumentError(f"{what} {path} cannot be read as .npz ({told(problem)}).") from problem
    except ARCHIVE_ERRORS as problem:
        raise errors.ArgumentError(f"{what} {path} is broken or truncated ({told(problem)}).") from problem


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str) -> np.ndarray:
    refuse_expansion(entry)
    with archive.open(entry) as file:
        kinds = TEXTS + NUMBERS if name == "split" else TEXTS if name in TEXT_ARRAYS else NUMBERS
        return read_npy(file, entry.file_size, name, kinds)
