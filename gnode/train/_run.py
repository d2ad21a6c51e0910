"""A run: a trained network, how it was trained, and how training went."""

import dataclasses
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Array, Float

from gnode import errors, tasks
from gnode.arguments import checked
from gnode.network import AbstractNetwork
from gnode.os_errors import as_path
from gnode.tasks import Task, Trials
from gnode.tasks.file_record import recorded_file
from gnode.train import run_folder, serialisation
from gnode.train._evaluation import Evaluation, evaluate
from gnode.train._forecast import Forecast, forecast
from gnode.train.metrics import Curves, read_curves
from gnode.train.settings import Settings
from gnode.wording import plural


@dataclasses.dataclass(repr=False)
class Run:
    """A trained network and how its training went.

    - `net`: the network with the lowest validation loss, `best_loss`, which it had in epoch `best_epoch`.
    - `settings`: the hyper-parameters.
    - `curves`: the training loss, the validation loss and the gradient norm of every epoch.
    - `status`: "finished", "stopped" (by `patience`, or by a callback for a `reason`), "diverged" (at update `diverged_at`)
      or "interrupted" (it can be resumed); `epochs_done` and `seconds` say how far it came and how long it took.
    - `test`: the scores on the test trials of the task, if it has any.
    - `folder`, `config`: where the run is stored, and its stored configuration.

    No example: `gnode.fit` and `gnode.load` return it.
    """

    net: AbstractNetwork
    settings: Settings
    curves: Curves
    best_loss: float
    best_epoch: int
    status: str
    diverged_at: int | None
    seconds: float
    epochs_done: int
    test: dict[str, float] | None = None
    reason: str | None = None
    folder: Path | None = None
    config: dict[str, Any] = dataclasses.field(default_factory=dict)
    _task: Task | None = None

    @cached_property
    def task(self) -> Task:
        """The task that the network was trained on; a named task is made again if it was not kept."""
        if self._task is not None:
            return self._task
        stored = self.config.get("task", {})
        if not stored.get("options"):
            raise errors.StoreError(
                f"the task {stored.get('name')!r} of this run was made of arrays in memory and cannot be made again; "
                f"pass it: gnode.load(folder, task=task)."
            )
        name = stored["name"]
        return tasks.make(recorded_file(name, stored["file"]) if "file" in stored else name, **stored["options"])

    @property
    def dt(self) -> float:
        """The length of a bin in seconds."""
        return self.task.dt

    @cached_property
    def states(self) -> Float[Array, "trials time state"]:
        """The states that the best network visits on the validation trials; constant once a trial has ended."""
        trials = self.task.validation
        lasting = np.arange(trials.bins) < trials.lengths[:, None]
        return self.net.run(trials.inputs, dt=np.where(lasting, trials.dt, 0.0)).states

    @checked
    def evaluate(self, trials: Trials | None = None) -> dict[str, float]:
        """Computes the loss (and accuracy) of the best network on trials, by default the validation ones."""
        return self.evaluation(trials).scores()

    @checked
    def evaluation(self, trials: Trials | None = None) -> Evaluation:
        """Computes an `Evaluation`, which also has the loss of every bin and the confusion matrix."""
        return evaluate(self.net, self.task, trials)

    @checked
    def forecast(self, trials: Trials | None = None, *, warm_up: int | None = None) -> Forecast:
        """Predicts trials beyond a warm-up, in closed loop and with every sample observed: see `gnode.train.forecast`.

        **Arguments:**

        - `trials`: by default the test trials of the task, or the validation trials where it has none.
        - `warm_up`: the number of bins that the network observes first; by default half of a trial.
        """
        held_out = self.task.validation if self.task.test is None else self.task.test
        return forecast(self.net, held_out if trials is None else trials, warm_up=warm_up)

    def __repr__(self) -> str:
        where = "" if self.folder is None else f", folder={str(self.folder)!r}"
        return f"Run({type(self.net.cell).__name__}, {self.status}, best_loss={self.best_loss:.4g}{where})"

    def summary(self) -> str:
        """Describes in a sentence how the run ended."""
        epochs = len(self.curves["train"])
        counted = plural(epochs, "epoch")
        ended = {
            "finished": f"finished {counted}",
            "stopped": f"stopped early after {counted}" + (f" ({self.reason})" if self.reason else ""),
            "diverged": f"diverged at update {self.diverged_at} (epoch {epochs})",
            "interrupted": f"was interrupted after {epochs} of {plural(self.settings.epochs, 'epoch')}",
        }[self.status]
        if not np.isfinite(self.best_loss):
            remedy = "; lower the learning rate or clip the gradient" if self.status == "diverged" else ""
            return f"The run {ended}, before any validation loss was found{remedy}."
        best = f"best validation loss {self.best_loss:.4g} in epoch {self.best_epoch}"
        tested = "".join(f", test {name} {value:.4g}" for name, value in (self.test or {}).items())
        return f"The run {ended} in {self.seconds:.0f} s; {best}{tested}."


@checked
def load(folder: str | Path, *, like: AbstractNetwork | None = None, task: Task | None = None) -> Run:
    """Loads a run from its folder, with the best weights so far.

    **Arguments:**

    - `folder`: the folder of the run.
    - `like`: a network of the same structure, needed only if it has classes that are not registered in gnode.
    - `task`: the task, needed only for `run.task` of a run on arrays in memory.

    **Returns:** a `Run`.

    **Raises:** `StoreError` if the folder holds no run, or a file in it is broken.

    >>> import tempfile
    >>> from gnode import build, fit, tasks
    >>> task = tasks.flip_flop("square", trials=4, validation=2, bins=3)
    >>> folder = tempfile.mkdtemp()
    >>> run = fit(build("rnn", 2, 2, state=2, key=0), task, epochs=1, out=folder)
    >>> load(folder).best_loss == run.best_loss
    True
    """
    folder = as_path("folder", folder)
    if not folder.is_dir():
        raise errors.StoreError(f"{folder} is not a folder; pass the folder of a run, such as runs/square.")
    config = run_folder.read_config(folder)
    if like is not None and (other := serialisation.difference(config["network"], serialisation.describe(like))):
        raise errors.StoreError(f"the network passed as like is not the one in {folder}: {other}.")
    if like is None:
        like = serialisation.rebuild(config["network"], str(folder / run_folder.CONFIG))
    net = run_folder.load_weights(folder, like)
    ended: dict[str, Any] | None = run_folder.read_result(folder)  # type: ignore[assignment]
    curves = read_curves(folder / run_folder.METRICS)
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
    ended.setdefault("epochs_done", len(curves["train"]))  # an interrupted run, or one of an earlier version
    return Run(
        net=net,
        settings=run_folder.read_settings(config, folder),
        curves=curves,
        folder=folder,
        config=dict(config),
        _task=task,
        **ended,
    )
