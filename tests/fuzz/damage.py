"""Damage to bytes, arrays and tables, drawn from a generator of random numbers."""

import random

import numpy as np

NUMBERS = [np.nan, np.inf, -np.inf, 1e39, -1e39, 1e308, 5e-324, -1.0, 0.0, 2.0**62, 0.5, 1e20]
CELLS = [
    "",
    " ",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "x",
    "=1+1",
    "\x00",
    "é",
    "1,5",
    '"',
    '"a\nb"',
    "١",
    "1_0",
    "0x1f",
    "9" * 400,
]
CELLS += ["-1", "2e62", "a" * 200_000, "TRUE", "\t", "'", "1e-320", "NULL"]
OTHER_DTYPES = [
    "U",
    "S",
    "V",
    "O",
    "c16",
    "c8",
    "M8",
    "m8",
    "bool",
    "u1",
    "i1",
    "i8",
    "u8",
    "f2",
    "f8",
    "g",
    "struct",
    "big",
]
NAMES = ["", "trial", "label", "time", "x", "a\nb", "n" * 3000, "[red]", "\x1b[31m"]


def damage_bytes(rng: random.Random, content: bytes, within: int | None = None) -> bytes:
    """Cuts, flips, overwrites, doubles or removes some bytes, within the first ones if `within` is given."""
    data = bytearray(content)
    length = max(1, min(len(data), within or len(data)))
    if rng.random() < 0.3:  # headers are where the damage is most interesting
        length = min(length, 200)
    at = rng.randrange(length)
    how = rng.choice(
        ["cut", "cut one", "flip", "flip", "flips", "zeros", "ones", "remove", "double", "append", "empty", "number"]
    )
    if how == "cut":
        del data[at:]
    elif how == "cut one":
        del data[-1:]
    elif how in ("flip", "flips"):
        for _ in range(1 if how == "flip" else rng.randrange(2, 20)):
            data[rng.randrange(length)] ^= 1 << rng.randrange(8)
    elif how in ("zeros", "ones"):
        size = min(rng.choice([1, 2, 4, 8, 64]), len(data) - at)
        data[at : at + size] = (b"\x00" if how == "zeros" else b"\xff") * size
    elif how == "remove":
        del data[at : at + rng.randrange(1, 50)]
    elif how == "double":
        data[at:at] = data[at : at + rng.randrange(1, 50)]
    elif how == "append":
        data += rng.randbytes(rng.randrange(1, 50))
    elif how == "number":  # a size or a count, as headers hold them
        data[at : at + 4] = rng.choice([0, 1, 7, 2**15, 2**31 - 1, 2**32 - 1]).to_bytes(
            4, rng.choice(["little", "big"])
        )
    else:
        data.clear()
    return bytes(data)


def damage_array(rng: random.Random, values: np.ndarray) -> np.ndarray:
    """Changes the kind, the shape or some values of an array."""
    how = rng.choice(["dtype", "dtype", "shape", "shape", "value", "value", "value"])
    return {"dtype": _other_dtype, "shape": _other_shape, "value": _odd_value}[how](rng, values)


def _other_dtype(rng: random.Random, values: np.ndarray) -> np.ndarray:
    dtype = rng.choice(OTHER_DTYPES)
    if dtype == "O":
        return np.array([{"a": 1}, None, "x"], object)
    if dtype == "struct":
        return np.zeros(values.shape, [("a", "f4"), ("b", "U3")])
    if dtype == "V":
        return np.zeros(values.shape, "V8")
    if dtype in ("M8", "m8"):
        return np.zeros(values.shape, f"{dtype}[s]")
    if dtype == "big":
        return values if values.dtype.kind == "U" else values.astype(values.dtype.newbyteorder(">"))
    with np.errstate(all="ignore"):
        return np.ones(values.shape, dtype) if values.dtype.kind in "US" else values.astype(dtype)


def _other_shape(rng: random.Random, values: np.ndarray) -> np.ndarray:
    how = rng.choice(["first", "half", "none", "more", "flat", "less", "twice", "columns", "last"])
    if values.ndim == 0:
        return np.full(rng.choice([(1,), (12, 5), (12,), (0,), (3, 2, 1)]), values)
    return {
        "first": lambda: values[0],
        "half": lambda: values[: len(values) // 2],
        "none": lambda: values[:0],
        "more": lambda: values[..., None],
        "flat": lambda: values.ravel(),
        "less": lambda: values[:-1],
        "twice": lambda: np.concatenate([values, values]),
        "columns": lambda: np.asfortranarray(values.T),
        "last": lambda: values[..., :0],
    }[how]()


def _odd_value(rng: random.Random, values: np.ndarray) -> np.ndarray:
    if values.dtype.kind not in "iuf":
        return values
    values = np.array(values)
    with np.errstate(all="ignore"):
        if values.dtype.kind in "iu":
            values = values.astype(np.int64)
            number = rng.choice([-1, 0, 1, 2**31, 2**62, -(2**63), 127, 10**9])
        else:
            number = rng.choice(NUMBERS)
        if rng.random() < 0.3 or values.size == 0:
            values[...] = number
        else:
            values.flat[rng.randrange(values.size)] = number
    return values


def damage_table(rng: random.Random, text: str, mark: str = ",") -> bytes:
    """Changes cells, names, rows, the separator or the encoding of a table; or its bytes."""
    how = rng.choice(["cell", "cell", "cell", "name", "row", "mark", "encoding", "bytes", "order", "quote"])
    rows = [line.split(mark) for line in text.splitlines()]
    row = rng.randrange(len(rows))
    if how == "cell":
        for _ in range(rng.randrange(1, 4)):
            row = rng.randrange(len(rows))
            rows[row][rng.randrange(len(rows[row]))] = rng.choice(CELLS)
    elif how == "name":
        rows[0][rng.randrange(len(rows[0]))] = rng.choice(NAMES)
    elif how == "row":
        rows[row] = rng.choice([rows[row][:-1], [*rows[row], "1"], [], [""], rows[0], rows[row] * 3])
    elif how == "order":
        rng.shuffle(rows)
    elif how == "quote":
        rows[row][0] = '"' + rows[row][0]
    text = "\n".join((rng.choice(";\t |") if how == "mark" else mark).join(cells) for cells in rows) + "\n"
    if how == "encoding":
        return text.encode(rng.choice(["utf-16", "utf-32", "utf-8-sig", "cp037"]))
    content = text.encode("utf-8", errors="surrogatepass")
    return damage_bytes(rng, content) if how == "bytes" else content
