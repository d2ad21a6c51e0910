"""Training one network."""

import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

from gnode import errors
from gnode.network import Network
from gnode.tasks import Task
from gnode.train import loop, progress, run, store
from gnode.train.lock import locked
from gnode.train.loop import Problem, Progress
from gnode.train.run import Run
from gnode.train.settings import Settings
from gnode.types import Key, as_key

CHECKPOINT_SECONDS = 10.0
"""The most work that a killed process loses, but for the epoch it was in."""


def fit(
    net: Network,
    task: Task,
    *,
    key: Key | int = 0,
    out: str | Path | None = None,
    progress: bool | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    extra_config: dict[str, Any] | None = None,
    **settings: Any,
) -> Run:
    """Trains a network on a task and keeps the weights with the best validation loss.

    **Arguments:**

    - `net`, `task`.
    - `key`: of the order of trials.
    - `out`: a folder for the run, which must not hold one yet. Without it nothing is written.
    - `progress`: a progress bar; by default on a terminal only.
    - `checkpoint_seconds`: how often the folder is brought up to date. `extra_config` is stored in `config.json`.
    - everything else: see `gnode.train.Settings` (epochs, lr, weight_decay, batch_size, clip, penalty, schedule, ...).

    **Returns:** a `Run`. A run that diverges says so in its status, and still has the best weights that it found.

    >>> from gnode import cells, tasks
    >>> task = tasks.flip_flop("square", trials=20, validation=10, bins=10)
    >>> net = Network(cells.rnn(2, 3, tau=0.01, key=0), outputs=2, key=1)
    >>> fit(net, task, epochs=2, batch_size=10, lr=1e-2).status
    'finished'
    """
    for name in settings:
        errors.one_of("a setting of fit", name, Settings.__dataclass_fields__)
    problem = loop.pose(net, task, Settings(**settings), as_key(key))
    if not all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(problem.params)):
        raise errors.ArgumentError("the network holds weights that are not finite; draw it again.")
    config = store.config(net, task, problem.settings, problem.key, extra_config or {})
    if out is None:
        return _train(problem, task, loop.begin(problem), 0.0, None, config, progress, checkpoint_seconds)
    folder = Path(out)
    store.create(folder, config, net)
    with locked(folder):
        return _train(problem, task, loop.begin(problem), 0.0, folder, config, progress, checkpoint_seconds)


def resume(
    folder: str | Path,
    *,
    like: Network | None = None,
    task: Task | None = None,
    progress: bool | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> Run:
    """Goes on with a run from its last checkpoint, to the same numbers as if it had never stopped.

    A run that has ended is returned as it is. `like` and `task` as in `gnode.load`.
    """
    found = run.load(folder, like=like, task=task)
    if found.status != "interrupted":
        return found
    folder = Path(folder)
    with locked(folder):
        store.remove_leftovers(folder)
        problem = loop.pose(found.net, found.task, found.settings, as_key(found.config["key"]))
        begun = loop.begin(problem)
        checkpoint = store.read_checkpoint(folder / store.CHECKPOINT, begun.state)
        done, seconds = (begun, 0.0) if checkpoint is None else (Progress(*checkpoint[:3]), checkpoint[3])
        return _train(problem, found.task, done, seconds, folder, found.config, progress, checkpoint_seconds)


def _train(
    problem: Problem,
    task: Task,
    done: Progress,
    seconds: float,
    folder: Path | None,
    config: dict[str, Any],
    show: bool | None,
    checkpoint_seconds: float,
) -> Run:
    began = time.monotonic()
    last_saved = began
    latest = done

    def elapsed() -> float:
        return seconds + time.monotonic() - began

    def checkpoint() -> None:
        if folder is not None:
            best = problem.network(latest.state.best)
            with store.writing(folder):
                store.save(folder, latest.state, best, latest.curves, latest.epoch, elapsed())

    epochs = problem.settings.epochs
    with progress.bar(epochs, done.epoch, f"training on {task.name}", progress.is_wanted(show)) as update:

        def after_epoch(now: Progress) -> None:
            nonlocal latest, last_saved
            latest = now
            update(now.epoch, progress.losses_so_far(now))
            if time.monotonic() - last_saved > checkpoint_seconds:
                checkpoint()
                last_saved = time.monotonic()

        try:
            latest = loop.train(problem, done, after_epoch)
        finally:  # also by Ctrl-C: what was learned is kept
            checkpoint()
    result = loop.summarise(problem, task, latest, elapsed())
    if folder is not None:
        with store.writing(folder):
            store.write_json(folder / store.RESULT, result)
    return Run(
        net=problem.network(latest.state.best),
        settings=problem.settings,
        curves=latest.curves,
        folder=folder,
        config=config,
        _task=task,
        **result,
    )
