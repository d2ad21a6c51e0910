"""Reader of MATLAB files of version 5 to 7: arrays of numbers, texts, cells and structs.

scipy's reader ends the process on some damaged files. This one takes every length from the file, checks it against the bytes
that are there, and skips what it does not know (sparse arrays, objects, functions).
"""

import struct
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gnode import errors

HEADER = 128
"""Bytes before the first element."""
MAX_DEPTH = 20
"""How deeply cells and structs may be nested."""
MAX_INFLATED = 1032
"""How many times its size compressed data can have at most."""

MATRIX, COMPRESSED = 14, 15
"""Types of elements that hold other elements."""
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
"""numpy's types of the elements that hold numbers."""
TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
"""Encodings of the elements that hold texts."""
CELL, STRUCT, CHAR = 1, 2, 4
"""Classes of arrays; 6 to 15 are numbers."""


class _Element(NamedTuple):
    kind: int
    data: memoryview


def read_mat(content: bytes, names: tuple[str, ...]) -> dict[str, Any]:
    """Reads the named variables.

    **Returns:** for an array of numbers a numpy array, for a text a str, for cells a list (columns first), for a struct a
    dictionary of its fields, and None for anything else.

    **Raises:** `ArgumentError` if the file is damaged, or of another version.
    """
    mark = content[HEADER - 2 : HEADER]
    if mark not in (b"IM", b"MI"):
        raise errors.ArgumentError("it is not a MATLAB file of version 5 to 7, or is truncated")
    order = "<" if mark == b"IM" else ">"
    found: dict[str, Any] = {}
    for element in _elements(memoryview(content)[HEADER:], order):
        if element.kind == COMPRESSED:
            element = next(_elements(_inflated(element.data), order), element)
        if element.kind == MATRIX:
            name, value = _array(element.data, order, 0)
            if name in names:
                found[name] = value
    return found


def _inflated(data: memoryview) -> memoryview:
    try:
        return memoryview(zlib.decompressobj().decompress(data, MAX_INFLATED * len(data) + 1024))
    except zlib.error as problem:
        raise errors.ArgumentError(f"compressed data are damaged ({problem})") from problem


def _elements(data: memoryview, order: str) -> Iterator[_Element]:
    """Yields the elements that follow each other in some bytes."""
    at = 0
    while at < len(data):
        if len(data) - at < 8:
            raise errors.ArgumentError("it is truncated within an element")
        kind, size = struct.unpack_from(f"{order}II", data, at)
        if kind >> 16:  # up to four bytes of data lie in the second half of the tag
            kind, size, start, end = kind & 0xFFFF, kind >> 16, at + 4, at + 8
        else:
            start = at + 8
            end = start + size if kind == COMPRESSED else start + (size + 7) // 8 * 8
        if size > len(data) - start or (end == at + 8 and size > 4):
            raise errors.ArgumentError(f"an element claims {size} bytes, but {len(data) - start} follow")
        yield _Element(kind, data[start : start + size])
        at = end


def _array(data: memoryview, order: str, depth: int) -> tuple[str, Any]:
    """Returns the name and the value of an array."""
    if depth > MAX_DEPTH:
        raise errors.ArgumentError("its cells are nested too deeply")
    parts = _elements(data, order)
    flags, dimensions, name = (next(parts, None) for _ in range(3))
    if flags is None:  # an empty array
        return "", np.empty((0, 0))
    if dimensions is None or name is None or len(flags.data) < 4:
        raise errors.ArgumentError("an array has no dimensions or no name")
    kind = struct.unpack_from(f"{order}I", flags.data)[0] & 0xFF
    shape = tuple(_numbers(dimensions, order).tolist())
    return bytes(name.data).decode("latin-1"), _value(kind, shape, parts, order, depth)


def _value(kind: int, shape: tuple[int, ...], parts: Iterator[_Element], order: str, depth: int) -> Any:
    if kind == CELL:
        return [_array(part.data, order, depth + 1)[1] for part in parts if part.kind == MATRIX]
    if kind == STRUCT:
        return _struct(parts, order, depth)
    if kind == CHAR:
        part = next(parts, _Element(16, memoryview(b"")))
        return bytes(part.data).decode(_encoding(part, order), errors="replace")
    if not 6 <= kind <= 15:
        return None
    values = _numbers(next(parts, _Element(9, memoryview(b""))), order)
    count = 1
    for length in shape:
        count *= length
    if count != len(values) or any(length < 0 for length in shape) or len(shape) > 32:
        raise errors.ArgumentError(f"an array of shape {errors.shown(shape)} holds {len(values)} numbers")
    if next(parts, None) is not None:  # the imaginary part
        raise errors.ArgumentError("an array holds complex numbers")
    return values.reshape(shape, order="F")


def _struct(parts: Iterator[_Element], order: str, depth: int) -> dict[str, Any]:
    """Returns the fields of a struct; of an array of structs those of the first one."""
    width, names = next(parts, None), next(parts, None)
    if width is None or names is None or len(width.data) != 4:
        raise errors.ArgumentError("a struct has no names of fields")
    size = struct.unpack(f"{order}i", width.data)[0]
    if size < 1:
        raise errors.ArgumentError(f"a struct has fields with names of {size} bytes")
    text = bytes(names.data)
    fields = [text[at : at + size].split(b"\0")[0].decode("latin-1") for at in range(0, len(text), size)]
    return {field: _array(part.data, order, depth + 1)[1] for field, part in zip(fields, parts) if part.kind == MATRIX}


def _encoding(part: _Element, order: str) -> str:
    found = TEXTS.get(part.kind, "latin-1")
    return f"{found}-{'le' if order == '<' else 'be'}" if found in ("utf-16", "utf-32") else found


def _numbers(part: _Element, order: str) -> np.ndarray:
    if part.kind not in NUMBERS:
        raise errors.ArgumentError(f"an element of type {part.kind} stands where numbers belong")
    dtype = np.dtype(order + NUMBERS[part.kind])
    if len(part.data) % dtype.itemsize:
        raise errors.ArgumentError(f"{len(part.data)} bytes are not a whole number of values of {dtype.itemsize} bytes")
    return np.frombuffer(part.data, dtype).astype(dtype.newbyteorder("="))
