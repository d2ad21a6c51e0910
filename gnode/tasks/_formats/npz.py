"""Arrays in an .npz file, read without pickle."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gnode import errors


def read_npz(
    path: Path, needed: Sequence[str], optional: Sequence[str] = (), what: str = "file"
) -> dict[str, np.ndarray]:
    """The named arrays of an .npz file; a broken file or a missing array is one sentence.

    Arrays that are not named are not read, so a small one beside a large one costs little.
    """
    path = Path(path)
    if not path.is_file():
        raise errors.ArgumentError(f"{what} {path} does not exist.")
    try:
        with np.load(path, allow_pickle=False) as stored:
            found = {name: stored[name] for name in (*needed, *optional) if name in stored.files}
    except (OSError, ValueError, EOFError) as problem:
        raise errors.ArgumentError(f"{what} {path} cannot be read as .npz ({problem}).") from problem
    except Exception as problem:  # zipfile and zlib have errors of their own for a truncated archive
        raise errors.ArgumentError(f"{what} {path} is broken or truncated ({problem}).") from problem
    for name in needed:
        if name not in found:
            raise errors.ArgumentError(
                f"{what} {path} lacks the array {name!r}; it needs {' and '.join(map(repr, needed))}."
            )
    return found
