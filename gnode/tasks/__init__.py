"""Data: what networks are asked to do."""

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

from gnode import errors
from gnode.tasks.arrays import ARRAY_NAMES
from gnode.tasks.arrays import array_file as array_file
from gnode.tasks.arrays import arrays as arrays
from gnode.tasks.base import Task as Task
from gnode.tasks.base import Trials as Trials
from gnode.tasks.flip_flop import AMPLITUDES as AMPLITUDES
from gnode.tasks.flip_flop import flip_flop as flip_flop

TASKS: dict[str, Callable[..., Task]] = {f"flipflop-{name}": partial(flip_flop, name) for name in AMPLITUDES}
"""Every named task, by the name that the command line uses."""

ALIASES = {"flipflop-disk": "flipflop-annulus"}
"""Other names that the paper uses."""


def make(name: str, **options: Any) -> Task:
    """The task of that name; a name that ends in .npz is a file of arrays.

    >>> make("flipflop-ring", trials=3, validation=2).outputs
    2
    """
    if name.endswith(".npz"):
        maker: Callable[..., Task] = partial(array_file, name)
        known = {*signature(array_file).parameters, *signature(arrays).parameters} - {
            "path",
            "options",
            *ARRAY_NAMES,
        } | {"dt"}
    else:
        maker = TASKS[errors.one_of("task", ALIASES.get(name, name), TASKS)]
        known = set(signature(flip_flop).parameters) - {"amplitude"}
    for option in options:
        errors.one_of(f"an option of task {name}", option, sorted(known))
    return maker(**options)
