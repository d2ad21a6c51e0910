"""gnode reproduce: every figure, table and claim of the paper as one command."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Column, Table
from rich.text import Text

from gnode import errors, stopping
from gnode.cli.sweep import _one_core_per_network
from gnode.experiments import collect, results
from gnode.experiments.artefact import SCALES
from gnode.experiments.asked import Asked
from gnode.experiments.registry import artefact
from gnode.experiments.reproduce import prepare, reproduce
from gnode.train import store

console = Console()


def reproduce_command(
    name: Annotated[str | None, typer.Argument(help="An artefact; --list shows them.")] = None,
    scale: Annotated[str, typer.Option(help=f"{', '.join(SCALES)}.")] = "smoke",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the results; by default runs/reproduce (--list, --collect: docs/results/reproduce)."
        ),
    ] = None,
    sweeps: Annotated[
        Path | None, typer.Option(help="Folder of trained sweeps, shared by all; by default OUT/sweeps.")
    ] = None,
    only: Annotated[str | None, typer.Option(help="Some of its sweeps, separated by commas: a result in part.")] = None,
    seeds: Annotated[int | None, typer.Option(help="Another number of seeds than the scale's own.")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="Show all artefacts and where they stand.")] = False,
    about: Annotated[
        bool, typer.Option("--about", help="Say what the artefact shows, and what was published.")
    ] = False,
    collect_all: Annotated[bool, typer.Option("--collect", help="Make OUT.md of all results in OUT.")] = False,
    kernel: Annotated[str | None, typer.Option(help="As in `gnode sweep`, for all of its networks.")] = None,
    prepare_only: Annotated[
        bool, typer.Option("--prepare", help="Write the folders of its sweeps and train nothing, for many processes.")
    ] = False,
    engine: Annotated[str, typer.Option(help="As in `gnode sweep`.")] = "auto",
    progress: Annotated[bool | None, typer.Option(help="Progress bar; by default on a terminal only.")] = None,
) -> None:
    """Train, analyse and draw a figure or table of the paper, and check what the paper says of it.

    Example: gnode reproduce fig1 --scale smoke --out runs/reproduce
    """
    published = out or collect.DEFAULT_FOLDER
    if list_all:
        if out is not None:
            _need_folder(out)
        _list(published)
    elif collect_all:
        _collect(published)
    elif name is None:
        raise errors.ArgumentError("which artefact? `gnode reproduce --list` shows them.")
    elif about:
        console.print(artefact(name).about, markup=False, highlight=False)
    else:
        errors.one_of("scale", scale, SCALES)
        what = {
            "scale": scale,
            "only": () if only is None else tuple(only.split(",")),
            "seeds": seeds,
            "kernel": kernel,
        }
        folder = out or Path("runs/reproduce")
        if prepare_only:
            _prepare(Asked(artefact(name), **what), folder, sweeps)
        else:
            _make(name, folder, what, {"sweeps": sweeps, "engine": engine, "progress": progress})


def _prepare(asked: Asked, out: Path, sweeps: Path | None) -> None:
    made = prepare(asked, out, sweeps)
    for sweep in made:
        console.print(f"{sweep.number():5} networks   {sweep.folder}", soft_wrap=True)
    console.print(
        f"Train parts of them by as many processes as you like, e.g. gnode sweep --resume {made[0].folder} --part 1/4; "
        f"then the same command without --prepare makes the result.",
        soft_wrap=True,
    )


def _make(name: str, out: Path, what: dict[str, Any], how: dict[str, Any]) -> None:
    _one_core_per_network()
    of, scale, began = artefact(name), what["scale"], time.monotonic()
    if scale in of.scales:
        console.print(f"{of.title} ({of.place}), {scale} scale: {of.scales[scale]}", soft_wrap=True)

    def tell(step: str) -> None:
        console.print(f"{time.monotonic() - began:5.0f} s  {step}", soft_wrap=True)

    try:
        path = reproduce(name, out, tell=tell, **what, **how)
    except KeyboardInterrupt:
        console.print(
            f"\nInterrupted. What was trained is kept; the same command goes on with it in {out}.", soft_wrap=True
        )
        raise typer.Exit(stopping.EXIT_STATUS) from None
    content = store.read_json(path)
    console.print(Markdown(results.tables(content)))
    files = ", ".join([path.name, path.with_suffix(".md").name, *content["figures"]])
    console.print(f"{time.monotonic() - began:.0f} s. Folder: {out}   {files}", soft_wrap=True)


def _list(folder: Path) -> None:
    narrow = console.width < 120
    state = Column("state", max_width=29 if narrow else None)
    table = Table(Column("artefact", no_wrap=True), Column("what", ratio=1 if narrow else None), state, box=SIMPLE)
    for of, reached in collect.states(folder):
        table.add_row(of.name, Text.assemble(of.title, (f"  {of.place}", "dim")), reached)
    console.print(table)


def _need_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise errors.StoreError(
            f"{folder} is not a folder of results; make some with gnode reproduce NAME --out {folder}."
        )


def _collect(folder: Path) -> None:
    _need_folder(folder)
    target = folder.with_name(f"{folder.name}.md")
    store.write_text(target, collect.page(folder))
    console.print(f"Page: {target}", soft_wrap=True)
