"""Interrupts: Ctrl-C, a scheduler's signal and a closed terminal end training after the epoch that is running.

Only the first signal raises an exception, so that saving what was learned is never interrupted by a second one that comes
with it, as from a scheduler that signals twice. Who repeats it later wants the process to end at once: it does, as by a
kill, after which a folder resumes from what was saved before.
"""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

__all__ = ["EXIT_STATUS", "Interrupted", "Told", "check", "forget", "handle", "ignore", "is_wanted", "listen"]

EXIT_STATUS = 130
"""The exit status of a command that was interrupted, by convention."""

SETTLE_SECONDS = 1.0
"""Signals within this time belong together."""

AT_ONCE = b"gnode: interrupted again, so it ended at once; what was saved before is kept.\n"
SHOW_CURSOR = b"\x1b[?25h\n"
"""Sent to a terminal, where a progress bar may have hidden it."""

_wanted = False
"""A plain flag: a lock, such as that of an event, deadlocks when a second signal interrupts the handler that holds it."""
_heard = 0.0


class Interrupted(KeyboardInterrupt):
    """Training was interrupted, and what it had learned is in `folder` (None if nothing is written)."""

    def __init__(self, folder: Path | None):
        super().__init__()
        self.folder = folder


class Told(Exception):
    """The user has been told of an interrupt, and how to go on: what is left to do is to end."""


def listen() -> None:
    """Has the signals that end training handled by `handle`, from now on."""
    forget()
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _tell_unless_ours
    for one in _signals():
        signal.signal(one, handle)


def ignore() -> None:
    """Has those signals ignored: for the end of a process, when there is nothing left to interrupt."""
    for one in _signals():
        signal.signal(one, signal.SIG_IGN)


def _signals() -> list[signal.Signals]:
    hang_up: signal.Signals | None = getattr(signal, "SIGHUP", None)  # not on Windows
    if hang_up is None or signal.getsignal(hang_up) == signal.SIG_IGN:  # as nohup sets it: the terminal may close
        return [signal.SIGINT, signal.SIGTERM]
    return [signal.SIGINT, signal.SIGTERM, hang_up]


def handle(number: int, frame: FrameType | None) -> None:
    """A handler for `signal.signal`: records the first signal and raises KeyboardInterrupt.

    It is recorded because Python loses an exception that is raised inside another library's callback.
    """
    global _wanted, _heard
    now = time.monotonic()
    if not _wanted:  # nothing is called between here and the next line, so no other signal is handled between them
        _wanted, _heard = True, now
        raise KeyboardInterrupt
    if now - _heard > SETTLE_SECONDS:
        with contextlib.suppress(OSError):  # a terminal that is gone
            os.write(2, AT_ONCE + (SHOW_CURSOR if os.isatty(2) else b""))
        os._exit(EXIT_STATUS)


def _tell_unless_ours(lost: "sys.UnraisableHookArgs") -> None:
    """Keeps quiet about a KeyboardInterrupt that Python could not raise where it was; it is recorded."""
    if not (is_wanted() and isinstance(lost.exc_value, KeyboardInterrupt)):
        sys.__unraisablehook__(lost)


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
