"""gnode train: one network on one task."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from gnode import errors, plots, stopping, train
from gnode.cli.options import with_run_options
from gnode.solve import use_cores
from gnode.train import Run, spec, store

console = Console()


@with_run_options
def train_command(
    given: dict[str, str],
    task: Annotated[str | None, typer.Argument(help="A task (see `gnode list`) or an .npz or .csv file.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the run; by default runs/TASK-MODEL-N.")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the run in this folder.")] = None,
    progress: Annotated[bool | None, typer.Option(help="Progress bar; by default on a terminal only.")] = None,
) -> None:
    """Train one network, keep the best weights, draw what it does.

    Example: gnode train flipflop-square --model gnode --state 2 --widths 316x316 --lr 1e-3 --epochs 200
    """
    if resume is not None:
        if task is not None or given or out:
            raise errors.ArgumentError("--resume takes all settings from the run's folder; give it alone.")
        _use_cores(store.cores_of(resume))
        tell(guarded(lambda: train.resume(resume, progress=progress), resume))
        return
    if task is None:
        raise errors.ArgumentError("the task is missing; `gnode list` shows them, e.g. gnode train flipflop-square.")
    values = {name: spec.read_one(name, text) for name, text in given.items()}
    _use_cores(values.get("cores", 1))
    settings = spec.with_defaults(task, values)
    made = spec.make_task(task, settings)
    net, made, fit_settings, key = spec.realise(settings, made)
    folder = out or Path("runs") / f"{Path(made.name).stem}-{settings['model']}-{net.cell.units}"
    run = guarded(
        lambda: train.fit(
            net,
            made,
            key=key,
            out=folder,
            progress=progress,
            extra_config={"spec": settings},
            **vars(fit_settings),
        ),
        folder,
    )
    tell(run)


def _use_cores(cores: int) -> None:
    """Before anything computes, as it has to be."""
    if cores > 1:
        use_cores(cores)


def guarded(work, folder: Path) -> Run:
    """Runs `work`; Ctrl-C becomes a sentence that says how to go on."""
    try:
        return work()
    except KeyboardInterrupt:
        console.print(
            f"\nInterrupted. Everything so far is in {folder}; go on with: gnode train --resume {folder}",
            soft_wrap=True,
        )
        raise typer.Exit(stopping.EXIT_STATUS) from None


def tell(run: Run) -> None:
    """Prints how a run ended, and draws it. A run that diverged exits with status 2."""
    assert run.folder is not None
    console.print(run.summary(), soft_wrap=True)
    files = draw(run, run.folder)
    console.print(f"Folder: {run.folder}   pictures: {', '.join(file.name for file in files)}", soft_wrap=True)
    if run.status == "diverged":
        kept = "The best weights before that were kept. " if run.best_epoch else ""
        raise errors.GnodeError(
            f"the run diverged at update {run.diverged_at}. {kept}Try a smaller learning rate (--lr) or --clip 1."
        )


def draw(run: Run, folder: Path) -> list[Path]:
    """Loss curves, and for a regression one validation trial, for a classification who is taken for whom."""
    files = []
    if len(run.curves["train"]) > 0:
        losses = {"training": run.curves["train"], "validation": run.curves["validation"]}
        files += plots.save(plots.loss_curves(losses), folder / "losses")
    if run.task.loss == "mse":
        files += plots.save(plots.validation_trial(run), folder / "trial")
    else:
        trials = run.task.validation if run.task.test is None else run.task.test
        confusion = run.evaluation(trials).confusion
        assert confusion is not None
        files += plots.save(plots.confusion_matrix(confusion, run.task.classes), folder / "confusion")
    return files
