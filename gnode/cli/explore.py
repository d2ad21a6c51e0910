"""gnode explore: a network's flow, live in the browser, as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from gnode.cli._shared import COUNT, SEED, Trust, check_file, console, numbers, path, say


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    from gnode.explorer import shipped_names

    names = ", ".join(shipped_names())
    app.command("explore", epilog=f"Networks that come with gnode: {names}." if names else None)(explore_command)


def explore_command(
    source: Annotated[
        str, typer.Argument(help="The folder of a run or of a sweep's member, or a network that comes with gnode.")
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
    seed: Annotated[int, typer.Option(help="Seed of the choice of those states.", **SEED)] = 0,
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
    with console.status("explore") as line:

        def tell(part: str) -> None:
            line.update(f"explore: {part}")

        portrait = explore(
            source, compare=compare, film=film, x=x, starts=starts, seed=seed, trust=trust, progress=tell
        )
        place = portrait.save(temporary_place("portrait.html") if out is None else out)
    if portrait.verdict is not None:
        say(portrait.verdict)
    wanted = out is None if open_it is None else open_it
    if wanted and not open_page(place):
        say(f"No browser could be opened; the page is {place}")
    else:
        say(f"Page: {place}")
