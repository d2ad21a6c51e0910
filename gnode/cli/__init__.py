"""The command line: parse, call, print. Every problem that a user can mend is one sentence and exit status 2."""

import os
import signal
import sys
from collections.abc import Sequence

import typer

from gnode import stopping
from gnode.errors import GnodeError

LESS_MEMORY = (
    "if other processes share the device, let them end first; else take a smaller --batch-size, --memory checkpoint, or "
    "fewer networks at a time (gnode sweep --part). What has been stored is kept."
)


def make_app() -> typer.Typer:
    """The `gnode` command with everything it can do."""
    from gnode.cli import analyse, baseline, bench, data, demo, expressivity, reproduce, show, sweep, theory, train

    app = typer.Typer(
        name="gnode",
        help="Train continuous-time recurrent networks and see what they have learned.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    app.command("demo")(demo.demo_command)
    app.command("train")(train.train_command)
    app.command("sweep")(sweep.sweep_command)
    app.command("analyse")(analyse.analyse)
    app.add_typer(theory.app, name="theory")
    app.add_typer(data.app, name="data")
    app.add_typer(expressivity.app, name="expressivity")
    app.command("reproduce")(reproduce.reproduce_command)
    app.command("baseline")(baseline.baseline_command)
    app.command("bench")(bench.bench_command)
    app.command("list")(show.list_command)
    app.command("info")(show.info_command)
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """The entry point of the `gnode` command; `arguments` are those of the shell by default."""
    # Several gnode processes may share a GPU, so none takes all of its memory at the start.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    for one in (signal.SIGINT, signal.SIGTERM):  # a scheduler's SIGTERM is as good as Ctrl-C: what was learned is kept
        signal.signal(one, stopping.handle)
    stopping.forget()
    try:
        _run(arguments)
    except SystemExit as end:
        if stopping.is_wanted() and end.code == stopping.EXIT_STATUS:
            # A compilation may still run in a thread of its own, which ends the usual way with a crash.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(stopping.EXIT_STATUS)
        raise


def _run(arguments: Sequence[str] | None) -> None:
    try:
        make_app()(arguments)
    except GnodeError as problem:
        print(f"gnode: {problem}", file=sys.stderr)
        sys.exit(2)
    except (MemoryError, RuntimeError) as problem:  # jax's own is a RuntimeError
        if not _is_out_of_memory(problem):
            raise
        first = str(problem).strip().splitlines() or ["no more is known"]
        print(f"gnode: there is not enough memory ({first[0]}); {LESS_MEMORY}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:  # before a command has begun; commands say what they kept
        print("gnode: interrupted.", file=sys.stderr)
        sys.exit(stopping.EXIT_STATUS)


def _is_out_of_memory(problem: Exception) -> bool:
    return isinstance(problem, MemoryError) or "RESOURCE_EXHAUSTED" in str(problem)
