"""Baselines that the networks are compared with on real data.

| data set     | baseline                                        | command                     | cost on two CPU cores |
|--------------|-------------------------------------------------|-----------------------------|-----------------------|
| `characters` | a trained neural CDE (`_neural_cde.py`)         | `gnode baseline characters` | ten to twenty minutes |
| `walker2d`   | the last value carried forward, nothing trained | `gnode baseline walker2d`   | seconds               |

The results are in `docs/results/baselines.md`.
"""

from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from gnode import errors, files, plots, provenance, schema, tasks, train
from gnode.arguments import checked
from gnode.baselines._neural_cde import neural_cde, solver_errors
from gnode.network import Network
from gnode.os_errors import as_path
from gnode.tasks import Task
from gnode.train import Evaluation, Run, run_folder
from gnode.types import count_parameters

TRAINING = "training"
"""The folder of the training run inside a baseline's folder."""

RESULT = "result.json"
"""The file with all scores inside a baseline's folder."""

NETWORK: dict[str, Any] = {"state": 32, "widths": (32, 32, 32)}
"""The sizes that the public code of neural CDEs uses on this data set."""
FIT: dict[str, Any] = {"epochs": 120, "lr": 1e-3, "batch_size": 32, "weight_decay": 0.0}
"""Plain Adam without decay, clipping or schedule; 1e-3 had a lower validation loss than 3e-3 (one seed)."""
DEFAULTS = NETWORK | FIT | {"seed": 0}
"""All settings of `train_neural_cde` with their default values."""


class Baseline(NamedTuple):
    """A trained neural CDE and its scores.

    - `run`: the training run.
    - `evaluation`: the scores on the test trials.
    - `result`: the content of `result.json`.
    - `files`: the figures that were written.

    No example: made by `train_neural_cde`.
    """

    run: Run
    evaluation: Evaluation
    result: dict[str, Any]
    files: list[Path]

    def __repr__(self) -> str:
        accuracy = self.evaluation.accuracy
        score = "" if accuracy is None else f", test accuracy {accuracy:.4f}"
        return f"Baseline({self.result['baseline']} on {self.result['task']['name']}, {self.run.status}{score})"


@checked
def characters_baseline(
    out: str | Path, *, dropped: float = 0.3, data_seed: int = 0, progress: bool | None = None, **settings: Any
) -> Baseline:
    """Trains a neural CDE on `characters` and writes its scores into a folder.

    **Arguments:**

    - `out`: the folder.
    - `dropped`, `data_seed`: the fraction of bins that are missing, and the seed of the data.
    - `progress`: whether a progress bar is shown; by default on a terminal.
    - `settings`: settings of the network and the training that differ from `DEFAULTS`.

    **Returns:** a `Baseline`.

    No example: it needs the data set.
    """
    return train_neural_cde(tasks.make("characters", dropped=dropped, key=data_seed), out, progress, **settings)


@checked
def train_neural_cde(task: Task, out: str | Path, progress: bool | None = None, **settings: Any) -> Baseline:
    """Trains a neural CDE on any task with a class at the last bin of each trial.

    The weights with the lowest validation loss are kept and evaluated on the test trials. `resume_neural_cde` resumes an
    interrupted training from its last checkpoint.

    **Arguments:**

    - `task`: the task; it must have test trials.
    - `out`, `progress`, `settings`: as in `characters_baseline`.

    **Returns:** a `Baseline`.

    **Raises:** `ArgumentError` if a setting or the task is not suitable; `StoreError` if `out` holds a baseline already.

    No example: it trains for seconds.
    """
    for name in settings:
        errors.one_of("a setting of the neural CDE", name, DEFAULTS)
    if task.loss != "cross_entropy" or task.when != "last" or task.test is None:
        raise errors.ArgumentError(f"task is {task.name!r}, but must have a class at the last bin and test trials.")
    settings = DEFAULTS | settings
    folder = as_path("out", out)
    if (folder / TRAINING / run_folder.CONFIG).exists():
        raise errors.StoreError(
            f"{folder} already holds a baseline; choose another folder, or resume it with --resume {folder}."
        )
    _, key = jax.random.split(jax.random.key(errors.whole("seed", settings["seed"], at_least=0)))
    run = train.fit(
        _draw(task, settings),
        task,
        key=key,
        out=folder / TRAINING,
        progress=progress,
        extra_config={"baseline": settings},
        **{name: settings[name] for name in FIT},
    )
    return _finish(run, settings, folder)


@checked
def resume_neural_cde(out: str | Path, progress: bool | None = None, task: Task | None = None) -> Baseline:
    """Resumes the training of an interrupted baseline; a finished one is only evaluated again.

    The result is the same as without the interruption.

    **Arguments:**

    - `out`: the baseline's folder.
    - `progress`: whether a progress bar is shown; by default on a terminal.
    - `task`: the task, which is needed only if it was made from arrays in memory.

    **Returns:** a `Baseline`.

    **Raises:** `StoreError` if the folder holds no baseline, or one of an earlier version with another class of network.

    No example: it needs an interrupted baseline.
    """
    folder = as_path("out", out)
    if not (folder / TRAINING / run_folder.CONFIG).exists():
        raise errors.StoreError(
            f"{folder} holds no baseline that can be resumed; it has no {TRAINING}/{run_folder.CONFIG}."
        )
    config = run_folder.read_config(folder / TRAINING)
    settings: Any = config.get("baseline")
    if not isinstance(settings, dict) or not {*NETWORK, "seed"} <= settings.keys():
        raise errors.StoreError(f"{folder / TRAINING} holds a run, but not one of a baseline.")
    if config["network"].get("type") != Network.__name__:
        raise errors.StoreError(
            f"{folder} holds a neural CDE of an earlier version of gnode, which had a class of its own for it; resume it "
            f"with that version ({schema.written_by(config) or 'unknown'})."
        )
    stored = config["task"]
    if task is None and stored["options"] is None:
        raise errors.StoreError(f"the task of {folder} was made of arrays in memory; pass it as task.")
    task = tasks.make(stored["name"], **(stored["options"] or {})) if task is None else task
    like = _draw(task, settings)
    return _finish(train.resume(folder / TRAINING, like=like, task=task, progress=progress), settings, folder)


def _draw(task: Task, settings: dict[str, Any]) -> Network:
    key, _ = jax.random.split(jax.random.key(settings["seed"]))
    return neural_cde(task.inputs, task.outputs, key=key, **{name: settings[name] for name in NETWORK})


def _finish(run: Run, settings: dict[str, Any], folder: Path) -> Baseline:
    """Evaluates the best weights on the test trials, and writes the scores and the figures."""
    task = run.task
    assert task.test is not None
    tested = train.evaluate(run.net, task, task.test)
    assert tested.confusion is not None
    net = run.net
    assert isinstance(net, Network)
    result = {
        "baseline": "neural CDE",
        "task": {"name": task.name, "options": task.options, "test_trials": len(task.test)},
        "settings": settings | {"method": net.solver.method, "steps_per_bin": net.solver.substeps},
        "parameters": count_parameters(net),
        "status": run.status,
        "best_loss": run.best_loss,
        "best_epoch": run.best_epoch,
        "seconds": run.seconds,
        "validation": train.evaluate(run.net, task).scores(),
        "test": tested.scores(),
        "solvers": solver_errors(net, task.test) if np.isfinite(run.best_loss) else None,
        "classes": task.classes,
        "confusion": tested.confusion,
        "curves": run.curves,
        **{fact: run.config[fact] for fact in provenance.environment()},  # that of the training, not of this call
    }
    files.write_json(folder / RESULT, result)
    losses = {"training": run.curves["train"], "validation": run.curves["validation"]}
    pictures = [
        *plots.save(plots.confusion_matrix(tested.confusion, task.classes), folder / "confusion"),
        *plots.save(plots.loss_curves(losses, ylabel="Cross-entropy"), folder / "losses"),
    ]
    return Baseline(run, tested, result, pictures)


@checked
def walker2d_baseline(out: str | Path | None = None, *, data_seed: int = 0) -> dict[str, Any]:
    """Computes the test error of the persistence baseline on `walker2d`: the last value is carried forward.

    The error is the mean of (x_t - y_t)^2 over channels and observed bins, where y_t is the next state.

    **Arguments:**

    - `out`: the folder that `result.json` is written to, if any.
    - `data_seed`: the seed of the data.

    **Returns:** the content of `result.json`.

    No example: it needs the data set.
    """
    task = tasks.make("walker2d", key=data_seed)
    assert task.test is not None
    result = {
        "baseline": "last value carried forward",
        "task": {"name": task.name, "options": task.options, "test_trials": len(task.test)},
        "validation": {"loss": tasks.last_value_error(task.validation)},
        "test": {"loss": tasks.last_value_error(task.test)},
        **provenance.environment(),
    }
    if out is not None:
        with files.writing(Path(out)):
            files.write_json(Path(out) / RESULT, result)
    return result
