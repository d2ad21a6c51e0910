"""gnode export: a trained network as files that compute it without gnode."""

from pathlib import Path
from typing import Annotated

import typer

from gnode.cli._shared import Trust, path, say


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("export")(export_command)


def export_command(
    run: Annotated[Path, typer.Argument(help="The folder of a run or of a sweep's member.", parser=path)],
    to: Annotated[str, typer.Option(help="What to write: numpy, jax, torch or onnx.")] = "numpy",
    out: Annotated[
        Path | None, typer.Option(help="The folder to write, which must be new; by default RUN/export-TO.", parser=path)
    ] = None,
    dt: Annotated[
        float | None, typer.Option(help="Length of a bin in seconds; by default that of the run's task.")
    ] = None,
    dtype: Annotated[str, typer.Option(help="Precision of the files: float32 or float64.")] = "float32",
    trust: Trust = False,
) -> None:
    """Write a trained network as numpy, jax, PyTorch or ONNX files, which compute it without gnode.

    Example: gnode export runs/flipflop-square-gnode-2 --to numpy
    """
    from gnode import errors, files
    from gnode.export import TARGETS, export_network

    errors.one_of("to", to, TARGETS)
    target = files.inside(run, f"export-{to}") if out is None else out
    made = export_network(run, to, target, dt=dt, dtype=dtype, trust=trust)
    for name in made.files:
        say(f"Wrote {made.folder / name}")
    say(f"Use: {made.usage}")
