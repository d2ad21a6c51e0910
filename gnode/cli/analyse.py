"""gnode analyse: fixed points, stability, attractors and flow of a trained network, as a report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnode.cli._shared import COUNT, SEED, Trust, check_folder, console, numbers, path, say

if TYPE_CHECKING:
    from gnode.analysis import Findings


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("analyse")(analyse_command)


def analyse_command(
    run: Annotated[
        Path, typer.Argument(help="The folder of a run, or a folder of such folders to compare.", parser=path)
    ],
    out: Annotated[Path | None, typer.Option(help="Where to write; by default RUN/analysis.", parser=path)] = None,
    starts: Annotated[
        int, typer.Option(help="Number of visited states from which fixed points are searched.", **COUNT)
    ] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the choice of those states.", **SEED)] = 0,
    held: Annotated[
        str | None,
        typer.Option(
            "--input", help="Analyse at a constant input, one number per input, as 0.5,0; by default at zero."
        ),
    ] = None,
    trust: Trust = False,
) -> None:
    """Look inside a trained network: report.html, its figures, and analysis.json.

    Example: gnode analyse runs/flipflop-square-gnode-2 --input 0.5,0
    """
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from gnode import errors, files
    from gnode.report import FOLDER, NUMBERS, runs_in, write_comparison, write_report
    from gnode.train import load

    x = None if held is None else numbers("input", held)
    folders = runs_in(run)
    target = files.inside(run, FOLDER) if out is None else out
    check_folder(target)
    findings: dict[str, Findings | None] = {}
    verdicts: dict[str, str] = {}
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console) as bar:
        for own, folder in folders.items():
            # A file name may hold bytes that are no character, and characters that steer a terminal.
            name = errors.in_one_line(own.encode("utf-8", "backslashreplace").decode())
            line = bar.add_task(name)

            def tell(part: str, line: Any = line, name: str = name) -> None:
                bar.update(line, description=f"{name}: {part}")

            here = target if len(folders) == 1 else target / own
            findings[name] = write_report(
                load(folder, trust=trust), here, name=name, x=x, starts=starts, seed=seed, progress=tell
            )
            verdicts[name] = files.read_json(here / NUMBERS)["verdict"]
            bar.update(line, description=f"{name}: done", total=1, completed=1)
    if len(folders) > 1:
        write_comparison(findings, target)
    _print(findings)
    for name, verdict in verdicts.items():
        say(errors.in_one_line(f"{name}: {verdict}"))
    say(f"Report: {target / 'report.html'}")


def _print(findings: "dict[str, Findings | None]") -> None:
    from rich.markup import escape
    from rich.table import Table

    from gnode.report import COLUMNS, summary_row

    table = Table("network", *COLUMNS)
    for item in findings.items():
        table.add_row(*map(escape, summary_row(*item)))
    console.print(table)
