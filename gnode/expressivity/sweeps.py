"""A sweep that is made once: the same call trains it, goes on with it, or finds it done."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gnode import errors, train
from gnode.train import Grid, Sweep
from gnode.train.swept import SPEC


def train_or_resume(
    task: str,
    out: str | Path,
    *,
    engine: str = "auto",
    progress: bool | None = None,
    search: Sequence[str] = (),
    search_with: Mapping[str, Any] | None = None,
    prepare: bool = False,
    **settings: Any,
) -> Sweep:
    """`gnode.sweep`, or where `out` holds that very sweep already, what is left of it.

    A folder with another sweep in it is an error: results of different settings are never mixed. `prepare`: train nothing,
    now that the folder is there.
    """
    folder = Path(out)
    how: dict[str, Any] = {"engine": engine, "progress": progress}
    if not (folder / SPEC).exists():
        return train.sweep(task, folder, search=search, search_with=search_with, prepare=prepare, **how, **settings)
    there, wanted = Sweep(folder).grid, Grid.over(task, search, search_with, **settings)
    if (there.task, there.members, there.search) != (wanted.task, wanted.members, wanted.search):
        raise errors.StoreError(
            f"{folder} holds a sweep with other settings than these ({_differing(there, wanted)}); choose another folder, "
            f"or remove that one."
        )
    return Sweep(folder) if prepare else train.resume_sweep(folder, **how)


def _differing(there: Grid, wanted: Grid) -> str:
    """The names of what differs."""
    names = dict.fromkeys([*there.axes, *wanted.axes])
    parts = [name for name in names if there.axes.get(name) != wanted.axes.get(name)]
    return ", ".join([*parts, *(["search"] if there.search != wanted.search else [])]) or "the task"
