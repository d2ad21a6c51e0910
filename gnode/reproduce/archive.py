"""The results that a folder holds: where a new one goes, and what it may replace.

NAME.json is an artefact's result of the largest scale. If that is in part, what it leaves out may be there at a smaller
scale beside it, in NAME-SCALE.json.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gnode import errors, files
from gnode.reproduce.artefact import SCALES, SweepPlan
from gnode.reproduce.request import Request

Result = dict[str, Any]
"""What a JSON file of `results` holds."""

SECTIONS = {"name", "scale", "command", "sweeps", "sweeps_left_out", "numbers", "checks", "figures", "run"}
"""By which a result is told from any other JSON file."""


def place(folder: Path, request: Request) -> Path:
    """The file for the result that is asked for; an error if there is a larger one that it would replace."""
    names, path = {plan.name for plan in request.plans}, folder / f"{request.of.name}.json"
    if path.exists():
        there = _read(path)
        if names and names <= set(there["sweeps_left_out"]) and _rank(there["scale"]) > _rank(request.scale):
            path = folder / f"{request.of.name}-{request.scale}.json"
    refuse_smaller(path, request.scale, request.plans)
    return path


def refuse_smaller(path: Path, scale: str, plans: Sequence[SweepPlan]) -> None:
    """A result is replaced by one of a larger scale, or of the same scale that has all of its sweeps and seeds."""
    if not path.exists():
        return
    there = _read(path)
    if _rank(there["scale"]) < _rank(scale):
        return
    seeds = {plan.name: _seeds(plan.settings) for plan in plans}
    has_more = any(name not in seeds or _seeds(own) > seeds[name] for name, own in there["sweeps"].items())
    if there["scale"] != scale or has_more:
        raise errors.StoreError(
            f"{path} holds a result at {there['scale']} scale, and one with a smaller scale, fewer seeds or without some of "
            f"its sweeps ({', '.join(there['sweeps']) or 'none'}) must not replace it; choose another --out, or ask for all."
        )


def make_room(path: Path, request: Request) -> None:
    """Puts a result of a smaller scale aside, as NAME-SCALE.json, before one that leaves out some of it takes its place."""
    if not path.exists():
        return
    there = _read(path)
    if _rank(there["scale"]) >= _rank(request.scale) or not set(there["sweeps"]) & set(request.left_out):
        return
    aside = path.with_name(f"{path.stem}-{there['scale']}.json")
    renamed = {name: aside.stem + name.removeprefix(path.stem) for name in there["figures"]}
    for old, new in renamed.items():
        for ending in (".png", ".pdf"):
            figure = (path.parent / old).with_suffix(ending)
            if figure.exists():
                figure.rename((path.parent / new).with_suffix(ending))
    files.write_json(aside, there | {"figures": list(renamed.values())})


def read_all(folder: Path) -> dict[str, list[Result]]:
    """The results in a folder by artefact: the one of the largest scale, then those that have what it leaves out."""
    found: dict[str, list[Result]] = {}
    for path in sorted(folder.glob("*.json")):
        content = _read(path)
        found.setdefault(content["name"], []).append(content)
    return {name: _not_larger_elsewhere(there) for name, there in found.items()}


def _not_larger_elsewhere(there: list[Result]) -> list[Result]:
    """From the largest scale down, those that have a sweep which no larger one has."""
    first, *others = sorted(there, key=lambda content: -_rank(content["scale"]))
    chosen, missing = [first], set(first["sweeps_left_out"])
    for other in others:
        if missing & set(other["sweeps"]):
            chosen.append(other)
            missing -= set(other["sweeps"])
    return chosen


def extent(content: Result) -> list[str]:
    """How much of an artefact a result is: its scale, and in what it is less (or more) than that."""
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


def _seeds(settings: Mapping[str, Any]) -> int:
    seeds = settings.get("seed", 0)
    return len(seeds) if isinstance(seeds, list | tuple) else 1
