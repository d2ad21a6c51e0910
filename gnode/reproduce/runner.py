"""Makes an artefact: trains its sweeps, or finds them trained, analyses them and writes the result."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gnode import errors, tasks
from gnode.arguments import check_takes, checked
from gnode.os_errors import as_path
from gnode.reproduce import archive, result_files
from gnode.reproduce.artefact import Artefact, SweepPlan, Trained
from gnode.reproduce.request import Request
from gnode.reproduce.same_code import common_code, refuse_another
from gnode.sweeps import Sweep, resume_sweep, sweep_or_resume
from gnode.sweeps.engines.registry import check_engine
from gnode.tasks import cache
from gnode.training_code import record_code

SWEEPS = "sweeps"
"""The folder, inside the folder of results, that sweeps are kept in by default."""

Tell = Callable[[str], None]
"""A function that is called with the name of each step before the step begins."""


@checked
def run_artefact(
    request: Request,
    out: str | Path,
    *,
    sweeps: str | Path | None = None,
    engine: str = "auto",
    progress: bool | None = None,
    tell: Tell = lambda step: None,
) -> Path:
    """Makes one artefact of the paper: trains its networks, analyses them, draws the figures and writes all files.

    Sweeps that are trained already are reused, and an interrupted one is resumed.

    **Arguments:**

    - `request`: the artefact and its scale, see `Request`.
    - `out`: the folder that the files are written to.
    - `sweeps`: the folder of trained sweeps, which all artefacts share; OUT/sweeps by default.
    - `engine`, `progress`: as in `gnode.sweep`.
    - `tell`: called with the name of each step before the step begins.

    **Returns:** the path of the JSON file.

    **Raises:** `StoreError` if `out` holds a larger result of the artefact; `ArgumentError` if a data set is missing.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> run_artefact(Request("capacity"), folder.name).name
    'capacity.json'
    """
    out = as_path("out", out)
    sweeps = None if sweeps is None else as_path("sweeps", sweeps)
    check_engine(engine)
    check_takes("tell", tell)
    path = archive.result_path(out, request)
    began = time.monotonic()
    trained = Trained(request.scale, _make_sweeps(request, out, sweeps, tell, engine=engine, progress=progress))
    code = common_code(trained.sweeps.values())
    tell("analysis")
    outcome = request.artefact.analyse(trained)
    archive.set_aside_smaller(path, request)
    result_files.write_result(path, request, outcome, trained, time.monotonic() - began, code)
    return path


@checked
def prepare_artefact(request: Request, out: str | Path, *, sweeps: str | Path | None = None) -> list[Sweep]:
    """Writes the sweep folders of an artefact without training any network.

    Any number of processes may then train parts of them with `gnode.resume_sweep`. `run_artefact` with the same arguments
    finds the trained networks.

    **Arguments:** `request`, `out` and `sweeps`, as in `run_artefact`.

    **Returns:** the sweeps.

    **Raises:** `ArgumentError` if the artefact trains no networks.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> [sweep.number() for sweep in prepare_artefact(Request("annulus-generalisation"), folder.name)]
    [2]
    """
    if not request.plans:
        raise errors.ArgumentError(
            f"{request.name} trains no networks, so there is nothing to prepare; use `gnode reproduce run` instead."
        )
    return list(_make_sweeps(request, as_path("out", out), sweeps).values())


def _make_sweeps(
    request: Request, out: Path, sweeps: str | Path | None, tell: Tell = lambda step: None, **how: Any
) -> dict[str, Sweep]:
    """Trains, resumes or finds the requested sweeps, and returns them by name; without `how`, they are only prepared."""
    require_data(request.artefact, request.plans)
    folder = out / SWEEPS if sweeps is None else as_path("sweeps", sweeps)
    prepared = {}
    for plan in request.plans:
        searched = {"search": plan.search, "search_with": plan.search_with}
        place = folder / f"{plan.name}-{request.folder_suffix}"
        prepared[plan.name] = sweep_or_resume(plan.task, place, prepare=True, **searched, **plan.settings)
    refuse_another(prepared.values())
    made = {}
    for name, sweep in prepared.items():
        tell(f"sweep {name}")
        if sweep.todo():
            record_code(sweep.folder, begun=bool(sweep.done()))
        made[name] = resume_sweep(sweep.folder, **how) if how else sweep
    return made


def missing_data(artefact: Artefact, plans: Sequence[SweepPlan] | None = None) -> list[str]:
    """Returns the names of the data sets that an artefact, or some of its sweeps, needs and that are not on this machine."""
    needed = [name for name in artefact.data if plans is None or name.partition("-v")[0] in {one.task for one in plans}]
    return [name for name in needed if cache.find(name, tasks.DATASETS[name].files) is None]


def require_data(artefact: Artefact, plans: Sequence[SweepPlan] | None = None) -> None:
    """Raises an `ArgumentError` if a data set that the artefact, or those of its sweeps, needs is missing."""
    missing = missing_data(artefact, plans)
    if missing:
        raise errors.ArgumentError(
            f"{artefact.name} needs data sets that are missing ({', '.join(missing)}); get them with `gnode data get`, or "
            f"set GNODE_DATA to a folder that holds them."
        )
