"""Data: what networks are asked to do."""

from collections.abc import Callable
from functools import partial
from inspect import signature
from pathlib import PurePath
from typing import Any

from gnode import errors
from gnode.tasks import files as files
from gnode.tasks.arrays import ARRAY_NAMES
from gnode.tasks.arrays import array_file as array_file
from gnode.tasks.arrays import arrays as arrays
from gnode.tasks.base import Task as Task
from gnode.tasks.base import Trials as Trials
from gnode.tasks.baseline import last_value_error as last_value_error
from gnode.tasks.datasets.characters import characters as characters
from gnode.tasks.datasets.originals import DATASETS as DATASETS
from gnode.tasks.datasets.speech import speech as speech
from gnode.tasks.datasets.walker2d import walker2d as walker2d
from gnode.tasks.filling import FILLS as FILLS
from gnode.tasks.filling import fill as fill
from gnode.tasks.flip_flop import AMPLITUDES as AMPLITUDES
from gnode.tasks.flip_flop import flip_flop as flip_flop
from gnode.tasks.ou import OrnsteinUhlenbeck as OrnsteinUhlenbeck
from gnode.tasks.ou import ou as ou
from gnode.tasks.series import Series as Series
from gnode.tasks.table import table_file as table_file

TASKS: dict[str, Callable[..., Task]] = {
    **{f"flipflop-{name}": partial(flip_flop, name) for name in AMPLITUDES},
    "ou": ou,
    "characters": characters,
    "walker2d": walker2d,
    "speech": speech,
}
"""Every named task, by the name that the command line uses."""

ALIASES = {"flipflop-disk": "flipflop-annulus"}
"""Other names that the paper uses."""


FILE_MAKERS: dict[str, Callable[..., Task]] = {".npz": array_file, ".csv": table_file}
"""What makes a task of a user's file, by its ending."""


def make(name: str, **options: Any) -> Task:
    """The task of that name; a name that ends in .npz or .csv is a user's file.

    >>> make("flipflop-ring", trials=3, validation=2).outputs
    2
    """
    of_file = FILE_MAKERS.get(PurePath(name).suffix)
    if of_file is not None:
        maker = partial(of_file, name)
        known = {*signature(of_file).parameters, *signature(arrays).parameters}
        known -= {"path", "options", "name", "classes", *ARRAY_NAMES} - {"dt"}
    else:
        maker = TASKS[errors.one_of("task", ALIASES.get(name, name), TASKS)]
        known = set(signature(maker).parameters)
    for option in options:
        errors.one_of(f"an option of task {name}", option, sorted(known))
    return maker(**options)


def file_of(name: str) -> dict[str, str] | None:
    """Which file a task is made of (see `gnode.tasks.files`); None if it is not made of one."""
    return files.record(name) if PurePath(name).suffix in FILE_MAKERS else None


def new_trials(task: Task, count: int, **changes: Any) -> Trials:
    """Trials of a named task that are not among its own: drawn with another key, and with other options if wanted.

    >>> new_trials(make("flipflop-square", trials=3, validation=2), 5, span=(2.0, 4.0)).inputs.shape[0]
    5
    """
    if task.options is None or "key" not in task.options:
        raise errors.ArgumentError(f"task {task.name} was not drawn at random, so there are no new trials of it.")
    another = 2 if task.options["key"] == 1 else 1
    return make(task.name, **task.options | {"trials": 1, "validation": count, "key": another} | changes).validation
