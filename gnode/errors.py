"""Exceptions, and checks of arguments that raise them.

Every message is one sentence: the name of the argument, its value, and what is allowed or what to do. The checks here are
shared by all rooms, so that messages read alike.
"""

import difflib
import math
from collections.abc import Iterable
from typing import Any


class GnodeError(Exception):
    """Base class of all errors that the user can correct. The command line prints the message and exits with status 2.

    >>> issubclass(ArgumentError, GnodeError)
    True
    """


class ArgumentError(GnodeError, ValueError):
    """Raised for a wrong argument; the message names the argument, its value, and what is allowed.

    >>> positive("dt", -1)
    Traceback (most recent call last):
    ...
    gnode.errors.ArgumentError: dt is -1, but must be a positive number.
    """


class StoreError(GnodeError):
    """Raised if a run folder or a file in it is missing, broken, in use, or already exists.

    No example: it needs a folder.
    """


def nearest(value: str, allowed: Iterable[str]) -> str | None:
    """Returns the allowed name that is most similar to `value`, or None if no name is close.

    >>> nearest("eular", ["euler", "rk4"])
    'euler'
    """
    close = difflib.get_close_matches(value.lower(), list(allowed), n=1, cutoff=0.5)
    return close[0] if close else None


def one_of(name: str, value: Any, allowed: Iterable[str]) -> str:
    """Returns `value` if it is one of `allowed`.

    **Raises:** `ArgumentError` otherwise; its message suggests the nearest valid name.

    >>> one_of("method", "euler", ["euler", "rk4"])
    'euler'
    """
    names = list(allowed)
    if isinstance(value, str) and value in names:
        return value
    guess = nearest(str(value), names)
    hint = f" Did you mean {guess!r}?" if guess else ""
    raise ArgumentError(f"{name} is {shown(value)}, but must be one of: {', '.join(names)}.{hint}")


def positive(name: str, value: float) -> float:
    """Returns `value` if it is a finite number greater than zero, otherwise raises an `ArgumentError`."""
    if not _is_number(value) or not math.isfinite(value) or value <= 0:
        raise ArgumentError(f"{name} is {shown(value)}, but must be a positive number.")
    return value


def not_negative(name: str, value: float) -> float:
    """Returns `value` if it is zero or a positive finite number, otherwise raises an `ArgumentError`."""
    if not _is_number(value) or not math.isfinite(value) or value < 0:
        raise ArgumentError(f"{name} is {shown(value)}, but must be zero or a positive number.")
    return value


def finite(name: str, value: float) -> float:
    """Returns `value` if it is a finite number, otherwise raises an `ArgumentError`."""
    if not _is_number(value) or not math.isfinite(value):
        raise ArgumentError(f"{name} is {shown(value)}, but must be a number.")
    return value


def whole(name: str, value: int, at_least: int = 1) -> int:
    """Returns `value` as an int if it is a whole number of at least `at_least`, otherwise raises an `ArgumentError`.

    >>> whole("epochs", 3.0)
    3
    """
    if not _is_number(value) or not math.isfinite(value) or value != int(value) or value < at_least:
        raise ArgumentError(f"{name} is {shown(value)}, but must be a whole number of at least {at_least}.")
    return int(value)


def wholes(name: str, values: Any) -> tuple[int, ...]:
    """Returns `values` as a tuple if they are whole numbers greater than zero, such as the widths of layers.

    **Raises:** `ArgumentError` otherwise.

    >>> wholes("widths", [10, 20])
    (10, 20)
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} is {shown(values)}, but must be several whole numbers, such as (10,) or (10, 10).")
    return tuple(whole(name, value) for value in values)


def shown(value: Any) -> str:
    """Returns a value as error messages print it: its `repr`, unless that is long; then its type and shape.

    >>> shown("euler"), shown(list(range(1000)))
    ("'euler'", 'a list of length 1000')
    """
    shape = getattr(value, "shape", ())
    if shape:
        return f"an array of shape {tuple(shape)}"
    text = repr(value)
    if len(text) <= 200 and "\n" not in text:
        return text
    length = f" of length {len(value)}" if hasattr(value, "__len__") else ""
    return f"a {type(value).__name__}{length}"


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | str):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
