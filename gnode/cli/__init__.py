"""The command line: parse, call, print. Every problem that a user can mend is one sentence and exit status 2."""

import os
import signal
import sys
from collections.abc import Sequence

from gnode import interrupts
from gnode.errors import GnodeError

__all__ = ["main"]

LESS_MEMORY = (
    "if other processes share the device, let them end first; else take a smaller --batch-size, --memory checkpoint, or "
    "fewer networks at a time (gnode sweep resume --part). What has been stored is kept."
)


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point of the `gnode` command; `arguments` are those of the shell by default."""
    # Several gnode processes may share a GPU, so none takes all of its memory at the start.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    for one in (signal.SIGINT, signal.SIGTERM):  # a scheduler's SIGTERM is as good as Ctrl-C: what was learned is kept
        signal.signal(one, interrupts.handle)
    interrupts.forget()
    status = _run(sys.argv[1:] if arguments is None else list(arguments))
    if interrupts.is_wanted() and status == interrupts.EXIT_STATUS:
        # A compilation may still run in a thread of its own, which ends the usual way with a crash.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(interrupts.EXIT_STATUS)
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    """Runs a command and returns its exit status."""
    from gnode.cli import _app, _usage

    try:
        return _app.call(arguments)
    except GnodeError as problem:
        return _fail(str(problem))
    except _usage.UsageError as problem:
        return _fail(_usage.sentence(problem))
    except (MemoryError, RuntimeError) as problem:  # jax's own is a RuntimeError
        if not _is_out_of_memory(problem):
            raise
        first = str(problem).strip().splitlines() or ["no more is known"]
        return _fail(f"there is not enough memory ({first[0]}); {LESS_MEMORY}")
    except KeyboardInterrupt:  # before a command has begun; commands say what they kept
        print("gnode: interrupted.", file=sys.stderr)
        return interrupts.EXIT_STATUS


def _fail(sentence: str) -> int:
    print(f"gnode: {sentence}", file=sys.stderr)
    return 2


def _is_out_of_memory(problem: Exception) -> bool:
    return isinstance(problem, MemoryError) or "RESOURCE_EXHAUSTED" in str(problem)
