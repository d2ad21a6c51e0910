"""gnode baseline: the scores that a network has to beat on real data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnode import errors
from gnode.cli._shared import COUNT, SEED, Progress, check_folder, console, path, resumable, say

if TYPE_CHECKING:
    from gnode.baselines import Baseline

NAMES = ("characters", "walker2d")


DEFAULTS = {"epochs": 120, "state": 32, "lr": 1e-3, "batch_size": 32, "seed": 0}
"""Those of the neural CDE, for `--help`; a test compares them with `gnode.baselines.DEFAULTS`."""


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("baseline")(baseline_command)


def _is(name: str) -> str:
    return f"characters; {DEFAULTS[name]} by default"


def baseline_command(
    name: Annotated[str | None, typer.Argument(help="characters (neural CDE) or walker2d (persistence).")] = None,
    dropped: Annotated[float | None, typer.Option(help="Share of missing bins (characters; 0.3 by default).")] = None,
    epochs: Annotated[
        int | None, typer.Option(help=f"Passes over the training trials ({_is('epochs')}).", **COUNT)
    ] = None,
    state: Annotated[int | None, typer.Option(help=f"State size N ({_is('state')}).", **COUNT)] = None,
    lr: Annotated[float | None, typer.Option(help=f"Learning rate of Adam ({_is('lr')}).")] = None,
    batch_size: Annotated[int | None, typer.Option(help=f"Trials per update ({_is('batch_size')}).", **COUNT)] = None,
    seed: Annotated[
        int | None, typer.Option(help=f"Seed of the weights and the order of trials ({_is('seed')}).", **SEED)
    ] = None,
    data_seed: Annotated[int | None, typer.Option(help="Seed of the data; 0 by default.", **SEED)] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the result; by default runs/ncde-characters, and for walker2d none.", parser=path
        ),
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Resume the neural CDE in this folder.", parser=path)] = None,
    progress: Progress = None,
) -> None:
    """Measure a baseline on a data set.

    Example: gnode baseline characters --dropped 0.3 --epochs 30 --out runs/ncde-characters
    """
    from gnode import baselines

    options = {"dropped": dropped, "epochs": epochs, "state": state, "lr": lr, "batch_size": batch_size, "seed": seed}
    given: dict[str, Any] = {option: value for option, value in options.items() if value is not None}
    seeded: dict[str, Any] = {} if data_seed is None else {"data_seed": data_seed}
    if resume is not None:
        if name is not None or out is not None or given or seeded:
            raise errors.ArgumentError("--resume takes all settings from the baseline's folder; give it alone.")
        with resumable("gnode baseline --resume {}", resume):
            done = baselines.resume_neural_cde(resume, progress)
        finish(done, resume)
    elif name is None:
        raise errors.ArgumentError(f"the data set is missing; those with a baseline are {' and '.join(NAMES)}.")
    elif errors.one_of("data set", name, NAMES) == "walker2d":
        if given:
            flags = ", ".join("--" + option.replace("_", "-") for option in given)
            raise errors.ArgumentError(f"{flags}: the persistence baseline of walker2d is not trained.")
        if out is not None:
            check_folder(out)
        _carry_forward(out, seeded)
    else:
        folder = out or Path("runs/ncde-characters")
        check_folder(folder)
        with resumable("gnode baseline --resume {}", folder):
            done = baselines.characters_baseline(folder, progress=progress, **given, **seeded)
        finish(done, folder)


def _carry_forward(out: Path | None, seeded: dict[str, Any]) -> None:
    from gnode import baselines

    with console.status("walker2d: reading"):
        result = baselines.walker2d_baseline(out, **seeded)
    say(
        f"walker2d, {result['task']['test_trials']} test trials: the persistence baseline (the last value carried forward) "
        f"has a mean squared error of {result['test']['loss']:.4f}."
    )
    if out is not None:
        say(f"Written to {out / baselines.RESULT}")


def finish(done: "Baseline", folder: Path) -> None:
    """Prints the scores.

    **Raises:** `GnodeError` if the run diverged, so that the command exits with status 2.
    """
    from rich.table import Table

    from gnode.baselines import RESULT

    run, result = done.run, done.result
    say(run.summary())
    if run.status == "diverged":
        raise errors.GnodeError(
            f"the neural CDE diverged at update {run.diverged_at}; try a smaller learning rate (--lr)."
        )
    say(
        f"{result['task']['name']}, {result['task']['test_trials']} test trials: the neural CDE "
        f"({result['parameters']} parameters) tells {100 * result['test']['accuracy']:.2f}% right."
    )
    table = Table("steps", "largest difference of an output", "same guess", "test accuracy")
    for method, row in result["solvers"].items():
        table.add_row(method, f"{row['largest']:.2g}", f"{100 * row['same']:.2f}%", f"{100 * row['accuracy']:.2f}%")
    console.print(table)
    names = ", ".join([RESULT, *(file.name for file in done.files)])
    say(f"Folder: {folder}   files: {names}")
