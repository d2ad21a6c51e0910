"""gnode explore: a network's flow, live in the browser, as one HTML file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gnode import errors, own_code
from gnode.cells import registry
from gnode.cli._run_options import Own, own_settings, with_options
from gnode.cli._shared import COUNT, FEW, SEED, Trust, check_file, console, numbers, path, say

STATES, INPUTS = 2, 1
"""Of a cell that is drawn, unless it is told otherwise: two states can be seen at once."""


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    from gnode.explorer import shipped_names

    names = ", ".join(shipped_names())
    command = with_options(explore_command, ("state", *registry.OPTIONS))
    app.command("explore", epilog=f"Networks that come with gnode: {names}." if names else None)(command)


def explore_command(
    given: dict[str, str],
    source: Annotated[
        str,
        typer.Argument(
            help="The folder of a run or of a sweep's member, a network that comes with gnode, or a cell to be drawn: "
            "a model of `gnode list`, or your own as FILE.py:NAME."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="The HTML file to write; by default a temporary one.", parser=path)
    ] = None,
    compare: Annotated[str | None, typer.Option(help="Another network, to be shown beside it.")] = None,
    film: Annotated[bool, typer.Option("--film", help="Show how the flow changed in training (train --film).")] = False,
    held: Annotated[
        str | None,
        typer.Option("--input", help="Begin at a constant input, one number per input, as 0.5,0; by default at zero."),
    ] = None,
    starts: Annotated[
        int, typer.Option(help="Number of visited states from which fixed points are searched.", **COUNT)
    ] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the choice of those states, and of a drawn cell.", **SEED)] = 0,
    inputs: Annotated[
        int | None,
        typer.Option(help="Number of inputs of a drawn cell, 1 by default.", rich_help_panel="Network", **FEW),
    ] = None,
    own: Own = None,
    open_it: Annotated[
        bool | None, typer.Option("--open/--no-open", help="Open the page in the browser; by default without --out.")
    ] = None,
    trust: Trust = False,
) -> None:
    """See a network move: its flow, fixed points and trials in the browser, as one HTML file.

    Example: gnode explore runs/flipflop-square-gnode-2 --out portrait.html
    """
    from gnode.explorer import explore
    from gnode.explorer.browser import open_page, temporary_place

    x = None if held is None else numbers("input", held)
    if out is not None:
        check_file(out)
    shown: Any = source
    settings = given | own_settings(own)
    if _is_cell(source):
        shown = _drawn(source, inputs, seed, settings)
    elif settings or inputs is not None:
        name = next(iter(settings), "inputs")
        raise errors.ArgumentError(
            f"{name} is a setting of a cell that is drawn, but {errors.shown(source)} is no model of gnode list."
        )
    with console.status("explore") as line:

        def tell(part: str) -> None:
            line.update(f"explore: {part}")

        portrait = explore(shown, compare=compare, film=film, x=x, starts=starts, seed=seed, trust=trust, progress=tell)
        place = portrait.save(temporary_place("portrait.html") if out is None else out)
    if portrait.verdict is not None:
        say(portrait.verdict)
    wanted = out is None if open_it is None else open_it
    if wanted and not open_page(place):
        say(f"No browser could be opened; the page is {place}")
    else:
        say(f"Page: {place}")


def _is_cell(source: str) -> bool:
    """Whether a source names a cell; a folder of that name comes first."""
    return (source in registry.CELLS or own_code.is_own(source)) and not Path(source).is_dir()


def _drawn(model: str, inputs: int | None, seed: int, texts: dict[str, str]) -> Any:
    """Draws a cell with settings that are given as texts; with two states unless it is told otherwise."""
    from gnode.models import entry_with
    from gnode.train.spec import OPTIONS, declare_own, read_one

    declare_own("", [model])
    settings = {name: read_one(name, text) for name, text in texts.items()}
    for name, value in settings.items():
        OPTIONS[name].accept(name, value)
    state = settings.pop("state", STATES)
    return entry_with(model, settings)(INPUTS if inputs is None else inputs, state, key=seed, **settings)
