"""Where the reproduction stands: a state for each artefact, and a page made of the committed JSON files."""

from pathlib import Path
from typing import Any

from gnode.experiments import results
from gnode.experiments.artefact import SCALES, Artefact
from gnode.experiments.registry import all_artefacts
from gnode.experiments.reproduce import missing_data

DEFAULT_FOLDER = Path("docs/results/reproduce")


def states(folder: Path) -> list[tuple[Artefact, str]]:
    """Every artefact with its state: never run, or scale, date and commit of its result; and what data it lacks."""
    found = results.read_all(folder)
    return [(of, _state(of, found.get(of.name))) for of in all_artefacts()]


def _state(of: Artefact, content: dict[str, Any] | None) -> str:
    missing = missing_data(of)
    needs = f" (needs data: {', '.join(missing)})" if missing else ""
    if content is None:
        return "never run" + needs
    run = content[results.RUN]
    scale, *less = results.extent(content)
    return f"{', '.join([f'{scale} scale', *less])}, {run['date']}, commit {run['commit'] or 'unknown'}{needs}"


def page(folder: Path) -> str:
    """All results in one page, in the order of the paper."""
    found = results.read_all(folder)
    here = [of for of in all_artefacts() if of.name in found]
    checks = [check for of in here for check in found[of.name]["checks"] if found[of.name]["scale"] == "paper"]
    scales = _by_scale([found[of.name] for of in here])
    counts = [sum(check["holds"] is verdict for check in checks) for verdict in (True, False, None)]
    lines = [
        "# Every figure, table and claim of the paper",
        "Made by `gnode reproduce --collect` from the JSON files in [reproduce](reproduce); no number is typed by hand.",
        f"{len(here)} of {len(all_artefacts())} artefacts have been run{scales}. Of the claims checked at "
        f"paper scale {counts[0]} hold, {counts[1]} do not, {counts[2]} could not be decided.",
        _overview(found),
        *(_entry(of, found[of.name], folder) for of in here),
    ]
    return "\n\n".join(lines) + "\n"


def _by_scale(found: list[dict[str, Any]]) -> str:
    counts = []
    for scale in reversed(SCALES):
        those = [content for content in found if content["scale"] == scale]
        in_part = sum(bool(content["sweeps_left_out"]) for content in those)
        if those:
            counts.append(f"{len(those)} at {scale} scale" + (f", {in_part} of them in part" if in_part else ""))
    return f" ({'; '.join(counts)})" if counts else ""


def _overview(found: dict[str, dict[str, Any]]) -> str:
    lines = ["| artefact | where in the paper | scale | claims that hold |", "|---|---|---|---|"]
    for of in all_artefacts():
        content = found.get(of.name)
        if content is None:
            lines.append(f"| {of.name} | {of.place} | never run | |")
            continue
        decided = [check["holds"] for check in content["checks"] if check["holds"] is not None]
        open_ones = len(content["checks"]) - len(decided)
        claims = f"{decided.count(True)} of {len(decided)}" + (f", {open_ones} not decided" if open_ones else "")
        claims = "" if content["scale"] == "smoke" else claims
        lines.append(f"| [{of.name}](#{of.name}) | {of.place} | {', '.join(results.extent(content))} | {claims} |")
    return "\n".join(lines)


def _entry(of: Artefact, content: dict[str, Any], folder: Path) -> str:
    run = content[results.RUN]
    parts = [f"## {of.name}", f"**{of.title}** ({of.place})"]
    scale = content["scale"]
    if scale != "paper":
        parts.append(f"*Run at {scale} scale, not at the paper's. {scale.capitalize()}: {SCALES[scale]}.*")
    if content["sweeps_left_out"]:
        parts.append(f"*In part: without the sweeps {', '.join(content['sweeps_left_out'])}.*")
    if content.get("seeds") is not None:
        parts.append(f"*With another number of seeds than the scale's own: {content['seeds']}.*")
    about = of.about.split("\n\n")
    parts += [part for part in about if part.startswith(("Shows:", "Published"))]
    if scale != "smoke":
        parts.append(_sentence(content["checks"]))
    parts.append(results.tables(content))
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
    return "\n\n".join(part for part in parts if part)


def _sentence(checks: list[dict[str, Any]]) -> str:
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
