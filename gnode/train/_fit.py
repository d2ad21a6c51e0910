"""Training one network."""

import dataclasses
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

from gnode import errors, files, interrupts, own_code, progress_bar
from gnode.arguments import checked
from gnode.locks import locked
from gnode.network import AbstractNetwork, Network
from gnode.os_errors import as_path
from gnode.solve.gpu.choice import with_a_kernel_that_is_there
from gnode.tasks import Task
from gnode.train import extension, loop, run_folder
from gnode.train._run import Run, load
from gnode.train.callbacks import Callback, Callbacks, Watch, as_callbacks
from gnode.train.checkpoint import Checkpoint, read_checkpoint
from gnode.train.loop import Problem
from gnode.train.own_objects import with_objects
from gnode.train.settings import Settings, with_present_names
from gnode.train.stored_code import Copies
from gnode.types import Key, as_key

CHECKPOINT_SECONDS = 10.0
"""The most work that a killed process loses, apart from the epoch it was in."""


@checked
def fit(
    net: AbstractNetwork,
    task: Task,
    *,
    key: Key | int = 0,
    out: str | Path | None = None,
    progress: bool | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    extra_config: dict[str, Any] | None = None,
    callbacks: Callbacks | None = None,
    **settings: Any,
) -> Run:
    """Trains a network on a task and keeps the weights with the best validation loss.

    **Arguments:**

    - `net`, `task`: from `gnode.Network` or `gnode.build`, and from `gnode.tasks`.
    - `key`: a seed or a jax key, for the order of trials.
    - `out`: a folder for the run, which must not hold one yet. Without it nothing is written.
    - `progress`: a progress bar; by default on a terminal only.
    - `checkpoint_seconds`: how often a checkpoint is saved.
    - `extra_config`: stored in `config.json`.
    - `callbacks`: instances of `gnode.train.Callback`, or functions of a `gnode.train.Moment` to be called after each epoch.
    - `settings`: those of `gnode.train.Settings` (epochs, lr, weight_decay, batch_size, clip, penalty, schedule, ...).

    **Returns:** a `Run`. A run that diverges says so in its status, and keeps its best weights.

    >>> from gnode import Network, cells, tasks
    >>> task = tasks.flip_flop("square", trials=20, validation=10, bins=10)
    >>> net = Network(cells.rnn(2, 3, tau=0.01, key=0), outputs=2, key=1)
    >>> fit(net, task, epochs=2, batch_size=10, lr=1e-2).status
    'finished'
    """
    settings = with_present_names(settings)
    for name in settings:
        errors.one_of("a setting of fit", name, Settings.__dataclass_fields__)
    _check_how(checkpoint_seconds, extra_config)
    return fit_with(
        net,
        task,
        Settings(**settings),
        key=as_key(key),
        out=None if out is None else as_path("out", out),
        progress=progress,
        checkpoint_seconds=checkpoint_seconds,
        extra_config=extra_config,
        callbacks=callbacks,
    )


def fit_with(
    net: AbstractNetwork,
    task: Task,
    settings: Settings,
    *,
    key: Key,
    out: str | Path | None = None,
    progress: bool | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    extra_config: dict[str, Any] | None = None,
    callbacks: Callbacks | None = None,
) -> Run:
    """As `fit`, with the settings as one object."""
    own_code.check_not_importing()
    watched_by = as_callbacks(callbacks)
    problem = loop.pose(net, task, settings, key)
    if not all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(problem.params)):
        raise errors.ArgumentError("the network holds weights that are not finite; draw it again.")
    copied = Copies() if out is None else run_folder.copies(net, task, settings, extra_config or {})
    config = run_folder.config(net, task, settings, key, extra_config or {}, copied)
    out = None if out is None else Path(out)
    training = _Training(problem, task, out, config, progress, checkpoint_seconds, watched_by)
    if training.folder is None:
        return training.run(loop.begin(problem))
    run_folder.check_free(training.folder)
    with files.writing(training.folder):
        pass
    with locked(training.folder):  # before anything is written: of two processes that start at once, one is refused
        run_folder.create(training.folder, config, net, task, copied)
        return training.run(loop.begin(problem))


@checked
def resume(
    folder: str | Path,
    *,
    like: AbstractNetwork | None = None,
    task: Task | None = None,
    trust: bool = False,
    epochs: int | None = None,
    progress: bool | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    callbacks: Callbacks | None = None,
    optimiser: Any = None,
    loss: Any = None,
    metrics: Any = None,
) -> Run:
    """Resumes a run from its last checkpoint, to the same numbers as without the interruption.

    **Arguments:** `folder`, the run's folder; `like`, `task` and `trust`, as in `gnode.load`; `epochs`, to train a run for
    more epochs than it was begun with, also one that has ended; `progress`, `checkpoint_seconds` and `callbacks`, as in
    `gnode.fit`; `optimiser`, `loss` and `metrics`, those of the run again where they are objects, which a folder names but
    does not hold.

    **Returns:** a `Run`. One that had ended is returned unchanged, unless `epochs` extends it.

    >>> import tempfile
    >>> from gnode import build, tasks
    >>> task = tasks.flip_flop("square", trials=4, validation=2, bins=3)
    >>> folder = tempfile.mkdtemp()
    >>> _ = fit(build("rnn", 2, 2, state=2, key=0), task, epochs=1, out=folder)
    >>> resume(folder).status
    'finished'
    """
    _check_how(checkpoint_seconds, None)
    watched_by = as_callbacks(callbacks)
    found = load(folder, like=like, task=task, trust=trust)
    objects = {"optimiser": optimiser, "loss": loss, "metrics": metrics}
    folder = Path(folder)
    longer = epochs is not None and extension.check_longer(found, epochs)
    if found.status != "interrupted" and not longer:
        if any(value is not None for value in objects.values()):
            with_objects(found.settings, objects, folder)  # says what is wrong with them
        return found
    settings = with_objects(found.settings, objects, folder)
    with found.own_code(), locked(folder):
        if longer:
            settings, found.config = extension.extend(folder, settings, found.config, int(epochs or 0))
        files.remove_leftovers(folder)
        net = found.net
        if isinstance(net, Network):
            net = net.with_solver(with_a_kernel_that_is_there(net.solver))
        problem = loop.pose(net, found.task, settings, as_key(found.config["key"]))
        begun = loop.begin(problem)
        checkpoint = read_checkpoint(folder / run_folder.CHECKPOINT, begun.state)
        checkpoint = extension.going_on(checkpoint) if longer and checkpoint is not None else checkpoint
        if checkpoint is None and (folder / run_folder.METRICS).exists():
            # The weights are the best ones by now: to start from them would be another run.
            raise errors.StoreError(
                f"{folder} has lost its {run_folder.CHECKPOINT}, without which the run cannot be resumed; load its best "
                f"weights with gnode.load, or train again in another folder."
            )
        training = _Training(problem, found.task, folder, found.config, progress, checkpoint_seconds, watched_by)
        return training.run(begun if checkpoint is None else checkpoint)


@dataclasses.dataclass(frozen=True)
class _Training:
    """A training problem, where its files go, and how it is shown."""

    problem: Problem
    task: Task
    folder: Path | None
    config: dict[str, Any]
    progress: bool | None
    checkpoint_seconds: float
    callbacks: tuple[Callback, ...] = ()

    def run(self, start: Checkpoint) -> Run:
        """Trains from a checkpoint to the end."""
        watch = Watch(self.callbacks, self.problem, self.folder, self.config)
        with watch.closing():
            run = self.finish(self.train(start, watch), watch.reason)
            watch.at_end(run)
        return run

    def train(self, start: Checkpoint, watch: Watch) -> Checkpoint:
        """Trains from a checkpoint to the last epoch, and saves on the way."""
        began = time.monotonic()
        last_saved, latest = began, start

        def timed(checkpoint: Checkpoint) -> Checkpoint:
            return checkpoint._replace(seconds=start.seconds + time.monotonic() - began)

        shown = progress_bar.is_wanted(self.progress)
        title = f"training on {self.task.name}"
        with progress_bar.epoch_bar(self.problem.settings.epochs, start.epoch, title, shown) as update:

            def after_epoch(now: Checkpoint) -> Checkpoint:
                nonlocal latest, last_saved
                latest = now
                update(now.epoch, _losses_so_far(now))
                if watch.after_epoch(timed(now)):
                    latest = loop.stopped(now)
                if time.monotonic() - last_saved > self.checkpoint_seconds:
                    self.save(timed(latest))
                    last_saved = time.monotonic()
                return latest

            try:
                latest = loop.train(self.problem, start, after_epoch)
            except KeyboardInterrupt:
                raise interrupts.Interrupted(self.folder) from None
            finally:  # also after Ctrl-C: what was learned is kept
                self.save(timed(latest))
        return timed(latest)

    def save(self, checkpoint: Checkpoint) -> None:
        """Brings the folder up to date, if there is one."""
        if self.folder is not None:
            run_folder.save(self.folder, checkpoint, self.problem.network(checkpoint.state.best))

    def finish(self, done: Checkpoint, reason: str | None = None) -> Run:
        """Judges the run and returns it; `reason`, for which a callback stopped it."""
        result = loop.summarise(self.problem, self.task, done)
        if reason is not None and result["status"] == "stopped":
            result["reason"] = reason
        if self.folder is not None:
            run_folder.finish(self.folder, result)
        return Run(
            net=self.problem.network(done.state.best),
            settings=self.problem.settings,
            curves=done.curves,
            folder=self.folder,
            config=self.config,
            _task=self.task,
            **result,
        )


def _losses_so_far(now: Checkpoint) -> str:
    """The text beside the progress bar."""
    curves = now.curves
    train, validation = curves["train"][-1], curves["validation"][-1]
    accuracy = f"  accuracy {curves['accuracy'][-1]:.3f}" if "accuracy" in curves else ""
    return f"train {train:.4g}  validation {validation:.4g}  best {float(now.state.best_loss):.4g}{accuracy}"


def _check_how(checkpoint_seconds: float, extra_config: dict[str, Any] | None) -> None:
    """Checks the arguments of `fit` that say how a run is stored."""
    if not checkpoint_seconds >= 0:
        raise errors.ArgumentError(
            f"checkpoint_seconds is {errors.shown(checkpoint_seconds)}, but must be zero or a positive number."
        )
    files.check_storable("extra_config", extra_config)
    if taken := [name for name in extra_config or {} if name in run_folder.RunConfig.__annotations__]:
        raise errors.ArgumentError(
            f"extra_config has {taken[0]!r}, which the configuration has itself; use another name."
        )
