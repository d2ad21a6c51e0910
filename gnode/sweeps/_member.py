"""One member of a sweep: how it ended, and its folder, which is a run folder like any other."""

import dataclasses
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from gnode import errors, files
from gnode.arguments import checked
from gnode.os_errors import as_path
from gnode.sweeps.stored import DAMAGED, MEMBERS
from gnode.tasks import Task
from gnode.train import loop, run_folder, serialisation
from gnode.train.checkpoint import Checkpoint
from gnode.train.loop import Data, Problem
from gnode.train.metrics import Curves, curves_as_csv
from gnode.train.spec import RunSpec
from gnode.train.stored_code import Copies


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


def write(sweep: Path, trained: MemberResult, copies: Copies) -> None:
    """Stores a member: all files in a folder of another name, which is then renamed. `copies` are of the user's own code.

    **Raises:** `StoreError` if the sweep's folder cannot be written, or has been removed.
    """
    final = files.inside(sweep, MEMBERS, folder_of(sweep, trained.index).name)
    if is_done(sweep, trained.index):  # by another process that should not have; its result is the same
        return
    with files.new_folder(final) as folder:
        copies.write(folder)
        files.write_json(folder / run_folder.CONFIG, trained.config | copies.entry())
        files.write_arrays(folder / run_folder.WEIGHTS, trained.weights)
        files.write_text(folder / run_folder.METRICS, curves_as_csv(trained.curves))
        files.write_json(folder / run_folder.RESULT, trained.result)


def read_result(sweep: Path, index: int) -> dict[str, Any]:
    """Reads how a member ended.

    **Raises:** `StoreError` if its result is damaged.
    """
    try:
        found: Any = run_folder.RESULT_FILE.read(folder_of(sweep, index) / run_folder.RESULT)
    except errors.StoreError as problem:
        raise errors.StoreError(
            f"member {index} cannot be used: {problem} gnode sweep resume {sweep} trains it again."
        ) from problem
    return found


@checked
def set_aside_damaged(sweep: str | Path, indices: Iterable[int], *, warn: bool = True) -> None:
    """Puts members that cannot be read aside, each with a warning, so that they are trained again.

    A member whose weights or configuration were removed on purpose is not damaged: its result is there.

    No example: it needs the folder of a sweep.
    """
    sweep = as_path("sweep", sweep)
    known = [errors.whole("indices", index, at_least=0) for index in indices]
    if missing := [index for index in known if not folder_of(sweep, index).exists()]:
        raise errors.ArgumentError(f"indices has {missing[0]}, but {sweep} holds no such member.")
    for index in known:
        folder = files.inside(sweep, MEMBERS, folder_of(sweep, index).name)
        if problem := member_damage(folder):
            aside = _free_name(files.inside(sweep, DAMAGED), folder.name)
            with files.writing(aside.parent):
                files.rename(folder, aside)
            if warn:
                warnings.warn(f"{problem} Member {index} is now in {aside}, and is trained again.", stacklevel=2)


@checked
def member_damage(folder: str | Path) -> str | None:
    """Says what is wrong with the files of a member; None if nothing is.

    No example: it needs the folder of a member.
    """
    folder = as_path("folder", folder)
    try:
        run_folder.RESULT_FILE.read(folder / run_folder.RESULT)
        if (folder / run_folder.CONFIG).exists():
            run_folder.read_config(folder)
        if (folder / run_folder.WEIGHTS).exists():
            files.read_arrays(folder / run_folder.WEIGHTS)
    except errors.StoreError as problem:
        return str(problem)
    return None


def _free_name(folder: Path, name: str) -> Path:
    """A name in a folder that nothing has yet."""
    tries = 0
    while (place := folder / (name if tries == 0 else f"{name}-{tries}")).exists():
        tries += 1
    return place
