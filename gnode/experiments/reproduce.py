"""Making an artefact: train what it needs (or find it trained), analyse, draw, write."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gnode import errors, tasks
from gnode.experiments import results
from gnode.experiments.artefact import Artefact, SweepPlan, Trained
from gnode.experiments.registry import artefact
from gnode.expressivity import train_or_resume
from gnode.tasks import cache

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
    engine: str = "auto",
    progress: bool | None = None,
    tell: Progress = lambda what: None,
) -> Path:
    """Makes one artefact of the paper.

    **Arguments:** `name`, one of `registry.NAMES`; `out`, the folder for its files; `scale`, one of `artefact.SCALES` that
    it can be made at; `sweeps`, where trained sweeps are kept, OUT/sweeps by default: artefacts that need the same one find
    it there, and a killed one goes on; `only`, the names of some of its sweeps, to make it in part; `seeds`, another number
    of them than the scale's own; `engine` and `progress` of training; `tell`, called before each part.

    **Returns:** its JSON file.
    """
    of, out = artefact(name), Path(out)
    if scale not in of.scales:
        errors.one_of(f"scale of {name}", scale, of.scales)
    plans, missing = _chosen(of, scale, only)
    if not plans and (only or seeds is not None):
        raise errors.ArgumentError(
            f"{name} trains no networks, so --only and --seeds mean nothing to it; leave them out."
        )
    if seeds is not None:
        chosen = list(range(errors.whole("seeds", seeds)))
        plans = [dataclasses.replace(plan, settings={**plan.settings, "seed": chosen}) for plan in plans]
    results.refuse_smaller(out / f"{name}.json", scale, plans)
    need_data(of)
    ending = scale if seeds is None else f"{scale}-{seeds}-seeds"
    began = time.monotonic()
    folder = out / SWEEPS if sweeps is None else Path(sweeps)
    trained = Trained(scale, {})
    for plan in plans:
        tell(f"sweep {plan.name}")
        how: dict[str, Any] = {"engine": engine, "progress": progress}
        place = folder / f"{plan.name}-{ending}"
        how |= {"search": plan.search, "search_with": plan.search_with}
        trained.sweeps[plan.name] = train_or_resume(plan.task, place, **how, **plan.settings)
    tell("analysis")
    made = of.analyse(trained)
    words = results.command(name, scale, only, seeds)
    return results.write(out, of, scale, seeds, words, plans, missing, made, trained, time.monotonic() - began)


def _chosen(of: Artefact, scale: str, only: Sequence[str]) -> tuple[list[SweepPlan], list[str]]:
    plans = of.plans(scale)
    if not only or not plans:
        return plans, []
    for name in only:
        errors.one_of(f"--only of {of.name}", name, [plan.name for plan in plans])
    if not of.may_be_partial:
        raise errors.ArgumentError(f"{of.name} needs all of its sweeps; leave --only out.")
    return [plan for plan in plans if plan.name in only], [plan.name for plan in plans if plan.name not in only]


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
