"""The results that a folder holds: which file a new result is written to, and which result it may replace.

`NAME.json` holds an artefact's result at the largest scale. If some of the artefact's sweeps are missing from it, a result
at a smaller scale that has them may lie beside it, in `NAME-SCALE.json`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from gnode import errors, files
from gnode.os_errors import translated
from gnode.reproduce.artefact import SCALES, SweepPlan
from gnode.reproduce.request import Request
from gnode.schema import StoredFile

Result = dict[str, Any]
"""The content of a result's JSON file."""


class NumberRecord(TypedDict):
    """A number of a result."""

    name: Annotated[str, "what it is"]
    ours: Annotated[float | None, "the value measured here"]
    published: Annotated[str | None, "the paper's value"]
    std: Annotated[float | None, "its standard deviation over seeds"]
    seeds: Annotated[int | None, "how many seeds"]


class ClaimRecord(TypedDict):
    """A claim of a result."""

    claim: Annotated[str, "the claim in a sentence"]
    verdict: NotRequired[
        Annotated[
            Literal["holds", "does not hold", "indistinguishable", "floor", "not decided"], "the verdict, by code"
        ]
    ]
    holds: NotRequired[Annotated[bool | None, "in files of earlier versions, true, false or null in its place"]]
    measured: Annotated[dict[str, Any], "the numbers that decide it"]
    note: NotRequired[Annotated[str, "what a reader of the verdict should know"]]


class ResultRecord(TypedDict):
    """`NAME.json`."""

    name: Annotated[str, "name of the figure, table or claim"]
    kind: NotRequired[Annotated[str, "figure, table, claim or extension"]]
    title: NotRequired[Annotated[str, "its title"]]
    place: NotRequired[Annotated[str, "where the paper has it"]]
    scale: Annotated[Literal["smoke", "reduced", "paper"], "how large it was made"]
    seeds: NotRequired[Annotated[int | None, "number of seeds, if it was changed"]]
    command: Annotated[str, "the command that makes it again"]
    sweeps: Annotated[dict[str, dict[str, Any]], "task and settings of every sweep"]
    sweeps_left_out: Annotated[list[str], "sweeps that it was made without"]
    numbers: Annotated[list[NumberRecord], "the numbers"]
    checks: Annotated[list[ClaimRecord], "the claims"]
    earlier_checks: NotRequired[
        Annotated[list[ClaimRecord], "the claims as the run judged them, where rules have changed"]
    ]
    details: NotRequired[Annotated[dict[str, Any], "further numbers"]]
    figures: Annotated[list[str], "names of the pictures"]
    run: Annotated[dict[str, Any], "date, duration, devices, commit and versions"]


RESULT_FILE = StoredFile(
    "NAME.json",
    "all numbers and claims of a result",
    ResultRecord,
    remedy="move it away, or choose another --out",
)
FILES: tuple[StoredFile[Any], ...] = (
    RESULT_FILE,
    StoredFile("NAME.md", "the same as tables"),
    StoredFile("NAME-PANEL.png", "the figures, and the same as .pdf"),
)


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
    renamed = {name: aside.stem + name.removeprefix(path.stem) for name in map(_plain_name, stored["figures"])}
    for old, new in renamed.items():
        for ending in (".png", ".pdf"):
            figure = (path.parent / old).with_suffix(ending)
            if figure.exists():
                with translated(f"rename {figure}"):
                    figure.rename((path.parent / new).with_suffix(ending))
    files.write_json(aside, stored | {"figures": list(renamed.values())})


def result_files(folder: Path) -> list[tuple[Path, Result]]:
    """Returns the files of results in a folder, with what they hold."""
    return [(path, _read(path)) for path in sorted(folder.glob("*.json"))]


def read_results(folder: Path) -> dict[str, list[Result]]:
    """Returns the results in a folder by artefact: the one of the largest scale, then those with sweeps that it lacks."""
    found: dict[str, list[Result]] = {}
    for _, content in result_files(folder):
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
    if not isinstance(content, dict) or not {"sweeps", "numbers", "checks"} <= content.keys():
        raise errors.StoreError(f"{path} is not a result of gnode reproduce; {RESULT_FILE.remedy}.")
    RESULT_FILE.check(content, path)
    return content


def _plain_name(name: str) -> str:
    """Returns the name of a file; one that leads to another folder is refused."""
    if Path(name).name != name:
        raise errors.StoreError(f"a result names the picture {errors.shown(name)}, which is not in its folder.")
    return name


def _rank(scale: str) -> int:
    return list(SCALES).index(scale)


def _count_seeds(settings: Mapping[str, Any]) -> int:
    seeds = settings.get("seed", 0)
    return len(seeds) if isinstance(seeds, list | tuple) else 1
