"""gnode doctor: what is wrong with a folder, and what can be saved."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnode.cli._shared import path, say
from gnode.wording import plural

if TYPE_CHECKING:
    from gnode.doctor import Examination

UNSOUND = 1
"""The exit status if something is wrong and was not mended."""


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("doctor")(doctor_command)


def doctor_command(
    folder: Annotated[Path, typer.Argument(help="A run, a sweep, a folder of results, or of data sets.", parser=path)],
    mend: Annotated[
        bool, typer.Option("--mend", help="Mend what can be mended; what is damaged is set aside.")
    ] = False,
) -> None:
    """Check a folder: what is damaged, what can be saved. Exit status 1 if something is wrong.

    Example: gnode doctor runs/square --mend
    """
    from gnode import doctor

    if mend:
        found, done = doctor.mend(folder)
        for sentence in done:
            say(f"mended: {sentence}")
    else:
        found = doctor.examine(folder)
    _tell(found)
    if found.problems:
        raise typer.Exit(UNSOUND)


def _tell(found: "Examination") -> None:
    for fact in found.facts:
        say(fact)
    for problem in found.problems:
        say(f"- {problem.what} {problem.remedy}")
    if not found.problems:
        say(f"{found.folder} ({found.kind}): nothing is wrong.")
        return
    can = sum(problem.mend is not None for problem in found.problems)
    also = f"; gnode doctor {found.folder} --mend mends {can} of them" if can else ""
    say(f"{found.folder} ({found.kind}): {plural(len(found.problems), 'problem')}{also}.")
