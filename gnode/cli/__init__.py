"""The command line: parse, call, print. Every problem that a user can mend is one sentence and exit status 2."""

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Sequence

from gnode import errors, interrupts, os_errors
from gnode.errors import GnodeError

__all__ = ["main"]

LESS_MEMORY = (
    "if other processes share the device, let them end first; else take a smaller --batch-size, --memory checkpoint, or "
    "fewer networks at a time (gnode sweep resume --part). What has been stored is kept."
)

CLOSED_PIPE = 141
"""The exit status of a command whose output nobody reads any more, by convention."""

LONGEST = 500
"""How many characters of a message are printed."""


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point of the `gnode` command; `arguments` are those of the shell by default."""
    # Several gnode processes may share a GPU, so none takes all of its memory at the start.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    _never_fail_to_print()
    warnings.showwarning = _tell_warning
    try:
        interrupts.listen()
        status = _run(sys.argv[1:] if arguments is None else list(arguments))
        if arguments is None:  # the process ends here, and there is nothing left to interrupt
            interrupts.ignore()
    except KeyboardInterrupt:  # outside of any command; it is raised once at most
        status = _tell_interrupted()
    except Exception:
        if not interrupts.is_wanted():
            raise
        status = (
            _tell_interrupted()
        )  # a library in C turns an interrupt that comes while it calls Python into its own error
    if interrupts.is_wanted() and status == interrupts.EXIT_STATUS:
        # A compilation may still run in a thread of its own, which ends the usual way with a crash.
        with contextlib.suppress(OSError):  # the terminal may be gone
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(interrupts.EXIT_STATUS)
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    """Runs a command and returns its exit status."""
    from gnode.cli import _app, _usage

    try:
        status = _app.call(arguments)
        return _tell_interrupted() if status == interrupts.EXIT_STATUS else status
    except GnodeError as problem:
        return _fail(str(problem))
    except _usage.UsageError as problem:
        return _fail(_usage.sentence(problem))
    except (MemoryError, RuntimeError) as problem:  # jax's own is a RuntimeError
        if not _is_out_of_memory(problem):
            raise
        first = str(problem).strip().splitlines() or ["no more is known"]
        return _fail(f"there is not enough memory ({first[0]}); {LESS_MEMORY}")
    except BrokenPipeError:  # who reads what is printed has heard enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except OSError as problem:
        named = f" ({problem.filename})" if problem.filename else ""
        return _fail(os_errors.as_sentence(f"do this{named}", problem))
    except interrupts.Told:
        return interrupts.EXIT_STATUS


def _tell_interrupted() -> int:
    """For what nothing has been told of: the parser ends a command that is interrupted without a word."""
    with contextlib.suppress(OSError):  # the terminal may be gone
        print("gnode: interrupted.", file=sys.stderr)
    return interrupts.EXIT_STATUS


def _fail(sentence: str) -> int:
    text = errors.in_one_line(sentence)
    if len(text) > LONGEST:  # a long value: the beginning says what it is, the end what to do
        text = f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"
    print(f"gnode: {text}", file=sys.stderr)
    return 2


def _tell_warning(message: Warning | str, kind: type[Warning], *where: object, **more: object) -> None:
    """Prints a warning as one line; that of another library with its kind."""
    ours = "" if issubclass(kind, UserWarning) else f"{kind.__name__}: "
    with contextlib.suppress(OSError):
        print(f"gnode: warning: {ours}{errors.in_one_line(str(message))}", file=sys.stderr)


def _never_fail_to_print() -> None:
    """Has characters that the terminal's encoding lacks written as escapes: a name may hold any, an ASCII terminal few."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _is_out_of_memory(problem: Exception) -> bool:
    return isinstance(problem, MemoryError) or "RESOURCE_EXHAUSTED" in str(problem)
