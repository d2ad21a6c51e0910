"""Tasks of a user's own code, named as FILE.py:NAME."""

import dataclasses
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from gnode import errors, own_code
from gnode.options import option_like
from gnode.tasks._generated import generated
from gnode.tasks._trials import Task
from gnode.tasks.registry import OPTIONS, OWN_OPTIONS
from gnode.types import as_key, plain_key

OF_TRIALS = ("trials", "validation", "test", "when", "outputs", "classes", "input_names", "output_names")
"""Options of every function that draws a trial: how many of them there are, and what they mean."""
RETURNS = "must be a function of a key that returns one trial, a function that returns a Task, or a Task"


def own_task(place: str, *, key: Any = 0, **options: Any) -> Task:
    """Makes a task from a user's own code.

    **Arguments:**

    - `place`: a name, as "FILE.py:NAME", of a `Task`; of a function that returns one; or of a function of a key that draws
      one trial, as `gnode.tasks.generated` takes it.
    - `key`: seed or key of the trials.
    - `options`: arguments of the function; for one that draws a trial also those of `gnode.tasks.generated`.

    **Returns:** a `Task` that can be made again from its name and options.
    """
    found = own_code.resolve(place)
    if isinstance(found, Task):
        _refuse(place, options, ())
        return dataclasses.replace(found, name=place, options={})
    arguments = own_code.signature(place, found).parameters
    declare_options(place)
    own = {name: value for name, value in options.items() if name in arguments}
    made = _called(place, found, as_key(key), own)
    stored = {"key": key if isinstance(key, int) else plain_key(as_key(key)), **options}
    if isinstance(made, Task):
        _refuse(place, options, tuple(arguments))
        return dataclasses.replace(made, name=place, options=stored)
    if not isinstance(made, tuple | list) or not 2 <= len(made) <= 3:
        raise errors.ArgumentError(
            f"task {errors.shown(place)} returns a {type(made).__name__}, but {RETURNS}: (inputs, targets) or (inputs, "
            f"targets, mask)."
        )
    _refuse(place, options, (*arguments, "dt", *OF_TRIALS))
    more = {name: options[name] for name in OF_TRIALS if name in options and name not in arguments}
    trial = partial(found, **own) if own else found
    task = generated(trial, dt=_bin_length(place, arguments, options), name=place, key=as_key(key), **more)
    return dataclasses.replace(task, options=stored)


def declare_options(place: str) -> None:
    """Makes the arguments of a user's function known as options of tasks."""
    found = own_code.resolve(place)
    if isinstance(found, Task):
        return
    for name, argument in own_code.signature(place, found).parameters.items():
        if name not in OPTIONS and name != "key" and argument.default is not inspect.Parameter.empty:
            OWN_OPTIONS[name] = option_like("task", argument.default, f"Argument of {own_code.own_name(place)}.")


def _called(place: str, function: Callable[..., Any], key: Any, own: dict[str, Any]) -> Any:
    """Calls a user's function, with a key if it takes one."""
    parameters = list(inspect.signature(function).parameters.values())
    required = [one for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    takes_key = any(one.name == "key" for one in parameters) or bool(required)
    try:
        if not takes_key:
            return function(**own)
        by_name = any(one.name == "key" and one.kind is one.KEYWORD_ONLY for one in parameters)
        return function(key=key, **own) if by_name else function(key, **own)
    except (errors.GnodeError, KeyboardInterrupt):
        raise
    except Exception as problem:  # whatever a user's code raises
        raise errors.ArgumentError(
            f"task {errors.shown(place)} fails ({type(problem).__name__}: {errors.shortened(str(problem))}); it {RETURNS}."
        ) from problem


def _bin_length(place: str, arguments: Any, options: dict[str, Any]) -> float:
    """The length of a bin: given, or the default of the function's own argument."""
    if "dt" in options:
        return options["dt"]
    default = arguments["dt"].default if "dt" in arguments else None
    if not isinstance(default, int | float):
        raise errors.ArgumentError(
            f"dt is missing: pass the length of a bin of {errors.shown(place)} in seconds (--dt 0.01), or give the function "
            f"an argument dt with a default."
        )
    return float(default)


def _refuse(place: str, options: dict[str, Any], known: tuple[str, ...]) -> None:
    if not options:
        return
    if not known:
        name = next(iter(options))
        raise errors.ArgumentError(
            f"task {errors.shown(place)} is made already, so it takes no options such as {name}."
        )
    for name in options:
        errors.one_of(f"an option of task {errors.in_one_line(place)}", name, sorted({*known} - {"key"}))
