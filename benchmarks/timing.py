"""Prints and stores the results of the benchmarks."""

import json
from pathlib import Path
from typing import Any

import jax
from rich.console import Console
from rich.table import Table

from gnode import provenance

RESULTS = Path(__file__).parent / "results"
console = Console()


def report(title: str, rows: list[dict[str, Any]], file: str) -> None:
    """Prints the rows as a table and saves them as JSON with the versions of packages and the devices."""
    table = Table(title=title, title_justify="left")
    for column in rows[0]:
        table.add_column(column, justify="left" if isinstance(rows[0][column], str) else "right")
    for row in rows:
        table.add_row(*(f"{value:.3g}" if isinstance(value, float) else str(value) for value in row.values()))
    console.print(table)
    path = save(title, rows, file)
    console.print(f"saved as {path.relative_to(Path(__file__).parent.parent)}")


def save(title: str, rows: list[dict[str, Any]], file: str) -> Path:
    """Saves the rows so far, and returns the path."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{file}-{jax.default_backend()}.json"
    path.write_text(json.dumps({"title": title, "rows": rows, **provenance.environment()}, indent=1) + "\n")
    return path
