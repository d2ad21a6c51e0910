"""gnode data: the data sets of the real-world tasks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnode.cli._shared import check_folder, console, path, say
from gnode.wording import plural

if TYPE_CHECKING:
    from gnode.tasks.datasets.originals import DataSet
    from gnode.tasks.inspection import Checked


def add_to(app: typer.Typer) -> None:
    """Adds the commands."""
    group = typer.Typer(no_args_is_help=True, help="Data sets of the real-world tasks: get, add, check, list.")
    commands = {"list": list_command, "get": get_command, "add": add_command, "check": check_command}
    for name, command in commands.items():
        group.command(name)(command)
    app.add_typer(group, name="data")


Name = Annotated[str, typer.Argument(help="characters, walker2d or speech.")]
Version = Annotated[int | None, typer.Option(help="Version of speech: 1 (default) or 2.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace the data set that is there.")]


def list_command() -> None:
    """Show the data sets, and which of them are here."""
    from rich.markup import escape
    from rich.table import Table

    from gnode.tasks import DATASETS, cache

    cache.tidy(tuple(DATASETS))
    title = escape(f"Cache: {cache.cache_folder()}")
    table = Table("data set", "here", "original", "licence", title=title, title_justify="left")
    for data in DATASETS.values():
        found = cache.find(data.name, data.files)
        size = "no" if found is None else f"{sum(path.stat().st_size for path in found) / 1e6:.1f} MB"
        table.add_row(data.name, size, data.accepts, data.licence)
    console.print(table)


def get_command(
    name: Name,
    version: Version = None,
    url: Annotated[str | None, typer.Option(help="Another address to download the original from.")] = None,
    sha256: Annotated[str | None, typer.Option(help="The checksum that the download must have.")] = None,
    replace: Replace = False,
) -> None:
    """Download a data set's original, check it, and keep its compact form.

    Example: gnode data get characters
    """
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    from gnode.tasks.datasets import obtain
    from gnode.tasks.datasets.originals import dataset

    data = dataset(name, version)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        line = bar.add_task(data.name, total=None)

        def show(done: int, total: int | None) -> None:
            bar.update(line, completed=done, total=total)
            if done == total:
                bar.update(line, description=f"{data.name}: reading")

        folder = obtain.get(data, url=url, sha256=sha256, replace=replace, progress=show)
    _tell(data, folder)


def add_command(
    name: Name,
    paths: Annotated[
        list[Path], typer.Argument(help="The original (files, folder or archive), or the compact files.", parser=path)
    ],
    version: Version = None,
    replace: Replace = False,
) -> None:
    """Import a data set from local files.

    Example: gnode data add walker2d walker.zip
    """
    from gnode.tasks.datasets import obtain
    from gnode.tasks.datasets.originals import dataset

    data = dataset(name, version)
    with console.status(f"{data.name}: reading"):
        folder = obtain.add(data, paths, replace=replace)
    _tell(data, folder)


def _tell(data: "DataSet", folder: Path) -> None:
    command, _, version = data.name.partition("-v")
    option = f" --version {version}" if version else ""
    say(f"{data.name} is in {folder}. See what it holds: gnode data check {command}{option}")


def check_command(
    name: Name,
    version: Version = None,
    out: Annotated[Path, typer.Option(help="Folder for the pictures.", parser=path)] = Path("data-check"),
) -> None:
    """Count what a data set holds, and draw some of it.

    Example: gnode data check walker2d
    """
    from gnode.tasks.datasets.originals import dataset
    from gnode.tasks.inspection import check

    data = dataset(name, version)
    check_folder(out)
    task_name, _, which = data.name.partition("-v")
    with console.status(f"{data.name}: reading"):
        found = check(task_name, int(which or 1))
    _print(data, found)
    files = _draw(data, found, out)
    say(f"Pictures: {', '.join(map(str, files))}")


def _print(data: "DataSet", found: "Checked") -> None:
    task = found.task
    counts = ", ".join(f"{count} {part}" for part, count in found.parts.items())
    say(f"{data.name}: {plural(sum(found.parts.values()), 'trial')} ({counts})")
    console.print(
        f"{plural(task.bins, 'bin')} of {task.dt:.4g} s, {plural(task.inputs, 'input')}, {plural(task.outputs, 'output')}, "
        f"{100 * found.missing:.1f}% of bins missing",
        soft_wrap=True,
    )
    if found.baseline is not None:
        say(f"test MSE of the persistence baseline (the last value carried forward): {found.baseline:.4f}")
    classes = found.class_counts()
    if classes:
        from rich.markup import escape
        from rich.table import Table

        table = Table("class", *found.parts, "all")
        for label, row in classes.items():
            table.add_row(escape(label), *map(str, row), str(sum(row)))
        console.print(table)


def _draw(data: "DataSet", found: "Checked", out: Path) -> list[Path]:
    from gnode import plots
    from gnode.tasks.inspection import examples

    task = found.task
    titles = (
        [] if task.classes is None else [f"“{task.classes[index]}”" for index in task.train.targets[examples(task)]]
    )
    names = (task.input_names or ())[-found.observed.shape[2] :]  # without the time stamp
    figure = plots.example_series(found.observed, found.filled, task.dt, titles, names)
    files = plots.save(figure, out / f"{data.name}-trials")
    if found.class_counts():
        files += plots.save(plots.class_counts(found.class_counts(), list(found.parts)), out / f"{data.name}-classes")
    return files
