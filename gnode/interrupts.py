"""Interrupts: Ctrl-C and the termination signal of a scheduler end training after the epoch that is running."""

from pathlib import Path
from types import FrameType

__all__ = ["EXIT_STATUS", "Interrupted", "check", "forget", "handle", "is_wanted"]

EXIT_STATUS = 130
"""The exit status of a command that was interrupted, by convention."""

_wanted = False
"""A plain flag: a lock, such as that of an event, deadlocks when a second signal interrupts the handler that holds it."""


class Interrupted(KeyboardInterrupt):
    """Training was interrupted, and what it had learned is in `folder` (None if nothing is written)."""

    def __init__(self, folder: Path | None):
        super().__init__()
        self.folder = folder


def handle(number: int, frame: FrameType | None) -> None:
    """A handler for `signal.signal`: records the signal and raises KeyboardInterrupt.

    It is recorded because Python loses an exception that is raised inside another library's callback.
    """
    global _wanted
    _wanted = True
    raise KeyboardInterrupt


def is_wanted() -> bool:
    """Whether a signal has arrived."""
    return _wanted


def check() -> None:
    """Raises KeyboardInterrupt if a signal has arrived. Training calls it after every epoch."""
    if is_wanted():
        raise KeyboardInterrupt


def forget() -> None:
    """Forgets any signal that has arrived."""
    global _wanted
    _wanted = False
