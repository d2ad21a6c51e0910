"""Tasks by name or file."""

from inspect import signature
from pathlib import PurePath
from typing import Any

from gnode import errors
from gnode.tasks._trials import Task, Trials
from gnode.tasks.registry import ALIASES, FILE_TASKS, TASKS

NOT_OPTIONS = {"path", "options", "name", "classes", "inputs", "targets", "times", "mask", "lengths"}
"""Arguments of the makers of file tasks that the file itself provides."""


def make(name: str, **options: Any) -> Task:
    """Makes the task of that name; a name that ends in .npz or .csv is a file of yours.

    **Raises:** `ArgumentError` for an unknown name or option, with the nearest one suggested.

    >>> make("flipflop-ring", trials=3, validation=2).outputs
    2
    """
    of_file = FILE_TASKS.get(PurePath(name).suffix)
    if of_file is not None:
        from gnode.tasks._arrays import arrays

        known = ({*signature(of_file.load()).parameters, *signature(arrays).parameters}) - NOT_OPTIONS
        arguments: tuple[Any, ...] = (name,)
        maker = of_file
    else:
        maker, arguments = TASKS[errors.one_of("task", ALIASES.get(name, name), TASKS)], ()
        known = set(list(signature(maker.load()).parameters)[len(maker.arguments) :])
    for option in options:
        errors.one_of(f"an option of task {name}", option, sorted(known))
    return maker(*arguments, **options)


def new_trials(task: Task, count: int, **changes: Any) -> Trials:
    """Draws trials of a named task that are not among its own, with other options if wanted.

    >>> new_trials(make("flipflop-square", trials=3, validation=2), 5, span=(2.0, 4.0)).inputs.shape[0]
    5
    """
    if task.options is None or "key" not in task.options:
        raise errors.ArgumentError(f"task {task.name} was not drawn at random, so there are no new trials of it.")
    another = 2 if task.options["key"] == 1 else 1
    return make(task.name, **task.options | {"trials": 1, "validation": count, "key": another} | changes).validation
