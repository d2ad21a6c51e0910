"""gnode train: one network on one task."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnode import errors
from gnode.cli._run_options import with_run_options
from gnode.cli._shared import Progress, path, resumable, say

if TYPE_CHECKING:
    from gnode.train import Callback, Run


def add_to(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("train")(with_run_options(train_command))


def train_command(
    given: dict[str, str],
    task: Annotated[str | None, typer.Argument(help="A task (see `gnode list`) or an .npz or .csv file.")] = None,
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
    progress: Progress = None,
) -> None:
    """Train one network, keep the best weights, draw what it does.

    Example: gnode train flipflop-square --model gnode --state 2 --widths 316x316 --lr 1e-3 --epochs 200
    """
    if resume is not None:
        if task is not None or given or out:
            raise errors.ArgumentError("--resume takes all settings from the run's folder; give it alone.")
        finish(_resume(resume, _loggers(log), progress))
    elif task is None:
        raise errors.ArgumentError("the task is missing; `gnode list` shows them, e.g. gnode train flipflop-square.")
    else:
        finish(_train(task, given, out, _loggers(log), progress))


def _loggers(texts: list[str] | None) -> "list[Callback]":
    if not texts:
        return []
    from gnode.train.loggers import logger_of

    return [logger_of(text) for text in texts]


def _train(
    task: str, given: dict[str, str], out: Path | None, callbacks: "list[Callback]", progress: bool | None
) -> "Run":
    from gnode.train.spec import RunSpec, read_one, train_spec

    spec = RunSpec.of(task, {name: read_one(name, text) for name, text in given.items()})
    _use_cores(spec.settings.get("cores", 1))
    with resumable("gnode train --resume {}"):
        return train_spec(spec, out, runs="runs", progress=progress, callbacks=callbacks)


def _resume(folder: Path, callbacks: "list[Callback]", progress: bool | None) -> "Run":
    from gnode.train import resume, run_folder

    _use_cores(run_folder.cores_of(folder))
    with resumable("gnode train --resume {}"):
        return resume(folder, progress=progress, callbacks=callbacks)


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
