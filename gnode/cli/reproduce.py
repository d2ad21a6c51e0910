"""gnode reproduce: every figure, table and claim of the paper. list, run, collect, draw, prepare, keep, restore, about."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnode import errors
from gnode.cli._shared import FEW, Progress, check_folder, console, path, resumable, say

if TYPE_CHECKING:
    from gnode.reproduce import Request

Name = Annotated[str | None, typer.Argument(help="An artefact; `gnode reproduce list` shows them.")]
Scale = Annotated[str, typer.Option(help="smoke, reduced or paper.")]
Out = Annotated[Path, typer.Option(help="Folder for the results.", parser=path)]
Published = Annotated[Path, typer.Option(help="Folder of the results.", parser=path)]
Sweeps = Annotated[
    Path | None,
    typer.Option(help="Folder of trained sweeps, shared by all artefacts; by default OUT/sweeps.", parser=path),
]
TrainedSweeps = Annotated[Path, typer.Option(help="Folder of trained sweeps.", parser=path)]
Weights = Annotated[Path, typer.Option(help="Folder of kept weights.", parser=path)]
Only = Annotated[str | None, typer.Option(help="Some of its sweeps, separated by commas: a result in part.")]
Seeds = Annotated[int | None, typer.Option(help="Another number of seeds than the scale's own.", **FEW)]
Kernel = Annotated[str | None, typer.Option(help="As in `gnode sweep run`, for all of its networks.")]

RESULTS = Path("runs/reproduce")
DOCUMENTED = Path("docs/results/reproduce")
KEPT = DOCUMENTED / "weights"
EVERYTHING = "all"
"""The name that stands for all artefacts."""


def add_to(app: typer.Typer) -> None:
    """Adds the commands."""
    reproduce = typer.Typer(
        no_args_is_help=True,
        help="Every figure, table and claim of the paper: list, run, collect, draw, prepare, keep, restore, about.",
    )
    commands = {
        "list": list_command,
        "run": run_command,
        "collect": collect_command,
        "draw": draw_command,
        "prepare": prepare_command,
        "keep": keep_command,
        "restore": restore_command,
        "about": about_command,
    }
    for name, command in commands.items():
        reproduce.command(name)(command)
    app.add_typer(reproduce, name="reproduce")


def list_command(out: Published = DOCUMENTED) -> None:
    """Show all artefacts and where they stand."""
    from rich.box import SIMPLE
    from rich.table import Column, Table
    from rich.text import Text

    from gnode.reproduce.page import states

    if out != DOCUMENTED:
        _need_folder(out)
    narrow = console.width < 120
    state = Column("state", max_width=29 if narrow else None)
    table = Table(Column("artefact", no_wrap=True), Column("what", ratio=1 if narrow else None), state, box=SIMPLE)
    for of, reached in states(out):
        table.add_row(of.name, Text.assemble(of.title, (f"  {of.place}", "dim")), reached)
    console.print(table)


def run_command(
    name: Name = None,
    scale: Scale = "smoke",
    out: Out = RESULTS,
    sweeps: Sweeps = None,
    only: Only = None,
    seeds: Seeds = None,
    kernel: Kernel = None,
    engine: Annotated[str, typer.Option(help="As in `gnode sweep run`.")] = "auto",
    progress: Progress = None,
) -> None:
    """Train, analyse and draw a figure or table of the paper, and check what the paper says of it.

    The name `all` makes all of them, one after another; one that fails does not keep the others from being made.

    Example: gnode reproduce run fig1 --scale smoke --out runs/reproduce
    """
    from gnode.devices import one_core_per_network
    from gnode.reproduce import NAMES, SCALES, Request, find_artefact

    if name != EVERYTHING:
        request = Request(_need_name(name), scale, _parts(only), seeds, kernel)
        check_folder(out)
        one_core_per_network()
        _run_one(request, out, sweeps, engine, progress, shows_tables=True)
        return
    if only is not None:
        raise errors.ArgumentError("--only names sweeps of one artefact, so it does not go with `all`; leave it out.")
    errors.one_of("scale", scale, SCALES)
    check_folder(out)
    one_core_per_network()
    names = [one for one in NAMES if scale in find_artefact(one).scales]
    began, failed = time.monotonic(), []
    for one in names:
        try:
            _run_one(Request(one, scale, (), seeds, kernel), out, sweeps, engine, progress, shows_tables=False)
        except errors.GnodeError as problem:
            failed.append(one)
            say(f"{one} was not made: {problem}")
    say(f"{len(names) - len(failed)} of {len(names)} made in {time.monotonic() - began:.0f} s")
    if failed:
        raise errors.StoreError(f"not made: {', '.join(failed)}; what is above says why.")


def _run_one(
    request: "Request", out: Path, sweeps: Path | None, engine: str, progress: bool | None, *, shows_tables: bool
) -> None:
    from rich.markdown import Markdown

    from gnode import files
    from gnode.reproduce import result_files, run_artefact

    of, began = request.artefact, time.monotonic()
    say(f"{of.title} ({of.place}), {request.scale} scale: {of.scales[request.scale]}")

    def tell(step: str) -> None:
        say(f"{time.monotonic() - began:5.0f} s  {step}")

    with resumable(f"{request.command} --out {out}"):
        path = run_artefact(request, out, sweeps=sweeps, engine=engine, progress=progress, tell=tell)
    content = files.read_json(path)
    if shows_tables:
        console.print(Markdown(result_files.tables(content)))
    written = ", ".join([path.name, path.with_suffix(".md").name, *content["figures"]])
    say(f"{time.monotonic() - began:.0f} s. Folder: {out}   {written}")


def collect_command(out: Published = DOCUMENTED) -> None:
    """Judge all results in OUT by today's rules, and make pages of them: OUT.md, and OUT/NAME.md for each."""
    from gnode import files
    from gnode.reproduce import artefact_pages, results_page
    from gnode.reproduce.judging import judge_folder

    _need_folder(out)
    named = out if out.name not in ("", "..") else out.resolve()
    if not named.name:
        raise errors.StoreError(f"{out} has no name that a page beside it could bear; choose another folder.")
    target = named.with_name(f"{named.name}.md")
    judged = judge_folder(out)
    files.write_text(target, results_page(out))
    pages = artefact_pages(out)
    for name, text in pages.items():
        files.write_text(named / name, text)
    say(f"Judged again: {', '.join(path.name for path in judged) or 'nothing new'}")
    say(f"Pages: {target}, and {len(pages)} in {named}")


def draw_command(name: Name = None, out: Published = DOCUMENTED) -> None:
    """Draw the figures of stored results again, as far as they need no networks."""
    from gnode.reproduce import find_artefact
    from gnode.reproduce.drawing import draw_folder

    _need_folder(out)
    if name is not None and find_artefact(name).draw is None:
        raise errors.ArgumentError(
            f"the figures of {name} need its networks; make them with gnode reproduce run {name}."
        )
    pictures = draw_folder(out, () if name is None else (name,))
    say(f"Drawn: {', '.join(path.name for path in pictures) or 'nothing'}. Folder: {out}")


def prepare_command(
    name: Name = None,
    scale: Scale = "smoke",
    out: Out = RESULTS,
    sweeps: Sweeps = None,
    only: Only = None,
    seeds: Seeds = None,
    kernel: Kernel = None,
) -> None:
    """Write the folders of an artefact's sweeps and train nothing, for many processes."""
    from gnode.reproduce import Request, prepare_artefact

    request = Request(_need_name(name), scale, _parts(only), seeds, kernel)
    check_folder(out)
    made = prepare_artefact(request, out, sweeps=sweeps)
    for sweep in made:
        say(f"{sweep.number():5} networks   {sweep.folder}")
    say(
        f"Train parts of them by as many processes as you like, e.g. gnode sweep resume {made[0].folder} --part 1/4; "
        f"then `gnode reproduce run` with the same arguments makes the result."
    )


def keep_command(
    name: Name = None,
    scale: Scale = "paper",
    sweeps: TrainedSweeps = RESULTS / "sweeps",
    only: Only = None,
    weights: Weights = KEPT,
) -> None:
    """Keep the weights of the networks that an artefact looks into, as small files."""
    from gnode.reproduce import Request
    from gnode.reproduce.kept_weights import keep_weights

    made = keep_weights(Request(_need_name(name), scale, _parts(only)), sweeps, weights)
    size = sum(path.stat().st_size for path in made)
    say(f"{len(made)} files, {size / 1e6:.1f} MB. Folder: {made[0].parent}")


def restore_command(name: Name = None, sweeps: TrainedSweeps = RESULTS / "sweeps", weights: Weights = KEPT) -> None:
    """Make trained sweeps of kept weights, so that `gnode reproduce run` only has to analyse them.

    Example: gnode reproduce restore walker2d-protocol && gnode reproduce run walker2d-protocol --scale paper
    """
    from gnode.reproduce import find_artefact
    from gnode.reproduce.kept_weights import restore_weights

    for sweep in restore_weights(find_artefact(_need_name(name)).name, sweeps, weights):
        say(f"{len(sweep.done()):5} networks   {sweep.folder}")


def about_command(name: Name = None) -> None:
    """Say what an artefact shows, and what was published."""
    from gnode.reproduce import find_artefact

    say(find_artefact(_need_name(name)).about)


def _need_name(name: str | None) -> str:
    if name is None:
        raise errors.ArgumentError("which artefact? `gnode reproduce list` shows them.")
    return name


def _parts(text: str | None) -> tuple[str, ...]:
    return () if text is None else tuple(text.split(","))


def _need_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise errors.StoreError(
            f"{folder} is not a folder of results; make some with gnode reproduce run NAME --out {folder}."
        )
