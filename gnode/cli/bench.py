"""gnode bench: how fast this machine trains, against what a user would pick instead."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gnode import errors
from gnode.cli._shared import FEW, check_file, console, path, say


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("bench")(bench_command)


def bench_command(
    shapes: Annotated[
        list[str] | None,
        typer.Argument(help="Shapes of the paper, such as 'flip-flop N=6 B=10'. By default all that fit."),
    ] = None,
    rounds: Annotated[int, typer.Option(help="Number of timed rounds.", **FEW)] = 9,
    skip: Annotated[str | None, typer.Option(help="Skip rivals whose name begins with this, e.g. diffrax.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Save as JSON, with devices and versions, shape by shape.", parser=path)
    ] = None,
) -> None:
    """Time one gradient of the paper's networks by gnode, by a plain scan and by diffrax, in turn.

    Read the ratios, not the milliseconds. Example: gnode bench "flip-flop N=6 B=10"
    """
    from rich.table import Table

    from gnode import bench, files, provenance
    from gnode.devices import available_cores, use_cores

    def save(found: dict[str, Any]) -> None:
        if out is not None:
            title = "One gradient of the paper's networks"
            files.write_json(out, {"title": title, **found, **provenance.environment()})

    for name in shapes or ():
        errors.one_of("shape", name, bench.SHAPES)
    if out is not None:
        check_file(out)
        with files.writing(out.parent):  # before anything is measured
            pass
    use_cores(available_cores())
    with console.status("measuring") as status:
        found = bench.bench(
            shapes or None,
            rounds=rounds,
            skip=skip,
            progress=lambda name: status.update(f"measuring {name}"),
            after_shape=save,
        )
    table = Table(title=f"One gradient; a large float32 product reaches {found['peak_gflops']:.0f} GFLOP/s here")
    for column in found["rows"][0]:
        table.add_column(column, justify="left" if column in ("shape", "gradient by") else "right")
    for row in found["rows"]:
        cells = (_cell(name, value) for name, value in list(row.items())[2:])
        table.add_row(row["shape"] if row["gradient by"] == "gnode" else "", row["gradient by"], *cells)
    console.print(table)
    if out is not None:
        say(f"saved as {out}")


def _cell(column: str, value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.1%}" if column == "share of peak" else f"{value:.3g}"
