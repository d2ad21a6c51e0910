"""gnode sweep: a whole grid as one command. run, status, resume."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnode import errors, own_code
from gnode.cli._run_options import TASK_HELP, Own, own_settings, with_run_options
from gnode.cli._shared import COUNT, Progress, Trust, console, path, resumable, say

if TYPE_CHECKING:
    from gnode.sweeps import Sweep

EngineName = Annotated[str, typer.Option(help="auto, threads, one_program or ray.")]
Address = Annotated[str | None, typer.Option(help="Address of a Ray cluster (engine ray).")]
Workers = Annotated[int | None, typer.Option(help="Threads (engine threads); by default one more than cores.", **COUNT)]
Folder = Annotated[Path, typer.Argument(help="The folder of the sweep.", parser=path)]


def add_to(app: typer.Typer) -> None:
    """Adds the commands."""
    sweep = typer.Typer(no_args_is_help=True, help="Train a grid of networks: run, status, resume.")
    sweep.command("run")(with_run_options(run_command))
    sweep.command("status")(status_command)
    sweep.command("resume")(resume_command)
    app.add_typer(sweep, name="sweep")


def run_command(
    given: dict[str, str],
    task: Annotated[str | None, typer.Argument(help=TASK_HELP)] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the sweep; by default runs/TASK-sweep.", parser=path)
    ] = None,
    prepare: Annotated[
        bool, typer.Option("--prepare", help="Write the folder and train nothing (see resume --part).")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would cost, and do nothing.")] = False,
    search: Annotated[
        str,
        typer.Option(help="Settings that the first seed searches, as lr,weight-decay; the others repeat the best."),
    ] = "",
    search_with: Annotated[
        list[str] | None,
        typer.Option(
            help="A setting of the search runs only, as epochs=50; all seeds then repeat the best. May be repeated."
        ),
    ] = None,
    engine: EngineName = "auto",
    address: Address = None,
    workers: Workers = None,
    own: Own = None,
    progress: Progress = None,
) -> None:
    """Train every combination of settings; values of one setting are separated by commas.

    Example: gnode sweep run flipflop-variable --model rnn,gru,gnode --state 6 --lr 1e-3,1e-2 --out runs/grid

    On a cluster: gnode sweep run ... --prepare --out runs/grid, then ten jobs: gnode sweep resume runs/grid --part 1/10, ...
    """
    from gnode.sweeps.engines.registry import check_engine

    if task is None:
        raise errors.ArgumentError(
            "the task is missing; `gnode list` shows them, e.g. gnode sweep run flipflop-square --lr 1e-3,1e-2."
        )
    check_engine(engine, address=address, workers=workers)
    from gnode.sweeps.grid import read_axes
    from gnode.tasks.registry import short_name
    from gnode.train.spec import declare_own

    declare_own(task, given.get("model", "").split(","))
    axes = read_axes(given | own_settings(own))
    searched = {"search": _names(search), "search_with": _settings(search_with)}
    _one_core_each(engine)
    if dry_run:
        _print_cost(task, engine, workers, searched, axes)
        return
    from gnode.sweeps import sweep

    target = out or Path("runs") / f"{short_name(task)}-sweep"
    how: dict[str, Any] = {"engine": engine, "address": address, "workers": workers, "progress": progress}
    began = time.monotonic()
    has_own = own_code.is_own(task) or any(map(own_code.is_own, axes.get("model", ())))
    with resumable("gnode sweep resume {}" + (" --trust" if has_own else "")):
        made = sweep(task, target, prepare=prepare, **how, **searched, **axes)
    if prepare:
        status_command(target)
    else:
        finish(made, time.monotonic() - began)


def status_command(folder: Folder) -> None:
    """Tell where a sweep stands.

    Example: gnode sweep status runs/grid
    """
    from gnode.sweeps import Sweep

    found = Sweep(folder)
    counts, begun = found.status(), found.begun()
    say(
        f"{folder}: {counts['done']} of {counts['members']} members done ({counts['finished']} finished, "
        f"{counts['stopped']} stopped early, {counts['diverged']} diverged), {counts['members'] - counts['done']} to go"
        f"{f' ({begun} of them begun)' if begun else ''}."
    )


def resume_command(
    folder: Folder,
    part: Annotated[
        str | None, typer.Option(help="Train one part, as 3/10, while other processes train the others.")
    ] = None,
    engine: Annotated[
        str | None, typer.Option(help="auto, threads, one_program or ray; by default the one that it was begun by.")
    ] = None,
    address: Address = None,
    workers: Workers = None,
    trust: Trust = False,
    progress: Progress = None,
) -> None:
    """Train the members of a sweep that are not done yet, to the same table as without the interruption.

    Example: gnode sweep resume runs/grid
    """
    from gnode.sweeps.engines.registry import check_engine

    if engine is not None:
        check_engine(engine, address=address, workers=workers)
    from gnode.sweeps import Part, Sweep, resume_sweep

    _one_core_each(engine or Sweep(folder).engine)
    own = None if part is None else Part.read(part)
    if own is not None and not Sweep(folder).members_of(own):
        say(f"Part {own.number} of {own.of} has no members: the sweep has fewer pieces than that.")
    began = time.monotonic()
    again = ("" if own is None else f" --part {own.number}/{own.of}") + (" --trust" if trust else "")
    how: dict[str, Any] = {"engine": engine, "address": address, "workers": workers, "progress": progress}
    with resumable("gnode sweep resume {}" + again):
        made = resume_sweep(folder, part=own, trust=trust, **how)
    if own is None:
        finish(made, time.monotonic() - began)
    else:
        status_command(folder)


def _one_core_each(engine: str) -> None:
    if engine in ("auto", "threads"):
        from gnode.devices import one_core_per_network

        one_core_per_network()


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip().replace("-", "_") for part in text.split(",") if part.strip())


def _settings(texts: list[str] | None) -> dict[str, Any]:
    """Reads settings written as NAME=VALUE."""
    from gnode.train.spec import read

    found = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise errors.ArgumentError(
                f"search-with is {errors.shown(text)}, but must be written as NAME=VALUE, such as epochs=50."
            )
        name = name.strip().replace("-", "_")
        found[name] = read(name, value)
    return found


def _print_cost(task: str, engine: str, workers: int | None, searched: dict[str, Any], axes: dict[str, Any]) -> None:
    from gnode.sweeps import Grid, sweep_cost

    say(sweep_cost(Grid.over(task, **searched, **axes), engine, workers).summary())


def finish(sweep: "Sweep", seconds: float) -> None:
    """Prints the best settings and draws the members."""
    from rich.markdown import Markdown

    from gnode import files, plots
    from gnode.wording import plural

    by = "model"
    table = sweep.markdown(by)
    files.write_text(sweep.folder / "results.md", table)
    console.print(Markdown(table))
    pictures = plots.save(plots.strip(sweep.counting_rows(), by), sweep.folder / "strip", ("png", "pdf"))
    best = {value: entry["best_member"]["member"] for value, entry in sweep.best(by).items()}
    curves = {value: sweep.load(member).curves["validation"] for value, member in best.items()}
    pictures += plots.save(plots.best_curves(curves), sweep.folder / "curves", ("png", "pdf"))
    counts = sweep.status()
    lost = f", {counts['diverged']} diverged" if counts["diverged"] else ""
    say(f"{plural(counts['done'], 'member')}{lost}; this call took {seconds:.0f} s.")
    say(f"Folder: {sweep.folder}   {', '.join(['results.csv', 'results.md', *(file.name for file in pictures)])}")
