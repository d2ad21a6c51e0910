"""The settings of a run as options of a command: one table (`gnode.train.spec.OPTIONS`) serves `train` and `sweep run`."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from gnode import errors
from gnode.train.spec import OPTIONS

TASK_HELP = "A task (see `gnode list`), an .npz or .csv file, or your own function, as FILE.py:NAME."
Own = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="An argument of your own task or cell, as rank=2; may be repeated."
    ),
]

PANELS = {"task": "Task", "network": "Network", "solver": "Time", "fit": "Training", "seed": "Training"}


def with_run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the command with an option for every setting; it gets the texts of those that were given as `given`."""
    return with_options(command, tuple(OPTIONS))  # as they are now: those of users' own code have no flag, but --set


def with_options(command: Callable[..., Any], options: tuple[str, ...]) -> Callable[..., Any]:
    """Returns the command with an option for each of some settings; it gets the texts of those given as `given`."""

    def wrapped(**arguments: Any) -> Any:
        given = {name: arguments.pop(name) for name in options}
        return command(given={name: text for name, text in given.items() if text is not None}, **arguments)

    own = [parameter for name, parameter in inspect.signature(command).parameters.items() if name != "given"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(name))
        for name in options
    ]
    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own] + added
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__doc__ = command.__doc__
    wrapped.__name__ = command.__name__
    return wrapped


def _annotation(name: str) -> Any:
    option = OPTIONS[name]
    flag = "--" + name.replace("_", "-")
    return Annotated[
        str | None, typer.Option(flag, help=option.help, rich_help_panel=PANELS[option.part], metavar="VALUE")
    ]


def own_settings(texts: list[str] | None) -> dict[str, str]:
    """Reads the arguments of users' own code, written as NAME=VALUE."""
    found: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise errors.ArgumentError(
                f"set is {errors.shown(text)}, but must be written as NAME=VALUE, such as rank=2."
            )
        found[name.strip().replace("-", "_")] = value
    return found
