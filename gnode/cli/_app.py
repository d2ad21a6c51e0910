"""The table of commands. Only the module of the command that is called is imported."""

import importlib
from collections.abc import Sequence
from typing import Annotated

import typer

from gnode.cli._old_spellings import translated

COMMANDS: dict[str, str] = {
    "demo": "Train a two-dimensional gated neural ODE on the square flip-flop task and draw the square it learned.",
    "train": "Train one network, keep the best weights, draw what it does.",
    "sweep": "Train a grid of networks: run, status, resume.",
    "analyse": "Look inside a trained network: report.html, its figures, and analysis.json.",
    "explore": "See a network move: its flow, fixed points and trials in the browser, as one HTML file.",
    "export": "Write a trained network as numpy, jax, PyTorch or ONNX files, which compute it without gnode.",
    "doctor": "Check the folder of a run, sweep, results or data, and mend what can be mended.",
    "theory": "Mean-field theory of random networks, beside networks drawn at random.",
    "data": "Manage the data sets of the real-world tasks: get, add, check, list.",
    "expressivity": "Measure how complex a trajectory of noise a network can fit.",
    "reproduce": "Make every figure, table and claim of the paper: list, run, collect, prepare, keep, restore, about.",
    "baseline": "Measure a baseline on a data set.",
    "bench": "Time one gradient of the paper's networks against what a user would pick instead.",
    "list": "Show models, tasks, methods and initialisers.",
    "info": "Show devices and versions.",
}
"""Every command and its line in `gnode --help`. The module `gnode.cli.NAME` has a function `add_to(app)`."""


def call(arguments: Sequence[str]) -> int:
    """Runs a command line and returns its exit status."""
    words = translated(arguments)
    status = make_app(words[0] if words else "")(list(words), standalone_mode=False, prog_name="gnode")
    return status if isinstance(status, int) else 0


def make_app(wanted: str) -> typer.Typer:
    """Makes the `gnode` command. Only the command `wanted` can be run; the others are there to be listed."""
    app = typer.Typer(
        name="gnode",
        help="Train continuous-time recurrent networks and see what they have learned.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    app.callback()(_options)
    for name, line in COMMANDS.items():
        if name == wanted:
            importlib.import_module(f"gnode.cli.{_module(name)}").add_to(app)
        else:
            app.command(name, help=line)(_listed_only)
    return app


def _module(command: str) -> str:
    return "show" if command in ("list", "info") else command


def _listed_only() -> None:
    """Stands in `gnode --help` for a command that was not called."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from gnode import __version__

        typer.echo(f"gnode {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass
