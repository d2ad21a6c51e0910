"""What training gives back."""

import dataclasses
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Array, Float

from gnode import errors, tasks
from gnode.network import Network
from gnode.tasks import Task, Trials
from gnode.train import store, structure
from gnode.train.evaluation import Evaluation, evaluate
from gnode.train.settings import Settings
from gnode.train.store import Curves


@dataclasses.dataclass
class Run:
    """A trained network and how it got there.

    `net` has the best validation loss of the run, `best_loss`, reached in epoch `best_epoch`. `curves` holds the training
    loss, the validation loss and the gradient norm of every epoch. `status` is "finished", "stopped" (by `patience`),
    "diverged" (at update `diverged_at`, else None) or "interrupted" (it can be resumed); `epochs_done` tells how far it
    came. `test` holds the scores on the task's test trials, if it has any.
    """

    net: Network
    settings: Settings
    curves: Curves
    best_loss: float
    best_epoch: int
    status: str
    diverged_at: int | None
    seconds: float
    epochs_done: int
    test: dict[str, float] | None = None
    folder: Path | None = None
    config: dict[str, Any] = dataclasses.field(default_factory=dict)
    _task: Task | None = None

    @cached_property
    def task(self) -> Task:
        """The task it was trained on; made again if it was not kept."""
        if self._task is not None:
            return self._task
        stored = self.config.get("task", {})
        if not stored.get("options"):
            raise errors.StoreError(
                f"the task {stored.get('name')!r} of this run was made of arrays in memory and cannot be made again; "
                f"pass it: gnode.load(folder, task=task)."
            )
        name = stored["name"]
        return tasks.make(tasks.files.recorded(name, stored["file"]) if "file" in stored else name, **stored["options"])

    @property
    def dt(self) -> float:
        """The length of a bin in seconds."""
        return self.task.dt

    @cached_property
    def states(self) -> Float[Array, "trials time state"]:
        """The states that the best network visits on the validation trials."""
        trials = self.task.validation
        lasting = np.arange(trials.bins) < trials.lengths[:, None]
        return self.net.run(trials.inputs, dt=np.where(lasting, trials.dt, 0.0)).states  # at rest once a trial is over

    def evaluate(self, trials: Trials | None = None) -> dict[str, float]:
        """The loss (and for classes the accuracy) of the best network on trials, by default the validation ones."""
        return self.evaluation(trials).scores()

    def evaluation(self, trials: Trials | None = None) -> Evaluation:
        """As `evaluate`, with the loss bin by bin and the confusion matrix."""
        return evaluate(self.net, self.task, trials)

    def summary(self) -> str:
        """How it ended, in a sentence."""
        epochs = len(self.curves["train"])
        ended = {
            "finished": f"finished {epochs} epochs",
            "stopped": f"stopped early after {epochs} epochs",
            "diverged": f"diverged at update {self.diverged_at} (epoch {epochs})",
            "interrupted": f"was interrupted after {epochs} of {self.settings.epochs} epochs",
        }[self.status]
        if not np.isfinite(self.best_loss):
            remedy = "; lower the learning rate or clip the gradient" if self.status == "diverged" else ""
            return f"The run {ended}, before any validation loss was found{remedy}."
        best = f"best validation loss {self.best_loss:.4g} in epoch {self.best_epoch}"
        tested = "".join(f", test {name} {value:.4g}" for name, value in (self.test or {}).items())
        return f"The run {ended} in {self.seconds:.0f} s; {best}{tested}."


def load(folder: str | Path, *, like: Network | None = None, task: Task | None = None) -> Run:
    """A run from its folder, with the best weights it has so far.

    **Arguments:** `like`, a network of the same structure, needed only if it holds classes that are not gnode's; `task`,
    needed only for `run.task` of a run on arrays that lived in memory.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise errors.StoreError(f"{folder} is not a folder; pass the folder of a run, such as runs/square.")
    if not (folder / store.CONFIG).exists():
        raise errors.StoreError(f"{folder} holds no run (no {store.CONFIG} in it).")
    config = store.read_json(folder / store.CONFIG)
    if not isinstance(config, dict) or "network" not in config:
        raise errors.StoreError(
            f"{folder / store.CONFIG} is not a run's; pass the folder of a run, such as runs/square."
        )
    if like is not None and (other := structure.difference(config["network"], structure.describe(like))):
        raise errors.StoreError(f"the network passed as like is not the one in {folder}: {other}.")
    net = store.load_weights(folder, structure.rebuild(config["network"]) if like is None else like)
    ended = store.read_json(folder / store.RESULT) if (folder / store.RESULT).exists() else None
    curves = _read_curves(folder)
    if ended is None:
        validation = curves["validation"]
        has = validation.size and np.isfinite(validation).any()
        best = int(np.nanargmin(validation)) if has else -1
        ended = {
            "status": "interrupted",
            "diverged_at": None,
            "seconds": float("nan"),
            "best_loss": float(validation[best]) if has else float("inf"),
            "best_epoch": best + 1,
        }
    ended.setdefault("epochs_done", len(curves["train"]))  # of a run that goes on, or of an earlier version
    return Run(
        net=net,
        settings=read_settings(config),
        curves=curves,
        folder=folder,
        config=config,
        _task=task,
        **ended,
    )


def read_settings(config: dict[str, Any]) -> Settings:
    """The settings in a run's configuration."""
    return Settings(**config["settings"])


def _read_curves(folder: Path) -> Curves:
    path = folder / store.METRICS
    if not path.exists():
        return {name: np.zeros(0) for name in store.METRIC_NAMES}
    try:
        lines = path.read_text().splitlines()[1:]
        rows = np.loadtxt(lines, delimiter=",", ndmin=2) if lines else np.zeros((0, 1 + len(store.METRIC_NAMES)))
        return {name: rows[:, column] for column, name in enumerate(store.METRIC_NAMES, 1)}
    except (ValueError, IndexError, OSError) as problem:
        raise errors.StoreError(f"{path} is broken and cannot be read ({problem}).") from problem
