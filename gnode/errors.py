"""Errors that say in one sentence what is wrong and what to do.

Every check of an argument goes through one of the small functions here, so that all of them read alike: the argument's
name, the value it had, and what is allowed.
"""

import difflib
import math
from collections.abc import Iterable
from typing import Any


class GnodeError(Exception):
    """Any problem that the user can mend. The command line prints its sentence and exits with status 2."""


class ArgumentError(GnodeError, ValueError):
    """A wrong argument: names it, its value, and what is allowed."""


class StoreError(GnodeError):
    """A run folder or a file in it is missing, broken, in use, or in the way."""


def nearest(value: str, allowed: Iterable[str]) -> str | None:
    """The allowed name most like `value`, or None if nothing is close."""
    close = difflib.get_close_matches(value.lower(), list(allowed), n=1, cutoff=0.5)
    return close[0] if close else None


def one_of(name: str, value: Any, allowed: Iterable[str]) -> str:
    """Returns `value` if it is one of `allowed`, else raises with the nearest valid name suggested."""
    names = list(allowed)
    if isinstance(value, str) and value in names:
        return value
    guess = nearest(str(value), names)
    hint = f" Did you mean {guess!r}?" if guess else ""
    raise ArgumentError(f"{name} is {value!r}, but must be one of: {', '.join(names)}.{hint}")


def positive(name: str, value: float) -> float:
    """Returns `value` if it is a finite number above zero."""
    if not _is_number(value) or not math.isfinite(value) or value <= 0:
        raise ArgumentError(f"{name} is {value!r}, but must be a positive number.")
    return value


def not_negative(name: str, value: float) -> float:
    """Returns `value` if it is a finite number, zero or above."""
    if not _is_number(value) or not math.isfinite(value) or value < 0:
        raise ArgumentError(f"{name} is {value!r}, but must be zero or a positive number.")
    return value


def finite(name: str, value: float) -> float:
    """Returns `value` if it is a finite number."""
    if not _is_number(value) or not math.isfinite(value):
        raise ArgumentError(f"{name} is {value!r}, but must be a number.")
    return value


def whole(name: str, value: int, at_least: int = 1) -> int:
    """Returns `value` as an int if it is a whole number of at least `at_least`."""
    if not _is_number(value) or not math.isfinite(value) or value != int(value) or value < at_least:
        raise ArgumentError(f"{name} is {value!r}, but must be a whole number of at least {at_least}.")
    return int(value)


def wholes(name: str, values: Any) -> tuple[int, ...]:
    """Returns `values` as a tuple if they are several whole numbers above zero, such as the widths of layers."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} is {values!r}, but must be several whole numbers, such as (10,) or (10, 10).")
    return tuple(whole(name, value) for value in values)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | str):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
