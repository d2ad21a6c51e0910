"""Reader of .npz files, without pickle."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gnode import errors


def read_npz(
    path: Path, needed: Sequence[str], optional: Sequence[str] = (), what: str = "file"
) -> dict[str, np.ndarray]:
    """Reads named arrays of an .npz file. Other arrays in the file are not loaded.

    **Arguments:**

    - `path`: the file.
    - `needed`, `optional`: names of the arrays.
    - `what`: noun for the file in messages.

    **Raises:** `ArgumentError` if the file is missing or damaged, or lacks a needed array.
    """
    path = Path(path)
    if not path.is_file():
        raise errors.ArgumentError(f"{what} {path} does not exist.")
    try:
        with np.load(path, allow_pickle=False) as stored:
            found = {name: stored[name] for name in (*needed, *optional) if name in stored.files}
    except (OSError, ValueError, EOFError) as problem:
        raise errors.ArgumentError(f"{what} {path} cannot be read as .npz ({problem}).") from problem
    except Exception as problem:  # zipfile and zlib raise their own exceptions for a truncated archive
        raise errors.ArgumentError(f"{what} {path} is broken or truncated ({problem}).") from problem
    for name in needed:
        if name not in found:
            raise errors.ArgumentError(
                f"{what} {path} lacks the array {name!r}; it needs {' and '.join(map(repr, needed))}."
            )
    return found
