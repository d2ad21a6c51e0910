"""One member of a sweep: how it ended, and its folder, which is a run folder like any other."""

import dataclasses
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from gnode.network import Network
from gnode.tasks import Task
from gnode.train import loop, spec, store, structure
from gnode.train.loop import Data, Problem, Progress
from gnode.train.store import Curves

MEMBERS = "members"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A trained member: everything that its folder holds, as plain arrays and numbers."""

    index: int
    config: dict[str, Any]
    weights: dict[str, np.ndarray]
    curves: Curves
    result: dict[str, Any]


def pose(settings: dict[str, Any], task: Task, data: Data | None = None) -> Problem:
    """The member as `gnode train` would pose it."""
    net, task, fit_settings, key = spec.realise(settings, task)
    return loop.pose(net, task, fit_settings, key, data)


def outcome(
    index: int, settings: dict[str, Any], task: Task, problem: Problem, done: Progress, seconds: float
) -> Outcome:
    """What is kept of a member that has been trained."""
    net: Network = problem.network(done.state.best)
    return Outcome(
        index=index,
        config=store.config(net, task, problem.settings, problem.key, {"spec": settings}),
        weights=structure.to_arrays(net),
        curves=done.curves,
        result=loop.summarise(problem, task, done, seconds),
    )


def folder_of(sweep: Path, index: int) -> Path:
    """Where a member lives."""
    return sweep / MEMBERS / f"{index:04d}"


def is_done(sweep: Path, index: int) -> bool:
    """Whether a member has been trained and stored. Its folder appears whole or not at all."""
    return (folder_of(sweep, index) / store.RESULT).exists()


def write(sweep: Path, trained: Outcome) -> None:
    """Stores a member: all files in a folder of another name, then renamed."""
    final = folder_of(sweep, trained.index)
    temporary = store.beside(final)
    temporary.mkdir(parents=True)
    store.write_json(temporary / store.CONFIG, trained.config)
    store.write_arrays(temporary / store.WEIGHTS, trained.weights)
    store.write_text(temporary / store.METRICS, store.curves_as_csv(trained.curves))
    store.write_json(temporary / store.RESULT, trained.result)
    if is_done(sweep, trained.index):  # by another process that had no business to; its result is as good
        shutil.rmtree(temporary, ignore_errors=True)
        return
    shutil.rmtree(final, ignore_errors=True)
    os.replace(temporary, final)
