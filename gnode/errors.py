"""Exceptions, and checks of arguments that raise them.

Every message is one sentence: the name of the argument, its value, and what is allowed or what to do. The checks here are
shared by all rooms, so that messages read alike.
"""

import difflib
import functools
import math
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

LARGEST_COUNT = 2**31 - 1
"""What the whole numbers of a compiled program hold."""
_LONGEST_LIST = 350
"""In characters, of names in a message."""
LARGEST_SEED = 2**32 - 1
"""jax drops the higher bits of a seed, so that larger ones would repeat the draws of smaller ones."""


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


class CallError(ArgumentError, TypeError):
    """Raised for an argument that is missing, unknown or too many, where Python itself would raise a TypeError.

    >>> issubclass(CallError, TypeError)
    True
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
    raise ArgumentError(f"{name} is {shown(value)}, but must be one of: {_listed(names)}.{hint}")


def _listed(names: Sequence[str]) -> str:
    """Returns names as a message lists them: as many as make up a sentence."""
    text = ", ".join(names)
    if len(text) <= _LONGEST_LIST:
        return text
    return f"{text[:_LONGEST_LIST].rsplit(', ', 1)[0]}, ... ({len(names)} in all)"


def positive(name: str, value: float) -> float:
    """Returns `value` if it is a finite number greater than zero, otherwise raises an `ArgumentError`."""
    if not _is_finite(value) or value <= 0:
        raise ArgumentError(f"{name} is {shown(value)}, but must be a positive number.")
    return _plain(value)


def not_negative(name: str, value: float) -> float:
    """Returns `value` if it is zero or a positive finite number, otherwise raises an `ArgumentError`."""
    if not _is_finite(value) or value < 0:
        raise ArgumentError(f"{name} is {shown(value)}, but must be zero or a positive number.")
    return _plain(value)


def finite(name: str, value: float) -> float:
    """Returns `value` if it is a finite number, otherwise raises an `ArgumentError`."""
    if not _is_finite(value):
        raise ArgumentError(f"{name} is {shown(value)}, but must be a number.")
    return _plain(value)


def share(name: str, value: float, *, zero: bool = True) -> float:
    """Returns `value` if it is a number from 0 to 1; with `zero` False, if it is above 0 and at most 1.

    **Raises:** `ArgumentError` otherwise.

    >>> share("density", 0.5)
    0.5
    """
    if not _is_finite(value) or not 0 <= value <= 1 or (value == 0 and not zero):
        allowed = "a number from 0 to 1" if zero else "a number above 0 and at most 1"
        raise ArgumentError(f"{name} is {shown(value)}, but must be {allowed}.")
    return float(_plain(value))


def whole(name: str, value: int, at_least: int = 1, at_most: int = LARGEST_COUNT) -> int:
    """Returns `value` as an int if it is a whole number from `at_least` to `at_most`.

    **Raises:** `ArgumentError` otherwise.

    >>> whole("epochs", 3.0)
    3
    """
    if not _is_finite(value) or value != int(value) or value < at_least:
        raise ArgumentError(f"{name} is {shown(value)}, but must be a whole number of at least {at_least}.")
    if value > at_most:
        raise ArgumentError(f"{name} is {shown(value)}, but must be a whole number of at most {at_most}.")
    return int(value)


def seed(name: str, value: int) -> int:
    """Returns `value` as an int if it can be a seed: a whole number from 0 to `LARGEST_SEED`.

    **Raises:** `ArgumentError` otherwise.

    >>> seed("data_seed", 7)
    7
    """
    return whole(name, value, at_least=0, at_most=LARGEST_SEED)


def wholes(name: str, values: Any) -> tuple[int, ...]:
    """Returns `values` as a tuple if they are whole numbers greater than zero, such as the widths of layers.

    **Raises:** `ArgumentError` otherwise.

    >>> wholes("widths", [10, 20])
    (10, 20)
    """
    if isinstance(values, str) or not isinstance(values, Iterable) or len(getattr(values, "shape", (0,))) != 1:
        raise ArgumentError(f"{name} is {shown(values)}, but must be several whole numbers, such as (10,) or (10, 10).")
    return tuple(whole(name, value) for value in values)


def array(name: str, values: Any, shape: Sequence[int | str] | None = None, *, finite: bool = True) -> "np.ndarray":
    """Returns `values` as a float64 array, if they are real numbers.

    **Arguments:** `name`, for messages; `values`; `shape`, where it is fixed: for each axis its length, or a name for an
    axis of any length but 0; `finite`, whether NaN and infinity are refused.

    **Raises:** `ArgumentError` otherwise.

    >>> array("states", [[1, 2]], ("count", 2))
    array([[1., 2.]])
    """
    import numpy as np

    if isinstance(values, str | bytes) or values is None:
        raise ArgumentError(f"{name} is {shown(values)}, but must be an array of numbers.")
    try:
        found = np.asarray(values)
        if found.dtype.kind not in "biuf":
            found = found.astype(np.float32) if str(found.dtype) == "bfloat16" else None
    except (TypeError, ValueError):  # rows of different lengths, keys of jax, or objects
        found = None
    except RuntimeError as problem:  # of PyTorch
        if getattr(values, "requires_grad", False):
            raise ArgumentError(
                f"{name} is a tensor that carries a gradient; pass {name}.detach() instead."
            ) from problem
        raise
    if found is None:
        raise ArgumentError(f"{name} is {shown(values)}, but must be an array of real numbers.")
    if shape is not None:
        asked = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        fits = found.ndim == len(shape) and all(
            length == wanted or (isinstance(wanted, str) and length > 0) for length, wanted in zip(found.shape, shape)
        )
        if not fits:
            raise ArgumentError(f"{name} has shape {found.shape}, but must have shape ({asked}).")
    found = found.astype(np.float64, copy=False)
    if finite and not np.all(np.isfinite(found)):
        raise ArgumentError(f"{name} holds NaN or infinity, but must hold finite numbers.")
    return found


def affordable(name: str, value: Any, size: float) -> None:
    """Raises an `ArgumentError` if a value asks for arrays of `size` bytes, more than the memory of this machine."""
    if size > _memory():
        raise ArgumentError(f"{name} is {shown(value)}, which needs {size / 2**30:.3g} GiB of memory; make it smaller.")


def shown(value: Any) -> str:
    """Returns a value as error messages print it: its `repr`, unless that is long; then its type and shape.

    >>> shown("euler"), shown(list(range(1000)))
    ("'euler'", 'a list of length 1000')
    """
    shape = getattr(value, "shape", ())
    if shape:
        return f"an array of shape {tuple(shape)}"
    try:
        text = repr(value)
    except ValueError:  # a whole number with more digits than Python prints
        return f"an int of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"
    if len(text) <= 200 and "\n" not in text:
        return text
    length = f" of length {len(value)}" if hasattr(value, "__len__") else ""
    return f"a {type(value).__name__}{length}"


def shortened(text: str, length: int = 120) -> str:
    """Returns a text in one line, cut where it is longer than `length`: the words of another library inside a message.

    >>> shortened("broken\\nat line 2"), shortened("a" * 200, 10)
    ('broken at line 2', 'aaaaaaa...')
    """
    line = in_one_line(text).rstrip(".")
    return line if len(line) <= length else line[: length - 3] + "..."


def in_one_line(text: str) -> str:
    """Returns a text without line breaks and other control characters, which a file name may hold.

    >>> in_one_line("a\\tb\\x1b[31mc")
    'a b?[31mc'
    """
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))


def _plain(value: Any) -> Any:
    """Returns a number of an array library as one of Python's, which can be stored and compared."""
    return value.item() if hasattr(value, "item") else value


def _is_finite(value: Any) -> bool:
    """Whether a value is a number that a float can hold, and neither NaN nor infinite."""
    if isinstance(value, bool | str | bytes | bytearray):
        return False
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


@functools.cache
def _memory() -> float:
    """The bytes of memory of this machine; infinite if it does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf
