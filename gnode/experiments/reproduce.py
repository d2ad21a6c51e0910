"""Making an artefact: train what it needs (or find it trained), analyse, draw, write."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gnode import errors, tasks
from gnode.experiments import kept, results
from gnode.experiments.artefact import Artefact, Trained
from gnode.experiments.asked import Asked
from gnode.experiments.registry import artefact
from gnode.expressivity import train_or_resume
from gnode.tasks import cache
from gnode.train import Sweep

SWEEPS = "sweeps"

Progress = Callable[[str], None]
"""Called with what is about to be done."""


def reproduce(
    name: str,
    out: str | Path,
    *,
    scale: str = "smoke",
    sweeps: str | Path | None = None,
    only: Sequence[str] = (),
    seeds: int | None = None,
    kernel: str | None = None,
    engine: str = "auto",
    progress: bool | None = None,
    tell: Progress = lambda what: None,
) -> Path:
    """Makes one artefact of the paper.

    **Arguments:** `name`, one of `registry.NAMES`; `out`, the folder for its files; `scale`, one of `artefact.SCALES` that
    it can be made at; `sweeps`, where trained sweeps are kept, OUT/sweeps by default: artefacts that need the same one find
    it there, and a killed one goes on; `only`, the names of some of its sweeps, to make it in part; `seeds`, another number
    of them than the scale's own; `kernel`, `engine` and `progress` of training; `tell`, called before each part.

    **Returns:** its JSON file.
    """
    asked, out = Asked(artefact(name), scale, tuple(only), seeds, kernel), Path(out)
    path = kept.place(out, asked)
    began = time.monotonic()
    trained = Trained(scale, _sweeps(asked, out, sweeps, tell, engine=engine, progress=progress))
    tell("analysis")
    made = asked.of.analyse(trained)
    kept.make_room(path, asked)
    results.write(path, asked, made, trained, time.monotonic() - began)
    return path


def prepare(asked: Asked, out: str | Path, sweeps: str | Path | None = None) -> list[Sweep]:
    """The sweeps of what is asked for as folders, not trained: any number of processes may `gnode.resume_sweep` parts of
    them, and `reproduce` finds them in `out` or `sweeps`.
    """
    if not asked.plans:
        raise errors.ArgumentError(
            f"{asked.of.name} trains no networks, so there is nothing to prepare; leave --prepare out."
        )
    return list(_sweeps(asked, Path(out), sweeps, prepare=True).values())


def _sweeps(
    asked: Asked, out: Path, sweeps: str | Path | None, tell: Progress = lambda what: None, **how: Any
) -> dict[str, Sweep]:
    """What is asked for needs these, by name."""
    need_data(asked.of)
    folder = out / SWEEPS if sweeps is None else Path(sweeps)
    made = {}
    for plan in asked.plans:
        tell(f"sweep {plan.name}")
        searched = {"search": plan.search, "search_with": plan.search_with}
        place = folder / f"{plan.name}-{asked.ending}"
        made[plan.name] = train_or_resume(plan.task, place, **searched, **how, **plan.settings)
    return made


def missing_data(of: Artefact) -> list[str]:
    """The data sets that an artefact needs and that are not there."""
    return [name for name in of.data if cache.find(name, tasks.DATASETS[name].files) is None]


def need_data(of: Artefact) -> None:
    """An error in one sentence if data are missing."""
    missing = missing_data(of)
    if missing:
        raise errors.ArgumentError(
            f"{of.name} needs data that are not there ({', '.join(missing)}); get them with `gnode data get`, or set "
            f"GNODE_DATA to a folder that holds them."
        )
