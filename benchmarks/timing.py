"""Timing rivals fairly: compiled first, then in turn, round after round, so that noise hits all of them alike."""

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
from rich.console import Console
from rich.table import Table

from gnode.train import store

RESULTS = Path(__file__).parent / "results"
console = Console()


def compare(rivals: dict[str, Callable[[], Any]], rounds: int = 15) -> dict[str, float]:
    """The median time of a call of each rival, in milliseconds."""
    for call in rivals.values():
        jax.block_until_ready(call())
    seconds: dict[str, list[float]] = {name: [] for name in rivals}
    for _ in range(rounds):
        for name, call in rivals.items():
            began = time.perf_counter()
            jax.block_until_ready(call())
            seconds[name].append(time.perf_counter() - began)
    return {name: 1e3 * statistics.median(times) for name, times in seconds.items()}


def report(title: str, rows: list[dict[str, Any]], file: str) -> None:
    """Prints the rows as a table and saves them with versions and devices."""
    table = Table(title=title, title_justify="left")
    for column in rows[0]:
        table.add_column(column, justify="left" if isinstance(rows[0][column], str) else "right")
    for row in rows:
        table.add_row(*(f"{value:.3g}" if isinstance(value, float) else str(value) for value in row.values()))
    console.print(table)
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{file}-{jax.default_backend()}.json"
    path.write_text(json.dumps({"title": title, "rows": rows, **store.environment()}, indent=1) + "\n")
    console.print(f"saved as {path.relative_to(Path(__file__).parent.parent)}")
