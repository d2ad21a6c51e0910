"""gnode bench: how fast this machine trains, against what a user would pick instead."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from gnode import bench
from gnode.train import store

console = Console()


def bench_command(
    shapes: Annotated[
        list[str] | None, typer.Argument(help=f"Shapes: {', '.join(bench.SHAPES)}. By default all that fit.")
    ] = None,
    rounds: Annotated[int, typer.Option(help="How often each rival has its turn.", min=1)] = 9,
    out: Annotated[Path | None, typer.Option(help="Save as JSON, with devices and versions.")] = None,
) -> None:
    """Time one gradient of the paper's networks by gnode, by a plain scan and by diffrax, in turn.

    Read the ratios, not the milliseconds. Example: gnode bench "flip-flop N=6 B=10"
    """
    with console.status("measuring") as status:
        found = bench.bench(shapes or None, rounds=rounds, progress=lambda name: status.update(f"measuring {name}"))
    table = Table(title=f"One gradient; a large float32 product reaches {found['peak_gflops']:.0f} GFLOP/s here")
    for column in found["rows"][0]:
        table.add_column(column, justify="left" if column in ("shape", "gradient by") else "right")
    for row in found["rows"]:
        cells = (f"{value:.1%}" if name == "share of peak" else f"{value:.3g}" for name, value in list(row.items())[2:])
        table.add_row(row["shape"] if row["gradient by"] == "gnode" else "", row["gradient by"], *cells)
    console.print(table)
    if out is not None:
        title = "One gradient of the paper's networks"
        store.write_json(out, {"title": title, **found, **store.environment()})
        console.print(f"saved as {out}", soft_wrap=True)
