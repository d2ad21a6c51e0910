"""Reader of .npy files and of the members of .npz files. The header is checked before anything is allocated."""

import tokenize
from typing import IO

import numpy as np

from gnode import errors
from gnode.tasks._formats.plain import told

NUMBERS, TEXTS = "biuf", "U"
"""Kinds of dtypes: real numbers, and texts."""

BLOCK = 2**24
"""Bytes that are read at a time."""

HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
"""Readers of a header by its version. Version 3 is for structured arrays, which are not read."""

HEADER_ERRORS = (
    ValueError,
    TypeError,
    SyntaxError,
    tokenize.TokenError,
    EOFError,
    RecursionError,
    MemoryError,
    OverflowError,
)
"""Exceptions that numpy raises for a damaged header, which it reads as an expression of Python."""


def read_npy(file: IO[bytes], size: int, name: str, kinds: str = NUMBERS) -> np.ndarray:
    """Reads an array of numbers or texts.

    **Arguments:**

    - `file`: open at its beginning.
    - `size`: bytes of the file.
    - `name`: name of the array, for messages.
    - `kinds`: allowed kinds of its dtype.

    **Raises:** `ArgumentError` if it is damaged, of another kind, or does not hold what its header claims.

    >>> import io
    >>> content = io.BytesIO()
    >>> np.save(content, np.arange(3))
    >>> read_npy(io.BytesIO(content.getvalue()), len(content.getvalue()), "a").tolist()
    [0, 1, 2]
    """
    shape, by_column, dtype = _header(file, name)
    start = file.tell()
    if dtype.kind not in kinds or dtype.itemsize == 0:
        wanted = "real numbers" if kinds == NUMBERS else "texts"
        raise errors.ArgumentError(
            f"{name} cannot be read, because it is an array of {errors.shortened(str(dtype))} and not of {wanted}."
        )
    count = 1
    for length in shape:  # whole numbers of Python, which cannot overflow
        count *= length
    if any(length < 0 for length in shape) or count * dtype.itemsize != size - start:
        raise errors.ArgumentError(
            f"{name} claims to be an array of shape {errors.shown(shape)}, but holds {size - start} bytes; it is damaged or "
            f"truncated."
        )
    errors.affordable(name, shape, size)
    values = np.empty(count, dtype)
    _read_into(values.view(np.uint8), file, name)
    return values.reshape(shape, order="F" if by_column else "C")


def _read_into(values: np.ndarray, file: IO[bytes], name: str) -> None:
    """Fills an array of bytes from a file, block by block, so that the content is in memory once."""
    done = 0
    while done < len(values):
        block = file.read(min(BLOCK, len(values) - done))
        if not block:
            raise errors.ArgumentError(f"{name} holds {done} of {len(values)} bytes; it is damaged or truncated.")
        values[done : done + len(block)] = np.frombuffer(block, np.uint8)
        done += len(block)


def _header(file: IO[bytes], name: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Returns the shape, whether columns come first, and the dtype."""
    try:
        version = np.lib.format.read_magic(file)  # type: ignore[arg-type]
        if version not in HEADERS:
            raise ValueError(f"version {version} of the format is not supported")
        return HEADERS[version](file)  # type: ignore[arg-type]
    except HEADER_ERRORS as problem:
        raise errors.ArgumentError(f"{name} cannot be read as .npy ({told(problem)}).") from problem
