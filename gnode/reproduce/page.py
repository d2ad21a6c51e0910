"""The state of the reproduction: a line for each artefact, and a page made from the JSON files of a folder."""

from pathlib import Path
from typing import Any

from gnode.arguments import checked
from gnode.os_errors import as_path
from gnode.reproduce import archive, result_files
from gnode.reproduce.archive import Result
from gnode.reproduce.artefact import SCALES, Artefact
from gnode.reproduce.registry import all_artefacts
from gnode.reproduce.runner import missing_data
from gnode.reproduce.scale_differences import smaller_than_paper

DEFAULT_FOLDER = Path("docs/results/reproduce")

StoredClaim = dict[str, Any]
"""A `Claim` as the JSON file of a result stores it."""


def states(folder: Path) -> list[tuple[Artefact, str]]:
    """Returns every artefact with its state: never run, or scale, date and commit of its results; and missing data sets."""
    found = archive.read_results(folder)
    return [(artefact, _state(artefact, found.get(artefact.name, []))) for artefact in all_artefacts()]


def _state(artefact: Artefact, results: list[Result]) -> str:
    missing = missing_data(artefact)
    needs = f" (needs data: {', '.join(missing)})" if missing else ""
    reached = []
    for content in results:
        run, (scale, *less) = content[result_files.RUN], archive.extent(content)
        reached.append(f"{', '.join([f'{scale} scale', *less])}, {run['date']}, commit {run['commit'] or 'unknown'}")
    return ("; ".join(reached) or "never run") + needs


@checked
def results_page(folder: str | Path) -> str:
    """Returns a Markdown page with all results of a folder, in the order of the paper.

    >>> results_page(Path("no/such/folder")).splitlines()[0]
    '# Every figure, table and claim of the paper'
    """
    folder = as_path("folder", folder)
    found = archive.read_results(folder)
    here = [artefact for artefact in all_artefacts() if artefact.name in found]
    largest = [found[artefact.name][0] for artefact in here]
    published = [content for artefact, content in zip(here, largest) if artefact.kind != "extension"]
    claims = [claim for content in published for claim in content["checks"] if content["scale"] == "paper"]
    counts = [sum(claim["holds"] is verdict for claim in claims) for verdict in (True, False, None)]
    lines = [
        "# Every figure, table and claim of the paper",
        f"Made by `gnode reproduce collect` from the JSON files in [{folder.name}]({folder.name}); no number is typed by "
        "hand.",
        f"{len(here)} of {len(all_artefacts())} artefacts have been run{_by_scale(largest)}. Of the paper's claims "
        f"checked at paper scale {counts[0]} hold, {counts[1]} do not, {counts[2]} could not be decided.",
        _overview(found),
        *(_entry(artefact, found[artefact.name], folder) for artefact in here),
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
    for artefact in all_artefacts():
        if artefact.name not in found:
            lines.append(f"| {artefact.name} | {artefact.place} | never run | |")
            continue
        results = found[artefact.name]
        largest, *rest = results
        reached = ", ".join(archive.extent(largest))
        lines.append(
            f"| [{artefact.name}](#{artefact.name}) | {artefact.place} | {reached} | {_held(largest['checks'], largest)} |"
        )
        for content in rest:
            what = "part of the rest" if _missing_sweeps(results) else "the rest"
            lines.append(f"| | | {what}: {content['scale']} | {_held(_decided(content['checks']), content)} |")
    return "\n".join(lines)


def _decided(claims: list[StoredClaim]) -> list[StoredClaim]:
    return [claim for claim in claims if claim["holds"] is not None]


def _held(claims: list[StoredClaim], content: Result) -> str:
    if content["scale"] == "smoke":
        return ""
    decided = [claim["holds"] for claim in _decided(claims)]
    undecided = len(claims) - len(decided)
    return f"{decided.count(True)} of {len(decided)}" + (f", {undecided} not decided" if undecided else "")


def _entry(artefact: Artefact, results: list[Result], folder: Path) -> str:
    largest, *rest = results
    parts = [f"## {artefact.name}", f"**{artefact.title}** ({artefact.place})", *_shortfall(artefact, largest)]
    parts += [part for part in artefact.about.split("\n\n") if part.startswith(("Shows:", "Published"))]
    parts += _result(artefact, largest, folder)
    for content in rest:
        # The undecided claims are among those of the largest result already.
        own = {"sweeps_left_out": _missing_sweeps(results), "checks": _decided(content["checks"])}
        parts.append(f"### {artefact.name}: {', '.join(content['sweeps'])}")
        parts += [*_shortfall(artefact, content | own), *_result(artefact, content | own, folder)]
    return "\n\n".join(part for part in parts if part)


def _missing_sweeps(results: list[Result]) -> list[str]:
    """Returns the sweeps of an artefact that none of its results has."""
    largest, *rest = results
    return [name for name in largest["sweeps_left_out"] if not any(name in content["sweeps"] for content in rest)]


def _shortfall(artefact: Artefact, content: Result) -> list[str]:
    """Describes how a result falls short of the paper's: its scale, missing sweeps and seeds."""
    parts, scale = [], content["scale"]
    if scale != "paper":
        less = "" if scale == "smoke" else smaller_than_paper(artefact, scale, content["sweeps"])
        how = f" In brackets the paper's scale: {less}." if less else ""
        parts.append(f"*Run at {scale} scale, not at the paper's. {scale.capitalize()}: {SCALES[scale]}.{how}*")
    if content["sweeps_left_out"]:
        parts.append(f"*In part: without the sweeps {', '.join(content['sweeps_left_out'])}.*")
    if content.get("seeds") is not None:
        parts.append(f"*The number of seeds is {content['seeds']}, not that of the scale.*")
    return parts


def _result(artefact: Artefact, content: Result, folder: Path) -> list[str]:
    """Returns the numbers, claims and figures of a result, the command, and the time it took."""
    run = content[result_files.RUN]
    parts = [] if content["scale"] == "smoke" else [_sentence(content["checks"])]
    parts.append(result_files.tables(content))
    parts += [f"![{artefact.name}]({folder.name}/{name})" for name in content["figures"] if (folder / name).exists()]
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


def _sentence(claims: list[StoredClaim]) -> str:
    """Says in one sentence how many claims hold."""
    if not claims:
        return ""
    broken = [claim["claim"].rstrip(".") for claim in claims if claim["holds"] is False]
    undecided = sum(claim["holds"] is None for claim in claims)
    decided = len(claims) - undecided
    left = f" {undecided} could not be decided." if undecided else ""
    if not decided:
        return left.strip()
    return f"Claims that hold: {decided - len(broken)} of {decided}{_in_brackets(broken)}.{left}"


def _in_brackets(broken: list[str]) -> str:
    return f" (not: {'; '.join(broken)})" if broken else ""
