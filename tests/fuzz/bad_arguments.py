"""Values that do not suit an argument, by the kind of the argument."""

import dataclasses
import inspect
import os
from collections.abc import Mapping
from typing import Any

import numpy as np


class OwnError(Exception):
    """What the user's functions below raise."""


class Odd:
    """An object of no use to any function."""

    def __repr__(self) -> str:
        return "Odd()"


class Unprintable:
    """An object whose repr has many lines."""

    def __repr__(self) -> str:
        return "\n".join(["a line"] * 50)


def raises(*args: Any, **kwargs: Any) -> Any:
    """A user's function that fails."""
    raise OwnError("the function of the user failed")


def returns_text(*args: Any, **kwargs: Any) -> str:
    """A user's function that returns something of no use."""
    return "text"


def returns_ones(*args: Any, **kwargs: Any) -> Any:
    """A user's function that returns an array of a shape that nothing has."""
    return np.ones((2, 7, 1, 3))


def takes_nothing() -> float:
    """A user's function that takes no argument."""
    return 0.0


@dataclasses.dataclass(frozen=True)
class Value:
    """A value for an argument; `sure` if no function can take it for an argument of that kind."""

    label: str
    value: Any
    sure: bool = False


def _values(sure: bool, **values: Any) -> list[Value]:
    return [Value(label, value, sure) for label, value in values.items()]


_ODD = _values(True, object=Odd(), unprintable=Unprintable(), type=Odd, module=os, nothing_real=NotImplemented)
_TEXTS = _values(True, text="three", digits="3", empty_text="", long_text="x" * 10_000, bytes=b"3", markup="[bold]\n\0")
_LISTS = _values(True, texts=["a", "b"], ragged=[[1.0], [1.0, 2.0]], mapping={"a": 1}, empty_mapping={}, a_set={1, 2})
_ARRAYS = _values(
    True,
    text_array=np.array(["a", "b"]),
    object_array=np.array([Odd(), None], dtype=object),
    void_array=np.zeros(2, dtype="V4"),
    record_array=np.zeros(2, dtype=[("x", float)]),
    date_array=np.zeros(2, dtype="M8[s]"),
)
_NUMBERS = _values(
    False,
    nan=float("nan"),
    inf=float("inf"),
    minus_inf=float("-inf"),
    zero=0,
    minus_one=-1,
    half=0.5,
    minus_small=-1e-300,
    tiny=1e-300,
    large=1e20,
    larger=1e300,
    over_int32=2**31,
    over_int64=2**63,
    near_int64=2**62,
    beyond_floats=10**400,
    minus_large=-(2**63),
    minus_beyond=-(10**400),
    numpy_nan=np.float32("nan"),
    numpy_int=np.int64(-3),
    single=np.array(float("inf")),
)
_COMPLEX = _values(True, imaginary=1j, numpy_imaginary=np.complex64(1j))
_FUNCTIONS = _values(
    False, raises=raises, returns_text=returns_text, returns_ones=returns_ones, takes_nothing=takes_nothing
)
_BAD_ARRAYS = _values(
    False,
    nan_1=np.full(3, np.nan),
    inf_2=np.full((2, 2), np.inf),
    empty_1=np.zeros(0),
    empty_2=np.zeros((0, 3)),
    empty_3=np.zeros((2, 0, 2)),
    ones_0=np.ones(()),
    ones_1=np.ones(5),
    ones_2=np.ones((3, 5)),
    ones_3=np.ones((2, 3, 5)),
    ones_5=np.ones((1, 2, 3, 1, 2)),
    whole=np.arange(4),
    truths=np.array([True, False]),
    huge=np.full(3, 1e308),
    half_precision=np.full(3, 6e4, dtype=np.float16),
    minus=-np.ones(3),
    complexes=np.ones(3) * 1j,
    empty_list=[],
    list_of_lists=[[1.0, 2.0], [3.0, 4.0]],
    list_of_numbers=[1.0, 2.0],
    nones=[None, None],
    mixed=[1.0, "a"],
)
_NAMES = _values(
    False,
    no_name="nosuchname",
    empty="",
    spaces="  ",
    upper="TANH",
    long="x" * 10_000,
    null="a\0b",
    markup="[/red]",
    surrogate="\udc80",
)
_NOT_TEXTS = _values(True, bytes=b"tanh", number=3, real=0.5, truth=True, mapping={"a": 1})
_NOT_TRUTHS = _values(
    True,
    no="no",
    yes="yes",
    false="False",
    empty_text="",
    two=2,
    real=0.5,
    not_a_number=float("nan"),
    several=[True, False],
)
_NONE = [Value("none", None)]
_TRUTHS = _values(False, true=True, false=False)

BY_KIND: dict[str, list[Value]] = {
    "truth": _ODD + _NOT_TRUTHS + _LISTS + _ARRAYS + _NONE,
    "number": _ODD + _TEXTS + _LISTS + _ARRAYS + _NUMBERS + _COMPLEX + _FUNCTIONS + _BAD_ARRAYS + _NONE + _TRUTHS,
    "text": _ODD + _NOT_TEXTS + _LISTS + _ARRAYS + _NAMES + _FUNCTIONS + _NONE,
    "array": _ODD + _TEXTS + _LISTS + _ARRAYS + _NUMBERS + _BAD_ARRAYS + _FUNCTIONS + _NONE + _TRUTHS,
    "sequence": _ODD + _TEXTS + _LISTS + _ARRAYS + _NUMBERS + _BAD_ARRAYS + _FUNCTIONS + _NONE + _TRUTHS,
    "mapping": _ODD + _TEXTS + _ARRAYS + _NUMBERS + _BAD_ARRAYS + _LISTS + _NONE,
    "function": _ODD + _NUMBERS + _BAD_ARRAYS + _FUNCTIONS + _LISTS + _ARRAYS + _NONE + _TRUTHS,
    "path": _ODD + _NUMBERS + _LISTS + _ARRAYS + _NAMES + _NONE + _TRUTHS,
    "object": _ODD + _TEXTS + _LISTS + _ARRAYS + _NUMBERS + _FUNCTIONS + _BAD_ARRAYS + _NONE + _TRUTHS,
}

ODD = {value.label for value in _ODD}
"""The labels of what suits no argument at all."""

_SEVERAL = {value.label for value in _TEXTS + _LISTS}
MAY_SUIT: dict[str, set[str]] = {
    "path": {value.label for value in BY_KIND["path"]} - ODD,
    "object": _SEVERAL,  # which may be given by name
    "sequence": _SEVERAL | {"text_array"},
    "mapping": {value.label for value in _LISTS},
    "function": {"type"},  # which can be called
}
"""Labels of values that are surely wrong for a number, but not for an argument of this kind."""


def kind_of(value: Any) -> str:
    """The kind of an argument, by the value that a valid call gives it."""
    if isinstance(value, bool | np.bool_):
        return "truth"
    is_single = getattr(value, "shape", None) == () and hasattr(value, "__float__")
    if is_single or isinstance(value, int | float | np.number):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, os.PathLike):
        return "path"
    if isinstance(value, Mapping):
        return "mapping"
    if isinstance(value, list | tuple):
        return "sequence"
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return "array"
    return "function" if isinstance(value, np.ufunc) or inspect.isroutine(value) or inspect.isclass(value) else "object"
