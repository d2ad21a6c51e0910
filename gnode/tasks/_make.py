"""Making tasks by name or from a file."""

from inspect import signature
from pathlib import Path, PurePath
from typing import Any

from gnode import errors, own_code
from gnode.arguments import checked
from gnode.tasks._trials import Task, Trials
from gnode.tasks.registry import ALIASES, FILE_TASKS, TASKS, package_task

NOT_OPTIONS = {"path", "options", "name", "classes", "inputs", "targets", "times", "mask", "lengths"}
NOT_OPTIONS |= {"split", "input_names", "target_names"}
"""Parameters of the functions for files that are not options: the file provides their values."""


@checked
def make(name: str | Path, **options: Any) -> Task:
    """Makes a task by name, or from a file.

    **Arguments:**

    - `name`: a name in `TASKS`, the path of an .npz or .csv file, a task of neurogym, as `neurogym:GoNogo-v0`, or your own
      function, as `mytasks.py:integrate`, which draws a trial from a key or returns a `Task`.
    - `options`: arguments of the function that makes the task, such as `flip_flop`, `arrays` or `table_file`.

    **Returns:** a `Task`.

    **Raises:** `ArgumentError` for an unknown name or option; the message suggests the nearest one.

    >>> make("flipflop-ring", trials=3, validation=2).outputs
    2
    """
    if own_code.is_own(str(name)):
        from gnode.tasks.own_tasks import own_task

        return own_task(str(name), **options)
    arguments: tuple[Any, ...]
    file_task, of_package = FILE_TASKS.get(PurePath(name).suffix), package_task(str(name))
    if of_package is not None:
        entry, arguments, known = of_package, (str(name),), set(options)  # its function knows its options
    elif file_task is not None:
        from gnode.tasks._arrays import arrays

        known = ({*signature(file_task.load()).parameters, *signature(arrays).parameters}) - NOT_OPTIONS
        arguments = (name,)
        entry = file_task
    else:
        entry, arguments = TASKS[errors.one_of("task", ALIASES.get(str(name), name), TASKS)], ()
        known = set(list(signature(entry.load()).parameters)[len(entry.arguments) :])
    if isinstance(options.get("key"), list | tuple):  # a key of jax, as `Task.options` and JSON hold it
        from gnode.types import as_key

        options["key"] = as_key(options["key"])
    for option in options:
        errors.one_of(f"an option of task {errors.in_one_line(str(name))}", option, sorted(known))
    return entry(*arguments, **options)


@checked
def new_trials(task: Task, count: int, **changes: Any) -> Trials:
    """Draws new trials of a random task, independent of its training and validation trials.

    **Arguments:**

    - `task`: a task that is drawn at random, such as a flip-flop.
    - `count`: number of trials.
    - `changes`: options of the task that differ, e.g. `span` to test generalisation.

    **Returns:** `Trials`.

    **Raises:** `ArgumentError` if the task is not drawn at random.

    >>> new_trials(make("flipflop-square", trials=3, validation=2), 5, span=(2.0, 4.0))
    Trials(5 trials, 100 bins, 2 inputs, 2 targets per bin)
    """
    if task.options is None or "key" not in task.options:
        raise errors.ArgumentError(f"task {task.name} was not drawn at random, so there are no new trials of it.")
    count = errors.whole("count", count)
    another = 2 if task.options["key"] == 1 else 1
    return make(task.name, **task.options | {"trials": 1, "validation": count, "key": another} | changes).validation
