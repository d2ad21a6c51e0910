"""Whether a value is of the kind that an annotation names, and what the annotation allows, in words."""

import collections.abc
import functools
import math
import os
import pathlib
import types
import typing
from collections.abc import Callable
from typing import Any, Literal

__all__ = ["described", "dtype_kind", "fits", "is_key", "is_traced"]

_ELEMENTS = 1000
"""How many elements of a long sequence are looked at: its kind shows in the first ones."""


_PLAIN = (str, float, int, bool)


@functools.cache  # typing takes longer for this than all checks together
def _parts(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    return typing.get_origin(hint), typing.get_args(hint)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of the annotated kind."""
    if hint is Any:  # a class since Python 3.11, of which nothing is an instance
        return True
    if type(value) is hint and hint in _PLAIN:
        return True
    origin, inside = _parts(hint)
    if origin in (typing.Union, types.UnionType):
        if any(fits(value, one) for one in inside):
            return True
        return _is_array_like(hint) and isinstance(value, list | tuple) and _is_numeric(value)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in inside)
    if origin is typing.Annotated:
        return fits(value, inside[0])
    if hint is None or hint is type(None):
        return value is None
    if hasattr(hint, "dim_str"):
        return _is_array_of(value, hint)
    kind = origin or hint
    if not isinstance(kind, type):  # Any, a type variable
        return not callable(kind) or kind is not Callable or callable(value)
    return _is_a(value, kind, inside)


def _is_a(value: Any, kind: type, inside: tuple[Any, ...]) -> bool:
    """Whether a value is of a class, whose elements, if it has any, are of the kinds `inside`."""
    if kind is bool:
        return isinstance(value, bool) or (dtype_kind(value) == "b" and _is_single(value))
    if kind in (int, float, complex):
        return _is_number(value, kind)
    if kind is str:
        return isinstance(value, str)
    if _is_path(kind):
        return isinstance(value, os.PathLike)
    if kind is collections.abc.Callable:
        return callable(value)
    if issubclass(kind, collections.abc.Mapping):
        return isinstance(value, collections.abc.Mapping) and _elements_fit(value, inside)
    if issubclass(kind, tuple) and len(inside) > 0 and Ellipsis not in inside:
        return _is_several(value) and len(value) == len(inside) and all(map(fits, value, inside))
    if kind in (collections.abc.Sequence, collections.abc.Iterable, list, tuple):
        if kind is collections.abc.Iterable and isinstance(value, collections.abc.Iterator):
            return True  # its elements show when it is used
        if inside and hasattr(inside[0], "dim_str") and dtype_kind(value):
            return False  # several arrays are not one array with an axis more
        whole = list(value)[:_ELEMENTS] if _is_several(value) else None
        return whole is not None and (not inside or all(fits(one, inside[0]) for one in whole))
    if _names_array(kind):
        return isinstance(value, kind) and dtype_kind(value) in ("b", "i", "u", "f", "c", "V", "traced")
    return isinstance(value, kind)


def _elements_fit(value: collections.abc.Mapping[Any, Any], inside: tuple[Any, ...]) -> bool:
    return not inside or all(fits(name, inside[0]) and fits(one, inside[1]) for name, one in value.items())


def _is_path(kind: type) -> bool:
    return kind is os.PathLike or issubclass(kind, pathlib.PurePath)


def _is_several(value: Any) -> bool:
    """Whether a value is a finite sequence of things, and not a text."""
    if isinstance(value, str | bytes | collections.abc.Mapping | set | frozenset | type):
        return False
    if not hasattr(value, "__len__") or dtype_kind(value) not in ("", "b", "i", "u", "f", "c", "V", "U", "O"):
        return False
    return isinstance(value, collections.abc.Iterable) and getattr(value, "shape", (0,)) != ()


def _is_number(value: Any, kind: type) -> bool:
    if isinstance(value, bool | str | bytes | list | tuple) or not _is_single(value):
        return False
    if is_traced(value):
        return True
    if dtype_kind(value) not in ("", "i", "u", "f", "V", "c" if kind is complex else ""):
        return False
    if kind is complex and (isinstance(value, complex) or dtype_kind(value) == "c"):
        return True
    try:
        number = float(value)
    except (TypeError, ValueError):
        return False
    except OverflowError:  # a whole number beyond any float: the function says what its range is
        return True
    return kind is not int or not math.isfinite(number) or number == int(number)


def _is_single(value: Any) -> bool:
    return getattr(value, "shape", ()) == ()


def dtype_kind(value: Any) -> str:
    """The kind of an array's values: one letter of numpy's, "traced" inside a compiled function, "" without an array."""
    dtype = getattr(value, "dtype", None)
    if dtype is None:
        return ""
    if _is_single(value) and is_traced(value):
        return "traced"
    if getattr(getattr(dtype, "type", None), "__name__", "") in ("void", "record"):
        return "void"  # other types of kind V are bfloat16 and its like, and the keys of jax
    return getattr(dtype, "kind", "V")


def is_traced(value: Any) -> bool:
    """Whether a value is an array inside a function that jax compiles or differentiates."""
    return type(value).__name__.endswith("Tracer")


def _is_array_like(hint: Any) -> bool:
    """Whether an annotation is numpy's or jax's idea of whatever can be made an array."""
    inside = typing.get_args(hint)
    return float in inside and any(map(_names_array, inside))


def _names_array(kind: Any) -> bool:
    """Whether an annotation is the class of arrays of numpy or of jax."""
    return getattr(kind, "__name__", "").rsplit(".", 1)[-1] in ("Array", "ndarray")


def is_key(hint: Any) -> bool:
    """Whether an annotation is that of random keys: an array of jax, or a whole number as the seed."""
    inside = typing.get_args(hint)
    return int in inside and float not in inside and any(map(_names_array, inside))


def _is_numeric(value: Any) -> bool:
    import numpy as np

    try:
        return np.asarray(value).dtype.kind in "biufc"
    except (ValueError, TypeError):
        return False


def _is_array_of(value: Any, hint: Any) -> bool:
    """Whether a value is an array of numbers with as many dimensions as the annotation names."""
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        return False
    real = not any("complex" in str(name) for name in hint.dtypes)
    if dtype_kind(value) not in ("b", "i", "u", "f", "V", "traced", "f" if real else "c"):
        return False
    names = hint.dim_str.split()
    return any("..." in name or "*" in name for name in names) or len(value.shape) == len(names)


_WORDS: dict[Any, str] = {
    bool: "True or False",
    int: "a whole number",
    float: "a number",
    complex: "a number",
    str: "a text",
    type(None): "None",
    None: "None",
    collections.abc.Callable: "a function",
}


def described(hint: Any) -> str:
    """Says in words what an annotation allows."""
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if _is_array_like(hint):
            return "a number or an array of numbers"
        if is_key(hint):
            return "a whole number or a jax key (jax.random.key(0))"
        return " or ".join(dict.fromkeys(described(one) for one in inside))
    if origin is Literal:
        return f"one of: {', '.join(map(repr, inside))}"
    if origin is typing.Annotated:
        return described(inside[0])
    if hasattr(hint, "dim_str"):
        names = ", ".join(hint.dim_str.split())
        return f"an array of numbers of shape ({names})" if names else "a single number of an array library"
    kind = origin or hint
    if kind in _WORDS:
        return _WORDS[kind]
    name = getattr(kind, "__name__", str(kind))
    if _names_array(kind):
        return "an array of numbers"
    if not isinstance(kind, type):
        return name
    if _is_path(kind):
        return "a path"
    if issubclass(kind, collections.abc.Mapping):
        return "a dictionary"
    if issubclass(kind, tuple) and inside and Ellipsis not in inside:
        return f"{len(inside)} values ({', '.join(map(described, inside))})"
    if kind in (collections.abc.Sequence, collections.abc.Iterable, list, tuple):
        return f"a sequence, each element {described(inside[0])}" if inside else "a sequence"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
