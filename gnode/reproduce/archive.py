"""The results that a folder holds: which file a new result is written to, and which result it may replace.

`NAME.json` holds an artefact's result at the largest scale. If some of the artefact's sweeps are missing from it, a result
at a smaller scale that has them may lie beside it, in `NAME-SCALE.json`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gnode import errors, files
from gnode.reproduce.artefact import SCALES, SweepPlan
from gnode.reproduce.request import Request

Result = dict[str, Any]
"""The content of a result's JSON file."""

SECTIONS = {"name", "scale", "command", "sweeps", "sweeps_left_out", "numbers", "checks", "figures", "run"}
"""The keys that every result has; a JSON file without them is not a result."""


def result_path(folder: Path, request: Request) -> Path:
    """Returns the file that the requested result is written to.

    **Raises:** `StoreError` if that file holds a larger result.
    """
    names, path = {plan.name for plan in request.plans}, folder / f"{request.name}.json"
    if path.exists():
        stored = _read(path)
        if names and names <= set(stored["sweeps_left_out"]) and _rank(stored["scale"]) > _rank(request.scale):
            path = folder / f"{request.name}-{request.scale}.json"
    refuse_smaller(path, request.scale, request.plans)
    return path


def refuse_smaller(path: Path, scale: str, plans: Sequence[SweepPlan]) -> None:
    """Raises a `StoreError` if the result in `path` is larger than one of this scale with these sweeps.

    A result may be replaced by one of a larger scale, or of the same scale with at least the same sweeps and seeds.
    """
    if not path.exists():
        return
    stored = _read(path)
    if _rank(stored["scale"]) < _rank(scale):
        return
    seeds = {plan.name: _count_seeds(plan.settings) for plan in plans}
    has_more = any(name not in seeds or _count_seeds(own) > seeds[name] for name, own in stored["sweeps"].items())
    if stored["scale"] != scale or has_more:
        raise errors.StoreError(
            f"{path} holds a result at {stored['scale']} scale, which a result with a smaller scale, fewer seeds or fewer "
            f"sweeps (it has {', '.join(stored['sweeps']) or 'none'}) must not replace; choose another --out, or leave "
            f"--only and --seeds out."
        )


def set_aside_smaller(path: Path, request: Request) -> None:
    """Renames a result of a smaller scale to `NAME-SCALE.json` if the requested one lacks some of its sweeps."""
    if not path.exists():
        return
    stored = _read(path)
    if _rank(stored["scale"]) >= _rank(request.scale) or not set(stored["sweeps"]) & set(request.left_out):
        return
    aside = path.with_name(f"{path.stem}-{stored['scale']}.json")
    renamed = {name: aside.stem + name.removeprefix(path.stem) for name in stored["figures"]}
    for old, new in renamed.items():
        for ending in (".png", ".pdf"):
            figure = (path.parent / old).with_suffix(ending)
            if figure.exists():
                figure.rename((path.parent / new).with_suffix(ending))
    files.write_json(aside, stored | {"figures": list(renamed.values())})


def read_results(folder: Path) -> dict[str, list[Result]]:
    """Returns the results in a folder by artefact: the one of the largest scale, then those with sweeps that it lacks."""
    found: dict[str, list[Result]] = {}
    for path in sorted(folder.glob("*.json")):
        content = _read(path)
        found.setdefault(content["name"], []).append(content)
    return {name: _without_superseded(results) for name, results in found.items()}


def _without_superseded(results: list[Result]) -> list[Result]:
    """Returns, from the largest scale down, the results with a sweep that no larger one has."""
    first, *others = sorted(results, key=lambda content: -_rank(content["scale"]))
    chosen, missing = [first], set(first["sweeps_left_out"])
    for other in others:
        if missing & set(other["sweeps"]):
            chosen.append(other)
            missing -= set(other["sweeps"])
    return chosen


def extent(content: Result) -> list[str]:
    """Describes how much of an artefact a result covers: its scale, whether in part, and the number of seeds if changed."""
    seeds = content.get("seeds")
    part = ["in part"] if content["sweeps_left_out"] else []
    return [content["scale"], *part, *([] if seeds is None else [f"{seeds} seed{'s' if seeds > 1 else ''}"])]


def _read(path: Path) -> Result:
    content = files.read_json(path)
    if not isinstance(content, dict) or not content.keys() >= SECTIONS or content["scale"] not in SCALES:
        raise errors.StoreError(f"{path} is not a result of gnode reproduce; move it away, or choose another --out.")
    return content


def _rank(scale: str) -> int:
    return list(SCALES).index(scale)


def _count_seeds(settings: Mapping[str, Any]) -> int:
    seeds = settings.get("seed", 0)
    return len(seeds) if isinstance(seeds, list | tuple) else 1
