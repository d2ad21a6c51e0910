"""One member of a sweep: how it ended, and its folder, which is a run folder like any other."""

import dataclasses
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from gnode import files
from gnode.tasks import Task
from gnode.train import loop, run_folder, serialisation
from gnode.train.checkpoint import Checkpoint
from gnode.train.loop import Data, Problem
from gnode.train.metrics import Curves, curves_as_csv
from gnode.train.spec import RunSpec

MEMBERS = "members"


@dataclasses.dataclass(frozen=True)
class MemberResult:
    """A trained member: everything that its folder holds, as plain arrays and numbers."""

    index: int
    config: dict[str, Any]
    weights: dict[str, np.ndarray]
    curves: Curves
    result: dict[str, Any]


def pose(settings: dict[str, Any], task: Task, data: Data | None = None) -> Problem:
    """Poses the training problem of a member as `gnode train` would."""
    net, task, fit_settings, key = RunSpec(task.name, settings).realise(task)
    return loop.pose(net, task, fit_settings, key, data)


def result_of(index: int, settings: dict[str, Any], task: Task, problem: Problem, done: Checkpoint) -> MemberResult:
    """Collects what is kept of a member that has been trained."""
    net = problem.network(done.state.best)
    return MemberResult(
        index=index,
        config=run_folder.config(net, task, problem.settings, problem.key, {"spec": settings}),
        weights=serialisation.to_arrays(net),
        curves=done.curves,
        result=loop.summarise(problem, task, done),
    )


def folder_of(sweep: Path, index: int) -> Path:
    """Returns the folder of a member."""
    return sweep / MEMBERS / f"{index:04d}"


def is_done(sweep: Path, index: int) -> bool:
    """Whether a member has been trained and stored. Its folder appears complete or not at all."""
    return (folder_of(sweep, index) / run_folder.RESULT).exists()


def write(sweep: Path, trained: MemberResult) -> None:
    """Stores a member: all files in a folder of another name, which is then renamed."""
    final = folder_of(sweep, trained.index)
    temporary = files.beside(final)
    temporary.mkdir(parents=True)
    files.write_json(temporary / run_folder.CONFIG, trained.config)
    files.write_arrays(temporary / run_folder.WEIGHTS, trained.weights)
    files.write_text(temporary / run_folder.METRICS, curves_as_csv(trained.curves))
    files.write_json(temporary / run_folder.RESULT, trained.result)
    if is_done(sweep, trained.index):  # by another process that should not have; its result is the same
        shutil.rmtree(temporary, ignore_errors=True)
        return
    shutil.rmtree(final, ignore_errors=True)
    os.replace(temporary, final)
