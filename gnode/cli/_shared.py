"""What commands share: the console, common options, and what happens after Ctrl-C."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gnode import errors, interrupts

console = Console()

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
        say(f"\nInterrupted. Everything so far is in {place}; go on with: {command.format(place)}")
        raise typer.Exit(interrupts.EXIT_STATUS) from None


def say(text: str) -> None:
    """Prints a line without breaking it, and without reading brackets in it as markup."""
    console.print(text, soft_wrap=True, markup=False)


def numbers(name: str, text: str) -> list[float]:
    """Reads numbers that are separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise _not_numbers(name, text, "numbers") from None


def whole_numbers(name: str, text: str) -> list[int]:
    """Reads whole numbers that are separated by commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise _not_numbers(name, text, "whole numbers") from None


def _not_numbers(name: str, text: str, kind: str) -> errors.ArgumentError:
    return errors.ArgumentError(f"{name} is {text!r}, but must be {kind} separated by commas.")
