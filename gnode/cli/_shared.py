"""What commands share: the console, common options, and what happens after Ctrl-C."""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from gnode import errors, interrupts
from gnode.os_errors import as_path

console = Console()

RANGES: dict[Any, tuple[int, int]] = {}
"""The least and the largest value that each check of a whole number allows."""


def _within(least: int, largest: int) -> dict[str, Any]:
    """Makes the keywords of an option that is a whole number in a range; typer's own messages do not tell the value."""

    def check(param: typer.CallbackParam, value: int | None) -> int | None:
        return None if value is None else errors.whole(str(param.name), value, least, largest)

    RANGES[check] = least, largest
    return {"callback": check}


COUNT = _within(1, errors.LARGEST_COUNT)
"""Of an option that counts something."""
COUNT_OR_NONE = _within(0, errors.LARGEST_COUNT)
FEW = _within(1, 100_000)
"""Of an option that counts things of which each is made or drawn: more would only fill the memory."""
SEED = _within(0, errors.LARGEST_SEED)

LONGEST_NAME = 255
"""Of a file or folder, in bytes, on nearly all file systems."""

Trust = Annotated[
    bool, typer.Option("--trust", help="Run its author's own code in the folder, if it has any; look at it first.")
]
Progress = Annotated[bool | None, typer.Option(help="Progress bar; by default on a terminal only.")]


@contextmanager
def resumable(command: str, folder: Path | None = None) -> Generator[None, None, None]:
    """Turns an interrupt inside the block into a sentence that says how to go on.

    **Arguments:** `command`, with {} in place of the folder; `folder`, by default the one that was being written.
    """
    try:
        yield
    except interrupts.Interrupted as end:
        place = end.folder if folder is None else folder
        with suppress(OSError):  # the terminal may be gone
            say(f"\nInterrupted. Everything so far is in {place}; go on with: {command.format(place)}")
        raise interrupts.Told from None


def say(text: str) -> None:
    """Prints a text without breaking its lines, without reading brackets in it as markup, and without what steers a
    terminal: the name of a folder may hold both."""
    plain = "\n".join("".join(one if one.isprintable() else "?" for one in line) for line in text.split("\n"))
    console.print(plain, soft_wrap=True, markup=False)


def path(text: str) -> Path:
    """Reads the name of a file or folder: the parser of every option that is one."""
    found = as_path("the path", text)
    for name in found.parts:  # also below folders that are not there yet, where the system does not say so
        if len(os.fsencode(name)) > LONGEST_NAME:
            raise errors.StoreError(f"the path has a name of more than {LONGEST_NAME} bytes; choose a shorter one.")
    return found


def check_folder(folder: Path) -> None:
    """Raises a `StoreError` where no folder can be made, before any work is done."""
    if folder.exists() and not folder.is_dir():
        raise errors.StoreError(f"{folder} is a file, but must be a folder; choose another name.")
    _check_place(folder)


def check_file(file: Path, endings: Sequence[str] = ("",)) -> None:
    """Raises a `StoreError` where no file of that name, with an ending, can be written, before any work is done."""
    named = [file.with_name(f"{file.name}{ending}") for ending in endings] if file.name else [file]
    for one in (file, *named):
        if as_path("the path", one).is_dir():
            raise errors.StoreError(f"{one} is a folder, but must be the name of a file; choose another name.")
    _check_place(file.parent)


def _check_place(folder: Path) -> None:
    """Looks for the nearest folder that is there: what is to be made in it needs permission."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise errors.StoreError(f"cannot write to {folder}: {there} is not a folder that may be written to.")


def numbers(name: str, text: str) -> list[float]:
    """Reads numbers that are separated by commas."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise _not_numbers(name, text, "numbers") from None
    return [errors.finite(name, number) for number in found]


def whole_numbers(name: str, text: str) -> list[int]:
    """Reads whole numbers that are separated by commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise _not_numbers(name, text, "whole numbers") from None


def _not_numbers(name: str, text: str, kind: str) -> errors.ArgumentError:
    return errors.ArgumentError(f"{name} is {errors.shown(text)}, but must be {kind} separated by commas.")
