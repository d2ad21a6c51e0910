"""The command line: parse, call, print. Every problem that a user can mend is one sentence and exit status 2."""

import os
import sys

import typer

from gnode.errors import GnodeError

app = typer.Typer(
    name="gnode",
    help="Train continuous-time recurrent networks and see what they have learned.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _register() -> None:
    from gnode.cli import analyse, demo, show, sweep, theory, train

    app.command("demo")(demo.demo_command)
    app.command("train")(train.train_command)
    app.command("sweep")(sweep.sweep_command)
    app.command("analyse")(analyse.analyse)
    app.add_typer(theory.app, name="theory")
    app.command("list")(show.list_command)
    app.command("info")(show.info_command)


def main() -> None:
    """The entry point of the `gnode` command."""
    # Several gnode processes may share a GPU, so none takes all of its memory at the start.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    _register()
    try:
        app()
    except GnodeError as problem:
        print(f"gnode: {problem}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
