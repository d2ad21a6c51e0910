"""The page of an artefact: what it shows, its claims with verdicts and causes, its numbers, its figures, its command."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gnode.reproduce import causes, result_files
from gnode.reproduce.archive import Result
from gnode.reproduce.artefact import SCALES, Artefact
from gnode.reproduce.protocols import protocol_of
from gnode.reproduce.scale_differences import smaller_than_paper
from gnode.reproduce.verdicts import FAILS, FLOOR, OPEN, TIE, of_stored

SMOKE = "smoke"


def page(artefact: Artefact, found: dict[str, list[Result]], folder: Path) -> str:
    """Returns the page of an artefact as Markdown, made from the results in a folder, which it belongs into."""
    results = found[artefact.name]
    largest, *rest = results
    parts = [
        f"# {artefact.title}",
        f"`{artefact.name}` · {artefact.place} · [all results](../{folder.name}.md) · [how claims are judged](rules.md)",
        *shortfall(artefact, largest),
    ]
    parts += [part for part in artefact.about.split("\n\n") if part.startswith(("Shows:", "Published"))]
    parts += _result(artefact, largest, found, folder, "##")
    for content in rest:
        # The undecided claims are among those of the largest result already.
        decided = [claim for claim in content["checks"] if of_stored(claim) != OPEN]
        own = content | {"sweeps_left_out": missing_sweeps(results), "checks": decided}
        parts += [f"## The rest: {listed(content['sweeps'])}", *shortfall(artefact, own)]
        parts += _result(artefact, own, found, folder, "###")
    return "\n\n".join(part for part in parts if part) + "\n"


MOST_NAMED = 6
"""So many sweeps are named; of more, those that the first and the last are between."""


def listed(names: Iterable[str]) -> str:
    """Lists the names of sweeps in words."""
    some = list(names)
    if len(some) <= MOST_NAMED:
        return ", ".join(some)
    return f"{len(some)} sweeps from {some[0]} to {some[-1]}"


def missing_sweeps(results: list[Result]) -> list[str]:
    """Returns the sweeps of an artefact that none of its results has."""
    largest, *rest = results
    return [name for name in largest["sweeps_left_out"] if not any(name in content["sweeps"] for content in rest)]


def shortfall(artefact: Artefact, content: Result) -> list[str]:
    """Describes how a result falls short of the paper's: its scale, missing sweeps and seeds."""
    parts, scale = [], content["scale"]
    if scale != "paper":
        less = "" if scale == SMOKE else smaller_than_paper(artefact, scale, content["sweeps"])
        how = f" In brackets the paper's scale: {less}." if less else ""
        parts.append(f"*Run at {scale} scale, not at the paper's. {scale.capitalize()}: {SCALES[scale]}.{how}*")
    if left_out := content["sweeps_left_out"]:
        made = list(content["sweeps"])
        of_all = f"of {len(made) + len(left_out)} sweeps {listed(made)} alone"
        parts.append(f"*In part: {of_all if len(made) < len(left_out) else 'without the sweeps ' + listed(left_out)}.*")
    if content.get("seeds") is not None:
        parts.append(f"*The number of seeds is {content['seeds']}, not that of the scale.*")
    return parts


def _result(artefact: Artefact, content: Result, found: dict[str, list[Result]], folder: Path, level: str) -> list[str]:
    """Returns the claims, numbers and figures of a result, the command, and the time it took, under headings of a level."""
    parts = []
    if content["checks"]:
        parts += [f"{level} Claims", result_files.claims_table(content), _reasons(artefact, content, found)]
    if content["numbers"]:
        parts += [f"{level} Numbers", result_files.numbers_table(content)]
    if artefact.tables is not None:
        for title, (head, *rows) in artefact.tables(content["details"]).items():
            lines = [result_files.row(*head), "|" + "---|" * len(head), *(result_files.row(*cells) for cells in rows)]
            parts += [f"{level} {title[0].upper()}{title[1:]}", "\n".join(lines)]
    pictures = [name for name in content["figures"] if (folder / name).exists()]
    if pictures:
        parts += [f"{level} Figures", *(_picture(artefact, name) for name in pictures)]
    return [*parts, f"{level} How it was made", *_protocols(content), f"    {content['command']}", _run(content)]


def _reasons(artefact: Artefact, content: Result, found: dict[str, list[Result]]) -> str:
    """Says why claims do not hold, or cannot be told from their opposite."""
    if content["scale"] == SMOKE:
        return ""
    broken = [claim for claim in content["checks"] if of_stored(claim) in (FAILS, TIE, FLOOR)]
    return "\n".join(
        f"- *{claim['claim']}* Here: {of_stored(claim)}. Why: {causes.why(artefact.name, claim['claim'], found)}"
        for claim in broken
    )


def _picture(artefact: Artefact, name: str) -> str:
    panel = Path(name).stem.rsplit("-", 1)[-1]
    caption = f" {artefact.captions[panel]}" if panel in artefact.captions else ""
    # The panels of an artefact's only figure have letters of their own.
    which = "" if set(artefact.captions) == {panel} else f" {panel.upper()}"
    return f"**Figure{which}.**{caption}\n\n![{artefact.name}, figure{which}]({name})"


def _protocols(content: Result) -> list[str]:
    """Says by which protocol each sweep was trained."""
    by_protocol: dict[str, list[str]] = {}
    for name, settings in content["sweeps"].items():
        by_protocol.setdefault(protocol_of(settings).name, []).append(name)
    return [
        f"Trained by the *{name}* [protocol](rules.md#protocols): {listed(sweeps)}."
        for name, sweeps in by_protocol.items()
    ]


def _run(content: Result) -> str:
    run: dict[str, Any] = content[result_files.RUN]
    versions = run["versions"]
    trained = (
        f"Trained for {run['training_seconds']:g} s on {', '.join(run['trained_on'])}; t" if run["trained_on"] else "T"
    )
    return (
        f"{trained}his run took {run['seconds']:g} s on {', '.join(dict.fromkeys(run['devices']))}, {run['date']}, "
        f"commit {run['commit'] or 'unknown'}, gnode {versions['gnode']}, jax {versions['jax']}."
        f"{_training_code(run)}"
    )


def _training_code(run: dict[str, Any]) -> str:
    """Says by which version of the training code the networks of a result were trained, if it has any."""
    if not run["trained_on"]:
        return ""
    if run.get("training_code"):
        return f" All its networks were trained by one version of the training code, `{run['training_code']}`."
    return " Its networks were trained before a hash of the training code was stored with them."
