"""Options: one declaration for each setting of a run, from which commands, grids, tables and checks are made.

A hyper-parameter is a dataclass field declared with `setting`: its default, how its text is read and checked, its help, and
whether another value needs another compiled program. `options_of` collects the declarations of a dataclass.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from gnode import errors
from gnode.arguments import check_kind

__all__ = [
    "Option",
    "check_settings",
    "choice",
    "names_or_code",
    "numbers",
    "option_like",
    "optional",
    "options_of",
    "setting",
    "single",
    "stages",
    "widths",
    "words",
    "yes_or_no",
]

Check = Callable[[str, Any], Any]

LARGEST_SINGLE = 3.4e38
"""About the largest number of single precision, in which networks are trained."""


@dataclasses.dataclass(frozen=True)
class Option:
    """One setting of a run.

    - `part`: what it belongs to: "task", "network", "solver", "fit" or "seed".
    - `read`: turns the text of a command line into a value; `example`: such a text.
    - `help`: a sentence for `--help`.
    - `synonyms`: other names that people try, for suggestions.
    - `compiles`: whether another value needs another compiled program. False for numbers that are passed to it, and for
      what only fills its arrays.
    - `switches`: whether a number that is passed to the program has a part of it left out where it is zero.
    - `check`: raises an `ArgumentError` for a bad value.
    """

    part: str
    read: Callable[[str], Any]
    help: str
    example: str = ""
    synonyms: tuple[str, ...] = ()
    compiles: bool = True
    switches: bool = False
    check: Check | None = None

    def shape(self, value: Any) -> Any:
        """Returns what of a value decides which program is compiled: all, nothing, or whether it is zero."""
        return value if self.compiles else 1.0 if self.switches and value else None

    def accept(self, name: str, value: Any) -> None:
        """Raises an `ArgumentError` for a bad value; without a `check`, for one of another kind than `read` makes."""
        if self.check is not None:
            self.check(name, value)
        elif value is not None and self.read in _KINDS:  # None stands for the default of the task or cell
            check_kind(name, value, _KINDS[self.read])

    def text(self, value: Any) -> Any:
        """Returns a value as `read` takes it; numbers and words stay as they are."""
        if not isinstance(value, tuple):
            return value
        if self.read is stages:
            return "+".join(f"{bins}@{epochs}" for bins, epochs in value)
        parts = [part if isinstance(part, str) else f"{part:g}" for part in value]
        return ("x" if self.read is widths else ":").join(parts)


def setting(default: Any, read: Callable[[str], Any], help: str, *, part: str, **more: Any) -> Any:
    """Declares a dataclass field that is a setting of a run. Arguments as in `Option`, after the default."""
    return dataclasses.field(default=default, metadata={"option": Option(part, read, help, **more)})


def option_like(part: str, example: Any, help: str) -> Option:
    """Returns an option whose values are read as an example of them is written: a number, yes or no, a text.

    >>> option_like("network", 0.5, "Gain.").read("2")
    2.0
    """
    if isinstance(example, tuple):
        return Option(part, words if any(isinstance(one, str) for one in example) else numbers, help)
    readers = {bool: yes_or_no, int: int, float: float, str: str}
    return Option(part, readers.get(type(example), _number_or_text), help)


def _number_or_text(text: str) -> Any:
    """Reads a value of which nothing is known: a whole number, a number, or a text."""
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def options_of(declared: Any) -> dict[str, Option]:
    """Returns the options that the fields of a dataclass declare, by name."""
    fields = dataclasses.fields(declared)
    return {field.name: field.metadata["option"] for field in fields if "option" in field.metadata}


def check_settings(instance: Any) -> None:
    """Runs the declared check of every field of a dataclass instance and stores what it returns."""
    for name, option in options_of(instance).items():
        if option.check is not None:
            object.__setattr__(instance, name, option.check(name, getattr(instance, name)))


def optional(check: Check) -> Check:
    """Makes a check that also accepts None."""
    return lambda name, value: None if value is None else check(name, value)


def single(check: Check) -> Check:
    """Makes a check that also refuses numbers which are infinite in single precision."""

    def checked(name: str, value: Any) -> Any:
        found = check(name, value)
        if abs(found) > LARGEST_SINGLE:
            raise errors.ArgumentError(f"{name} is {errors.shown(value)}, but must be at most {LARGEST_SINGLE:g}.")
        return found

    return checked


def choice(allowed: Sequence[str]) -> Check:
    """Makes a check for one of several names."""
    return lambda name, value: errors.one_of(name, value, allowed)


def widths(text: str) -> tuple[int, ...]:
    """Reads the sizes of layers.

    >>> widths("316x316"), widths("none")
    ((316, 316), ())
    """
    return () if text in ("", "none") else tuple(int(part) for part in text.split("x"))


def numbers(text: str) -> tuple[float, ...]:
    """Reads numbers that are separated by colons.

    >>> numbers("0.5:1")
    (0.5, 1.0)
    """
    return tuple(float(part) for part in text.split(":"))


def words(text: str) -> tuple[str, ...]:
    """Reads names that are separated by colons.

    >>> words("x:y")
    ('x', 'y')
    """
    found = tuple(part.strip() for part in text.split(":") if part.strip())
    if not found:
        raise ValueError("no names")
    return found


def names_or_code(text: str) -> tuple[str, ...]:
    """Reads names that are separated by colons, of which some may be FILE.py:NAME.

    >>> names_or_code("mine.py:error:r2")
    ('mine.py:error', 'r2')
    """
    found: list[str] = []
    for part in words(text):
        if found and found[-1].endswith(".py"):
            found[-1] += f":{part}"
        else:
            found.append(part)
    return tuple(found)


def stages(text: str) -> tuple[tuple[int, int], ...]:
    """Reads stages of a growing time span.

    >>> stages("14@100+28@100")
    ((14, 100), (28, 100))
    """
    pairs = [stage.split("@") for stage in text.split("+")]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(text)
    return tuple((int(bins), int(epochs)) for bins, epochs in pairs)


def yes_or_no(text: str) -> bool:
    """Reads yes or no.

    >>> yes_or_no("yes")
    True
    """
    return {"yes": True, "true": True, "no": False, "false": False}[text.lower()]


_KINDS: dict[Any, Any] = {
    int: int,
    float: float,
    yes_or_no: bool,
    numbers: Sequence[float],
    words: Sequence[str],
    names_or_code: Sequence[str],
}
"""The kind of the value that a reader makes."""
