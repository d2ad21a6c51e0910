"""Word from outside that training is to end: Ctrl-C, or the signal of a scheduler."""

import threading
from types import FrameType

EXIT_STATUS = 130
"""Of a command that was stopped, by convention."""

_wanted = threading.Event()


def handle(number: int, frame: FrameType | None) -> None:
    """For `signal.signal`: raises KeyboardInterrupt, and remembers it. Python may lose one that is raised in a callback."""
    _wanted.set()
    raise KeyboardInterrupt


def is_wanted() -> bool:
    """Whether a signal has come."""
    return _wanted.is_set()


def check() -> None:
    """Called after every epoch: ends training if a signal has come."""
    if is_wanted():
        raise KeyboardInterrupt


def forget() -> None:
    """As if none had come."""
    _wanted.clear()
