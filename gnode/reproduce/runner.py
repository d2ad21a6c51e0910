"""Making an artefact: train what it needs (or find it trained), analyse, draw, write."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gnode import errors, tasks
from gnode.reproduce import archive, result_files
from gnode.reproduce.artefact import Artefact, Trained
from gnode.reproduce.request import Request
from gnode.sweeps import Sweep, sweep_or_resume
from gnode.tasks import cache

SWEEPS = "sweeps"

Tell = Callable[[str], None]
"""Called with the name of a step before it begins."""


def run_artefact(
    request: Request,
    out: str | Path,
    *,
    sweeps: str | Path | None = None,
    engine: str = "auto",
    progress: bool | None = None,
    tell: Tell = lambda step: None,
) -> Path:
    """Makes one artefact of the paper: trains what it needs (or finds it trained), analyses, draws, writes.

    **Arguments:**

    - `request`: which artefact, at which scale; see `Request`.
    - `out`: the folder for its files.
    - `sweeps`: where trained sweeps are kept, OUT/sweeps by default: artefacts that need the same one find it there, and
      one that was killed is resumed.
    - `engine`, `progress`: as in `gnode.sweep`.
    - `tell`: called with the name of each step before it begins.

    **Returns:** the artefact's JSON file.
    """
    out = Path(out)
    path = archive.place(out, request)
    began = time.monotonic()
    trained = Trained(request.scale, _sweeps(request, out, sweeps, tell, engine=engine, progress=progress))
    tell("analysis")
    made = request.of.analyse(trained)
    archive.make_room(path, request)
    result_files.write(path, request, made, trained, time.monotonic() - began)
    return path


def prepare_artefact(request: Request, out: str | Path, *, sweeps: str | Path | None = None) -> list[Sweep]:
    """Writes the sweep folders of an artefact without training them.

    Any number of processes may then `gnode.resume_sweep` parts of them, and `run_artefact` with the same arguments finds
    them.

    **Raises:** `ArgumentError` if the artefact trains no networks.
    """
    if not request.plans:
        raise errors.ArgumentError(
            f"{request.of.name} trains no networks, so there is nothing to prepare; leave --prepare out."
        )
    return list(_sweeps(request, Path(out), sweeps, prepare=True).values())


def _sweeps(
    request: Request, out: Path, sweeps: str | Path | None, tell: Tell = lambda step: None, **how: Any
) -> dict[str, Sweep]:
    """What is asked for needs these, by name."""
    need_data(request.of)
    folder = out / SWEEPS if sweeps is None else Path(sweeps)
    made = {}
    for plan in request.plans:
        tell(f"sweep {plan.name}")
        searched = {"search": plan.search, "search_with": plan.search_with}
        place = folder / f"{plan.name}-{request.ending}"
        made[plan.name] = sweep_or_resume(plan.task, place, **searched, **how, **plan.settings)
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
