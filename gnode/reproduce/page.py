"""Where the reproduction stands: a state for each artefact, and a page made of the committed JSON files."""

from pathlib import Path
from typing import Any

from gnode.reproduce import archive, result_files
from gnode.reproduce.archive import Result
from gnode.reproduce.artefact import SCALES, Artefact
from gnode.reproduce.registry import all_artefacts
from gnode.reproduce.runner import missing_data
from gnode.reproduce.scale_differences import smaller_than_paper

DEFAULT_FOLDER = Path("docs/results/reproduce")

StoredClaim = dict[str, Any]
"""A claim and its verdict, as results store it."""


def states(folder: Path) -> list[tuple[Artefact, str]]:
    """Every artefact with its state: never run, or scale, date and commit of its results; and what data it lacks."""
    found = archive.read_all(folder)
    return [(of, _state(of, found.get(of.name, []))) for of in all_artefacts()]


def _state(of: Artefact, there: list[Result]) -> str:
    missing = missing_data(of)
    needs = f" (needs data: {', '.join(missing)})" if missing else ""
    reached = []
    for content in there:
        run, (scale, *less) = content[result_files.RUN], archive.extent(content)
        reached.append(f"{', '.join([f'{scale} scale', *less])}, {run['date']}, commit {run['commit'] or 'unknown'}")
    return ("; ".join(reached) or "never run") + needs


def results_page(folder: Path) -> str:
    """All results in one page, in the order of the paper."""
    found = archive.read_all(folder)
    here = [of for of in all_artefacts() if of.name in found]
    largest = [found[of.name][0] for of in here]
    checks = [check for content in largest for check in content["checks"] if content["scale"] == "paper"]
    counts = [sum(check["holds"] is verdict for check in checks) for verdict in (True, False, None)]
    lines = [
        "# Every figure, table and claim of the paper",
        f"Made by `gnode reproduce --collect` from the JSON files in [{folder.name}]({folder.name}); no number is typed by "
        "hand.",
        f"{len(here)} of {len(all_artefacts())} artefacts have been run{_by_scale(largest)}. Of the claims checked at "
        f"paper scale {counts[0]} hold, {counts[1]} do not, {counts[2]} could not be decided.",
        _overview(found),
        *(_entry(of, found[of.name], folder) for of in here),
    ]
    return "\n\n".join(lines) + "\n"


def _by_scale(found: list[Result]) -> str:
    counts = []
    for scale in reversed(SCALES):
        those = [content for content in found if content["scale"] == scale]
        in_part = sum(bool(content["sweeps_left_out"]) for content in those)
        if those:
            counts.append(f"{len(those)} at {scale} scale" + (f", {in_part} of them in part" if in_part else ""))
    return f" ({'; '.join(counts)})" if counts else ""


def _overview(found: dict[str, list[Result]]) -> str:
    lines = ["| artefact | where in the paper | scale | claims that hold |", "|---|---|---|---|"]
    for of in all_artefacts():
        if of.name not in found:
            lines.append(f"| {of.name} | {of.place} | never run | |")
            continue
        there = found[of.name]
        largest, *rest = there
        reached = ", ".join(archive.extent(largest))
        lines.append(f"| [{of.name}](#{of.name}) | {of.place} | {reached} | {_claims(largest['checks'], largest)} |")
        for content in rest:
            what = "part of the rest" if _nowhere(there) else "the rest"
            lines.append(f"| | | {what}: {content['scale']} | {_claims(_decided(content['checks']), content)} |")
    return "\n".join(lines)


def _decided(checks: list[StoredClaim]) -> list[StoredClaim]:
    return [check for check in checks if check["holds"] is not None]


def _claims(checks: list[StoredClaim], content: Result) -> str:
    if content["scale"] == "smoke":
        return ""
    decided = [check["holds"] for check in _decided(checks)]
    open_ones = len(checks) - len(decided)
    return f"{decided.count(True)} of {len(decided)}" + (f", {open_ones} not decided" if open_ones else "")


def _entry(of: Artefact, there: list[Result], folder: Path) -> str:
    largest, *rest = there
    parts = [f"## {of.name}", f"**{of.title}** ({of.place})", *_reach(of, largest)]
    parts += [part for part in of.about.split("\n\n") if part.startswith(("Shows:", "Published"))]
    parts += _found(of, largest, folder)
    for content in rest:
        own = {"sweeps_left_out": _nowhere(there), "checks": _decided(content["checks"])}  # the others are above
        parts.append(f"### {of.name}: {', '.join(content['sweeps'])}")
        parts += [*_reach(of, content | own), *_found(of, content | own, folder)]
    return "\n\n".join(part for part in parts if part)


def _nowhere(there: list[Result]) -> list[str]:
    """The sweeps of an artefact that none of its results has."""
    largest, *rest = there
    return [name for name in largest["sweeps_left_out"] if not any(name in content["sweeps"] for content in rest)]


def _reach(of: Artefact, content: Result) -> list[str]:
    """In what a result is less than the paper's."""
    parts, scale = [], content["scale"]
    if scale != "paper":
        less = "" if scale == "smoke" else smaller_than_paper(of, scale, content["sweeps"])
        how = f" In brackets that of the paper's scale: {less}." if less else ""
        parts.append(f"*Run at {scale} scale, not at the paper's. {scale.capitalize()}: {SCALES[scale]}.{how}*")
    if content["sweeps_left_out"]:
        parts.append(f"*In part: without the sweeps {', '.join(content['sweeps_left_out'])}.*")
    if content.get("seeds") is not None:
        parts.append(f"*With another number of seeds than the scale's own: {content['seeds']}.*")
    return parts


def _found(of: Artefact, content: Result, folder: Path) -> list[str]:
    """Numbers, verdicts and figures, and how they were made."""
    run = content[result_files.RUN]
    parts = [] if content["scale"] == "smoke" else [_sentence(content["checks"])]
    parts.append(result_files.tables(content))
    parts += [f"![{of.name}]({folder.name}/{name})" for name in content["figures"] if (folder / name).exists()]
    parts.append(f"    {content['command']}")
    versions = run["versions"]
    trained = (
        f"Trained for {run['training_seconds']:g} s on {', '.join(run['trained_on'])}; t" if run["trained_on"] else "T"
    )
    parts.append(
        f"{trained}his run took {run['seconds']:g} s on {', '.join(dict.fromkeys(run['devices']))}, {run['date']}, "
        f"commit {run['commit'] or 'unknown'}, gnode {versions['gnode']}, jax {versions['jax']}."
    )
    return parts


def _sentence(checks: list[StoredClaim]) -> str:
    """Whether the claims hold, in one sentence."""
    if not checks:
        return ""
    broken = [check["claim"].rstrip(".") for check in checks if check["holds"] is False]
    undecided = sum(check["holds"] is None for check in checks)
    decided = len(checks) - undecided
    left = f" {undecided} could not be decided." if undecided else ""
    if not decided:
        return left.strip()
    return f"Claims that hold: {decided - len(broken)} of {decided}{_listed(broken)}.{left}"


def _listed(broken: list[str]) -> str:
    return f" (not: {'; '.join(broken)})" if broken else ""
