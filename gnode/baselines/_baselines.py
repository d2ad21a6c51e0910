"""What the networks of this project are compared with on real data: numbers of methods that its users know.

| data set     | baseline                                        | command                     | cost on two CPU cores |
|--------------|-------------------------------------------------|-----------------------------|-----------------------|
| `characters` | a neural CDE, trained (`neural_cde.py`)         | `gnode baseline characters` | ten to twenty minutes |
| `walker2d`   | the last value carried forward, nothing trained | `gnode baseline walker2d`   | seconds               |

`docs/results/baselines.md` has the numbers that came out.
"""

from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from gnode import errors, files, plots, provenance, tasks, train
from gnode.baselines._neural_cde import NeuralCDE, neural_cde, solver_errors
from gnode.tasks import Task
from gnode.train import Evaluation, Run, run_folder
from gnode.types import count_parameters

TRAINING, RESULT = "training", "result.json"
"""In a baseline's folder: the run (as `gnode train` makes one), and everything that came out."""

NETWORK: dict[str, Any] = {"state": 32, "widths": (32, 32, 32)}
"""The sizes that the neural CDE's own code uses on this data set."""
FIT: dict[str, Any] = {"epochs": 120, "lr": 1e-3, "batch_size": 32, "weight_decay": 0.0}
"""Plain Adam: no decay, no clipping, no schedule. Of 1e-3 and 3e-3, the rate of the lower validation loss (one seed)."""
DEFAULTS = NETWORK | FIT | {"seed": 0}


class Baseline(NamedTuple):
    """The trained run, its scores on the test trials, all that `result.json` holds, and the pictures."""

    run: Run
    evaluation: Evaluation
    result: dict[str, Any]
    files: list[Path]


def characters_baseline(
    out: str | Path, *, dropped: float = 0.3, data_seed: int = 0, progress: bool | None = None, **settings: Any
) -> Baseline:
    """Trains a neural CDE on `characters` and writes what came out into the folder `out`.

    **Arguments:** `dropped` and `data_seed`, as the task's `dropped` and `key`; `progress`, a bar; `settings`, see
    `DEFAULTS`.
    """
    return train_neural_cde(tasks.make("characters", dropped=dropped, key=data_seed), out, progress, **settings)


def train_neural_cde(task: Task, out: str | Path, progress: bool | None = None, **settings: Any) -> Baseline:
    """Trains a neural CDE on any task that asks for a class at the end of each trial.

    The weights with the best validation loss are kept, and tested. A process that is killed loses the last seconds;
    `resume_neural_cde` goes on from there.
    """
    for name in settings:
        errors.one_of("a setting of the neural CDE", name, DEFAULTS)
    if task.loss != "cross_entropy" or task.when != "last" or task.test is None:
        raise errors.ArgumentError(f"task {task.name} has to ask for a class at the last bin, and have test trials.")
    settings = DEFAULTS | settings
    folder = Path(out)
    if (folder / TRAINING / run_folder.CONFIG).exists():
        raise errors.StoreError(
            f"{folder} already holds a baseline; choose another folder, or go on with it by --resume {folder}."
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


def resume_neural_cde(out: str | Path, progress: bool | None = None, task: Task | None = None) -> Baseline:
    """Goes on with a baseline that was interrupted, to the same numbers; one that is finished is only judged again.

    `task` is needed only for one that was made of arrays in memory.
    """
    folder = Path(out)
    if not (folder / TRAINING / run_folder.CONFIG).exists():
        raise errors.StoreError(
            f"{folder} holds no baseline that could go on (no {TRAINING}/{run_folder.CONFIG} in it)."
        )
    config = files.read_json(folder / TRAINING / run_folder.CONFIG)
    settings, stored = config["baseline"], config["task"]
    task = tasks.make(stored["name"], **stored["options"]) if task is None else task
    like = _draw(task, settings)
    return _finish(train.resume(folder / TRAINING, like=like, task=task, progress=progress), settings, folder)


def _draw(task: Task, settings: dict[str, Any]) -> NeuralCDE:
    key, _ = jax.random.split(jax.random.key(settings["seed"]))
    return neural_cde(task.inputs, task.outputs, key=key, **{name: settings[name] for name in NETWORK})


def _finish(run: Run, settings: dict[str, Any], folder: Path) -> Baseline:
    """Judges the best weights on the test trials, and writes numbers and pictures."""
    task = run.task
    assert task.test is not None
    tested = train.evaluate(run.net, task, task.test)
    assert tested.confusion is not None
    net = run.net
    assert isinstance(net, NeuralCDE)
    result = {
        "baseline": "neural CDE",
        "task": {"name": task.name, "options": task.options, "test_trials": len(task.test)},
        "settings": settings | {"method": net.method, "steps_per_bin": net.substeps},
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
        **{fact: run.config[fact] for fact in provenance.environment()},  # those under which it was trained
    }
    files.write_json(folder / RESULT, result)
    losses = {"training": run.curves["train"], "validation": run.curves["validation"]}
    pictures = [
        *plots.save(plots.confusion_matrix(tested.confusion, task.classes), folder / "confusion"),
        *plots.save(plots.loss_curves(losses, ylabel="Cross-entropy"), folder / "losses"),
    ]
    return Baseline(run, tested, result, pictures)


def walker2d_baseline(out: str | Path | None = None, *, data_seed: int = 0) -> dict[str, Any]:
    """The test error of carrying the last value forward on `walker2d`; written to `out`/result.json, if a folder is given.

    The mean of (x_t - y_t)^2 over channels and bins with a kept sample, y_t the very next state.
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
