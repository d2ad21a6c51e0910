"""Arrays as text: base64 of little-endian float32, which the page reads."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np


def packed(values: Any) -> dict[str, Any]:
    """Returns an array with its shape, as JSON holds it."""
    array = _single(values)
    return {"shape": list(array.shape), "data": base64.b64encode(array.tobytes()).decode("ascii")}


def packed_weights(arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Returns several arrays as one text, with the place of each: `offset` counts numbers, not bytes."""
    places, parts, offset = dict[str, Any](), list[bytes](), 0
    for name in sorted(arrays):
        array = _single(arrays[name])
        places[name] = {"offset": offset, "shape": list(array.shape)}
        parts.append(array.tobytes())
        offset += array.size
    return {"data": base64.b64encode(b"".join(parts)).decode("ascii"), "arrays": places}


def unpacked(stored: Mapping[str, Any]) -> np.ndarray:
    """Returns the array that `packed` was given, in float32."""
    return np.frombuffer(base64.b64decode(stored["data"]), "<f4").reshape(stored["shape"])


def _single(values: Any) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(values, "<f4").reshape(np.shape(values))
