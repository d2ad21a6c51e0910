"""A run: a trained network, how it was trained, and how training went."""

import dataclasses
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Array, Float

from gnode import compiled_programs, errors, own_code, tasks
from gnode.arguments import checked
from gnode.network import AbstractNetwork
from gnode.os_errors import as_path
from gnode.tasks import Task, Trials
from gnode.tasks.file_record import recorded_file
from gnode.tasks.stored_task import TASK, read_task
from gnode.train import run_folder, serialisation, stored_code
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
    _trusted: bool = False

    @cached_property
    def task(self) -> Task:
        """The task that the network was trained on: kept, made again from its name, or read from the run's folder."""
        if self._task is not None:
            return self._task
        stored = self.config.get("task", {})
        name, options = stored.get("name"), stored.get("options")
        if options is None:
            return self._stored_task(name)
        if not own_code.is_own(name):
            return tasks.make(recorded_file(name, stored["file"]) if "file" in stored else name, **options)
        if not self._trusted:
            raise stored_code.untrusted(self._folder(), self.config.get("code", []))
        with self.own_code():
            return tasks.make(name, **options)

    def _stored_task(self, name: Any) -> Task:
        """Reads a task of arrays, and finds the function that draws its trials if that may be run."""
        places = [self._folder() / TASK, self._folder().parent.parent / TASK]  # of a member: in its sweep's folder
        found = next((place for place in places if place.exists()), None)
        if found is None:
            raise errors.StoreError(
                f"the task {name!r} of this run was made of arrays in memory, which are not in its folder; pass it: "
                f"gnode.load(folder, task=task)."
            )
        generator = self.config["task"].get("generator")
        if generator is None or not self._trusted:
            return read_task(found)
        with self.own_code():
            return read_task(found, own_code.resolve(generator))

    def _folder(self) -> Path:
        if self.folder is None:
            raise errors.StoreError("the run has no folder, and its task was not kept.")
        return self.folder

    def own_code(self) -> AbstractContextManager[None]:
        """Uses the copies of the user's own code in the run's folder, if they are trusted, in place of the files."""
        if not self._trusted or self.folder is None:
            return nullcontext()
        return own_code.provided(stored_code.read(self.folder, self.config.get("code")))

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
        return f"The run {ended} in {self.seconds:.0f} s; {best}{tested}{self._by_loop()}."

    def _by_loop(self) -> str:
        """Says in how many updates the loop replaced all bins at once, where it did."""
        share = float(np.nan_to_num(self.curves.get("by_loop", np.zeros(1))).mean())
        how_many = "every update" if share == 1 else f"{100 * share:.2g}% of the updates"
        return f"; all bins at once did not converge in {how_many}, where the loop took over" if share > 0 else ""


@checked
def load(
    folder: str | Path, *, like: AbstractNetwork | None = None, task: Task | None = None, trust: bool = False
) -> Run:
    """Loads a run from its folder, with the best weights so far.

    **Arguments:**

    - `folder`: the folder of the run.
    - `like`: a network of the same structure, for classes of your own of which the folder has no code (of a notebook).
    - `task`: the task, needed only if the folder does not say how to make it.
    - `trust`: run the copies of its author's own code in the folder, where cells or tasks need them. Look at them first.

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
    compiled_programs.drop_if_too_many()  # what was computed with networks that were loaded before
    folder = as_path("folder", folder)
    if not folder.is_dir():
        raise errors.StoreError(f"{folder} is not a folder; pass the folder of a run, such as runs/square.")
    config = run_folder.read_config(folder)
    if like is not None and (other := serialisation.difference(config["network"], serialisation.describe(like))):
        raise errors.StoreError(f"the network passed as like is not the one in {folder}: {other}.")
    if like is None:
        like = _rebuilt(folder, config, trust)
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
        _trusted=trust,
        **ended,
    )


def _rebuilt(folder: Path, config: run_folder.RunConfig, trust: bool) -> AbstractNetwork:
    """Builds the network of a run with zeros for weights; its own classes come from the folder, if it is trusted."""
    described, copies = config["network"], config.get("code")
    own = None
    if copies and serialisation.unknown_class(described) is not None:
        if not trust:
            raise stored_code.untrusted(folder, copies)
        own = own_code.classes_in(stored_code.read(folder, copies).values())
    return serialisation.rebuild(described, str(folder / run_folder.CONFIG), own)
