"""Settings that are objects of a user's own: how a folder names them, and what stands for them until they are passed again.

A folder holds no code, so of an optimiser of optax, a loss or a metric that is a function it keeps the name alone. A run
that has one is loaded as any other; to resume it, the object is needed again.
"""

import dataclasses
import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from gnode import errors
from gnode.train.named import name_of
from gnode.train.settings import Settings

__all__ = ["Missing", "as_stored", "from_stored", "with_objects"]


@dataclasses.dataclass(frozen=True)
class Missing:
    """Stands for an object that a folder names but does not hold: `kind` is "function" or "object"."""

    kind: str
    text: str

    @property
    def __name__(self) -> str:
        return self.text.rsplit(":", 1)[-1].rsplit(".", 1)[-1]

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises a `StoreError`: it cannot be used."""
        raise errors.StoreError(f"{self.text} is not stored with its run, which holds no code; pass it again.")

    init = update = __call__


def as_stored(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings as `config.json` holds them: an object as `{"function": "module:name"}` or `{"object": "text"}`.

    >>> as_stored({"lr": 0.1, "loss": dataclasses.replace})
    {'lr': 0.1, 'loss': {'function': 'dataclasses:replace'}}
    """
    return {name: _stored(value) for name, value in settings.items()}


def from_stored(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns settings with a `Missing` for every object that they name.

    >>> from_stored({"lr": 0.1, "loss": {"function": "mine:loss"}})["loss"]
    Missing(kind='function', text='mine:loss')
    """
    return {name: _read(value) for name, value in settings.items()}


def with_objects(settings: Settings, given: Mapping[str, Any], folder: Path) -> Settings:
    """Returns the settings of a stored run with the objects that were passed again; those that are None were not.

    **Raises:** `StoreError` if one is still missing; `ArgumentError` for one that the folder holds, or another metric.
    """
    given = {name: value for name, value in given.items() if value is not None}
    lacking = {name: texts for name in ("optimiser", "loss", "metrics") if (texts := _texts(getattr(settings, name)))}
    for name in given:
        if name not in lacking:
            raise errors.ArgumentError(f"{name} is stored with the run in {folder}; leave it out.")
    if still := [name for name in lacking if name not in given]:
        named = ", ".join(text for name in still for text in lacking[name])
        call = ", ".join(f"{name}=..." for name in still)
        raise errors.StoreError(
            f"{folder} was trained with objects that a folder cannot hold ({errors.shortened(named, 200)}); pass them "
            f"again: gnode.resume({str(folder)!r}, {call})."
        )
    full = dataclasses.replace(settings, **given)
    before, now = ([name_of(metric) for metric in one.metrics] for one in (settings, full))
    if before != now:
        raise errors.ArgumentError(
            f"metrics has {', '.join(now) or 'none'}, but the run in {folder} has {', '.join(before)}."
        )
    return full


def _stored(value: Any) -> Any:
    if isinstance(value, Missing):
        return {value.kind: value.text}
    if _is_optimiser(value):  # before tuples: optax's are named ones
        return {"object": f"{type(value).__module__.split('.')[0]}: {_parts(value.update)}"}
    if callable(value):
        inner = value.func if isinstance(value, functools.partial) else value
        return {"function": _place(inner)} if hasattr(inner, "__qualname__") else {"object": _place(type(inner))}
    return type(value)(map(_stored, value)) if type(value) in (tuple, list) else value


def _place(value: Any) -> str:
    """The module and name of a function or class. Of one inside another the outer names it: optax's are called update_fn."""
    return f"{value.__module__}:{value.__qualname__.split('.<locals>')[0]}"


def _is_optimiser(value: Any) -> bool:
    return callable(getattr(value, "init", None)) and callable(getattr(value, "update", None))


def _parts(update: Any) -> str:
    """Names the function that made an optimiser and, for a chain of them, its links: what its closure holds."""
    held = [cell.cell_contents for cell in getattr(update, "__closure__", None) or ()]
    if wrapped := [one for one in held if _is_optimiser(one)]:
        return _parts(wrapped[0].update)
    links = [one for several in held if isinstance(several, tuple | list) for one in several if callable(one)]
    name = getattr(update, "__qualname__", type(update).__name__).split(".<locals>")[0].removesuffix(".update")
    return f"{name}({', '.join(map(_parts, links))})" if links else name


def _read(value: Any) -> Any:
    if isinstance(value, dict) and len(value) == 1 and (kind := next(iter(value))) in ("function", "object"):
        return Missing(kind, str(value[kind]))
    return tuple(map(_read, value)) if isinstance(value, list) else value


def _texts(value: Any) -> list[str]:
    """The names of the objects that a setting lacks."""
    return [one.text for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, Missing)]
