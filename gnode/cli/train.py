"""gnode train: one network on one task."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnode import errors, own_code
from gnode.cli._run_options import TASK_HELP, Own, own_settings, with_run_options
from gnode.cli._shared import Progress, Trust, path, resumable, say

if TYPE_CHECKING:
    from gnode.train import Callback, Run


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("train")(with_run_options(train_command))


def train_command(
    given: dict[str, str],
    task: Annotated[str | None, typer.Argument(help=TASK_HELP)] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the run; by default runs/TASK-MODEL-N.", parser=path)
    ] = None,
    resume: Annotated[Path | None, typer.Option(help="Resume the run in this folder.", parser=path)] = None,
    log: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND:PLACE",
            help="Log to tensorboard:FOLDER, wandb:PROJECT (offline) or mlflow:FOLDER; may be repeated.",
        ),
    ] = None,
    film: Annotated[
        str | None,
        typer.Option(
            metavar="EPOCHS", help="Keep the weights of these epochs for `gnode explore --film`, as 0,10,50, or auto."
        ),
    ] = None,
    own: Own = None,
    trust: Trust = False,
    progress: Progress = None,
) -> None:
    """Train one network, keep the best weights, draw what it does.

    Example: gnode train flipflop-square --model gnode --state 2 --widths 316x316 --lr 1e-3 --epochs 200

    Your own code: gnode train mytasks.py:integrate --model mycells.py:LowRank --set rank=2

    More epochs for a run that has ended: gnode train --resume runs/flipflop-square-gnode-2 --epochs 400
    """
    if resume is not None:
        epochs = given.pop("epochs", None)
        if task is not None or given or out or own:
            raise errors.ArgumentError(
                "--resume takes all settings from the run's folder; give it alone, or with more --epochs."
            )
        finish(_resume(resume, epochs, trust, _callbacks(log, film), progress))
    elif task is None:
        raise errors.ArgumentError("the task is missing; `gnode list` shows them, e.g. gnode train flipflop-square.")
    elif trust:
        raise errors.ArgumentError("--trust is for code in a folder, with --resume; code that you name is run anyway.")
    else:
        finish(_train(task, given, own, out, _callbacks(log, film), progress))


def _callbacks(logs: list[str] | None, film: str | None) -> "list[Callback]":
    """The callbacks of a run: its logs, and its film."""
    found: list[Callback] = []
    if logs:
        from gnode.train.loggers import logger_of

        found += [logger_of(text) for text in logs]
    if film is not None:
        from gnode.train.film import Film

        found.append(Film(None if film == "auto" else _epochs(film)))
    return found


def _epochs(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as problem:
        raise errors.ArgumentError(
            f"film is {errors.shown(text)}, but must be epochs, as 0,10,50, or auto."
        ) from problem


def _train(
    task: str,
    given: dict[str, str],
    own: list[str] | None,
    out: Path | None,
    callbacks: "list[Callback]",
    progress: bool | None,
) -> "Run":
    from gnode.train.spec import RunSpec, declare_own, read_one, train_spec

    declare_own(task, [given.get("model")])
    given = given | own_settings(own)
    spec = RunSpec.of(task, {name: read_one(name, text) for name, text in given.items()})
    _use_cores(spec.settings.get("cores", 1))
    has_own = own_code.is_own(task) or own_code.is_own(spec.settings["model"])
    with resumable("gnode train --resume {}" + (" --trust" if has_own else "")):
        return train_spec(spec, out, runs="runs", progress=progress, callbacks=callbacks)


def _resume(folder: Path, epochs: str | None, trust: bool, callbacks: "list[Callback]", progress: bool | None) -> "Run":
    from gnode.train import resume, run_folder
    from gnode.train.spec import read_one

    longer = None if epochs is None else read_one("epochs", epochs)
    _use_cores(run_folder.cores_of(folder))
    with resumable("gnode train --resume {}" + (" --trust" if trust else "")):
        return resume(folder, epochs=longer, trust=trust, progress=progress, callbacks=callbacks)


def _use_cores(cores: int) -> None:
    """Gives jax so many cores, before anything computes."""
    if cores != 1:
        from gnode.devices import use_cores

        use_cores(cores)


def finish(run: "Run") -> None:
    """Prints how a run ended, and draws it.

    **Raises:** `GnodeError` if the run diverged, so that the command exits with status 2.
    """
    from gnode import plots

    assert run.folder is not None
    say(run.summary())
    pictures = plots.save_run(run, run.folder)
    say(f"Folder: {run.folder}   pictures: {', '.join(file.name for file in pictures)}")
    if run.status == "diverged":
        kept = "The best weights before that were kept. " if run.best_epoch else ""
        raise errors.GnodeError(
            f"the run diverged at update {run.diverged_at}. {kept}Try a smaller learning rate (--lr) or --clip 1."
        )
