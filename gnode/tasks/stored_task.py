"""A task of arrays in memory as named arrays, which a run's folder keeps so that the task can be read again."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gnode import errors, files
from gnode.tasks._generated import FunctionTrials
from gnode.tasks._trials import Task, Trials

TASK = "task.npz"
"""The file in the folder of a run or a sweep."""
_PARTS = ("train", "validation", "test")
_ARRAYS = ("inputs", "targets", "dt", "mask", "lengths")
_NAMES = ("classes", "input_names", "output_names")
_FACTS = "facts"


def write_task(path: Path, task: Task) -> None:
    """Writes a task to an .npz file. What draws new trials is code, which the file does not hold."""
    arrays: dict[str, np.ndarray] = {}
    for part in _PARTS:
        trials = getattr(task, part)
        if trials is not None:
            arrays |= {f"{part}_{name}": np.asarray(getattr(trials, name)) for name in _ARRAYS}
    names = ("name", "outputs", "loss", "when", "since_before", *_NAMES)
    arrays[_FACTS] = np.array(json.dumps({name: getattr(task, name) for name in names}))
    files.write_arrays(path, arrays, compressed=True)


def read_task(path: Path, draws: Callable[..., Any] | None = None) -> Task:
    """Reads a task that `write_task` wrote; `draws` is the function that draws its trials, if there is one.

    **Raises:** `StoreError` if the file is missing or damaged.
    """
    arrays = files.read_arrays(path)
    try:
        facts: dict[str, Any] = json.loads(str(arrays[_FACTS]))
        trials = {part: _trials(part, arrays) for part in _PARTS if f"{part}_inputs" in arrays}
        named: dict[str, Any] = {name: tuple(facts[name]) for name in _NAMES if facts[name]}
        kept = {name: facts[name] for name in ("name", "outputs", "loss", "when")}
        task = Task(**kept, **trials, **named, since_before=facts.get("since_before", False))
    except (errors.ArgumentError, KeyError, TypeError, ValueError) as problem:
        raise files.damaged(path, str(problem)) from problem
    return task if draws is None else with_function(task, draws)


def with_function(task: Task, draws: Callable[..., Any]) -> Task:
    """Returns a task whose new trials are drawn by a user's function."""
    return dataclasses.replace(task, generator=FunctionTrials(task.dt, draws))


def _trials(part: str, arrays: dict[str, np.ndarray]) -> Trials:
    inputs, targets, dt, mask, lengths = (arrays[f"{part}_{name}"] for name in _ARRAYS)
    return Trials(inputs, targets, float(dt) if dt.ndim == 0 else dt, mask, lengths)


def is_in_memory(task: Task) -> bool:
    """Whether a task is known by no name from which it could be made again."""
    return task.options is None
