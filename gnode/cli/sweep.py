"""gnode sweep: a whole grid as one command."""

import os
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown

from gnode import errors, plots, stopping, train
from gnode.cli.options import with_run_options
from gnode.train import Grid, Sweep, spec
from gnode.train import sweep as run_sweep
from gnode.train.grid import read_axes
from gnode.train.sweep import plan

console = Console()


@with_run_options
def sweep_command(
    given: dict[str, str],
    task: Annotated[
        str | None, typer.Argument(help="A task (see `gnode list`) or an .npz or .csv file; or the word status.")
    ] = None,
    folder: Annotated[Path | None, typer.Argument(help="With status: the sweep's folder.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the sweep; by default runs/TASK-sweep.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the sweep in this folder.")] = None,
    part: Annotated[
        str | None, typer.Option(help="With --resume: train one part, as 3/10, while other processes train the others.")
    ] = None,
    prepare: Annotated[
        bool, typer.Option("--prepare", help="Write the folder and train nothing (see --part).")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would cost, and do nothing.")] = False,
    search: Annotated[
        str, typer.Option(help="Settings, as lr,weight-decay, to try with one seed; the others repeat the best.")
    ] = "",
    search_with: Annotated[
        list[str] | None,
        typer.Option(
            help="A setting of the tries alone, as epochs=50; then all seeds repeat the best. May be repeated."
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help=f"{', '.join(train.ENGINES)}.")] = "auto",
    address: Annotated[str | None, typer.Option(help="Address of a Ray cluster (engine ray).")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Threads (engine threads); by default one more than cores.")
    ] = None,
    progress: Annotated[bool | None, typer.Option(help="Progress bar; by default on a terminal only.")] = None,
) -> None:
    """Train every combination of settings; values of one setting are separated by commas.

    Example: gnode sweep flipflop-variable --model rnn,gru,gnode --state 6 --lr 1e-3,1e-2 --batch-size 10,100 --out runs/grid

    gnode sweep status runs/grid tells where a sweep stands; gnode sweep --resume runs/grid goes on with it.

    On a cluster: gnode sweep ... --prepare --out runs/grid, then ten jobs: gnode sweep --resume runs/grid --part 1/10, ...
    """
    if engine in ("auto", "threads"):
        _one_core_per_network()
    how: dict[str, Any] = {"engine": engine, "address": address, "workers": workers, "progress": progress}
    if task == "status":
        _status(folder)
    elif folder is not None:
        raise errors.ArgumentError(f"what is {folder}? For the sweep's folder write --out {folder}.")
    elif resume is not None:
        if task is not None or given or out or search or search_with or prepare or dry_run:
            raise errors.ArgumentError(
                "--resume takes all settings from the sweep's folder; give it alone or with --part."
            )
        if part is not None:
            _train_part(resume, train.Part.read(part), how)
        else:
            tell(_guarded(lambda: train.resume_sweep(resume, **how), resume))
    elif part is not None:
        raise errors.ArgumentError("--part goes with --resume FOLDER; make the folder with --prepare first.")
    elif task is None:
        raise errors.ArgumentError(
            "the task is missing; `gnode list` shows them, e.g. gnode sweep flipflop-square --lr 1e-3,1e-2."
        )
    elif dry_run:
        _dry_run(Grid.over(task, _names(search), _settings(search_with), **read_axes(given)), engine, workers)
    else:
        how |= {"search": _names(search), "search_with": _settings(search_with), "prepare": prepare}
        target = out or Path("runs") / f"{Path(task).stem}-sweep"
        made = _guarded(lambda: run_sweep(task, target, **how, **read_axes(given)), target)
        if prepare:
            _status(target)
        else:
            tell(made)


def _train_part(folder: Path, part: train.Part, how: dict[str, Any]) -> None:
    if not Sweep(folder).members_of(part):
        console.print(
            f"Part {part.number} of {part.of} has no members: the sweep has fewer pieces than that.", soft_wrap=True
        )
    _guarded(lambda: train.resume_sweep(folder, part=part, **how), folder, f" --part {part.number}/{part.of}")
    _status(folder)


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip().replace("-", "_") for part in text.split(",") if part.strip())


def _settings(texts: list[str] | None) -> dict[str, Any]:
    """Settings written as NAME=VALUE."""
    found = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise errors.ArgumentError(
                f"search-with is {text!r}, but must be written as NAME=VALUE, such as epochs=50."
            )
        name = name.strip().replace("-", "_")
        found[name] = spec.read(name, value)
    return found


def _one_core_per_network() -> None:
    """Threads that train small networks must not fight over each other's cores. Read when jax starts, in this process."""
    flag = "--xla_cpu_multi_thread_eigen=false"
    if flag.split("=")[0] not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flag}".strip()


def _guarded(work: Any, folder: Path, more: str = "") -> tuple[Sweep, float]:
    began = time.monotonic()
    try:
        return work(), time.monotonic() - began
    except KeyboardInterrupt:
        console.print(
            f"\nInterrupted. Everything so far is in {folder}; go on with: gnode sweep --resume {folder}{more}",
            soft_wrap=True,
        )
        raise typer.Exit(stopping.EXIT_STATUS) from None


def _dry_run(grid: Grid, engine: str, workers: int | None) -> None:
    cost = plan(grid, engine, workers)
    console.print(
        f"{cost['members']} members in {cost['groups']} groups, {cost['compilations']} compilations, "
        f"{cost['updates']:,} updates; "
        f"about {cost['memory_bytes'] / 2**20:.1f} MiB of memory at a time with engine {cost['engine']}.",
        soft_wrap=True,
    )


def _status(folder: Path | None) -> None:
    if folder is None:
        raise errors.ArgumentError("which sweep? Write: gnode sweep status FOLDER.")
    found = Sweep(folder)
    counts, begun = found.status(), found.begun()
    console.print(
        f"{folder}: {counts['done']} of {counts['members']} members done ({counts['finished']} finished, "
        f"{counts['stopped']} stopped early, {counts['diverged']} diverged), {counts['members'] - counts['done']} to go"
        f"{f' ({begun} of them begun)' if begun else ''}.",
        soft_wrap=True,
    )


def tell(found: tuple[Sweep, float]) -> None:
    """Prints the best settings and draws the members."""
    sweep, seconds = found
    by = "model"
    table = sweep.markdown(by)
    (sweep.folder / "results.md").write_text(table)
    console.print(Markdown(table))
    files = plots.save(plots.strip(sweep.counting_rows(), by), sweep.folder / "strip", ("png", "pdf"))
    curves = {value: sweep.load(entry["member"]).curves["validation"] for value, entry in sweep.best(by).items()}
    files += plots.save(plots.best_curves(curves), sweep.folder / "curves", ("png", "pdf"))
    counts = sweep.status()
    lost = f", {counts['diverged']} diverged" if counts["diverged"] else ""
    console.print(f"{counts['done']} members{lost}; this call took {seconds:.0f} s.", soft_wrap=True)
    console.print(
        f"Folder: {sweep.folder}   {', '.join(['results.csv', 'results.md', *(file.name for file in files)])}",
        soft_wrap=True,
    )
