"""The summary of all results: counts of verdicts, a line for each artefact, what does not hold and why, what is better."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from gnode.reproduce import archive, better, causes
from gnode.reproduce.archive import Result
from gnode.reproduce.artefact import SCALES, Artefact
from gnode.reproduce.artefact_page import missing_sweeps
from gnode.reproduce.registry import all_artefacts
from gnode.reproduce.result_files import row
from gnode.reproduce.verdicts import FAILS, FLOOR, HOLDS, OPEN, TIE, VERDICTS, of_stored

EXTENSION = "extension"
COUNTED = {HOLDS: "hold", FAILS: "do not hold", TIE: "indistinguishable", FLOOR: "floor", OPEN: "not decided"}
"""The verdicts as the heads of columns."""

MISSING = (
    ("Appendix F: Tsit5 in place of Euler on the flip-flops", "an adaptive solver takes hours of training on a CPU"),
    ("Appendix F.6: the disk from (1.5, 0)", "not trained"),
    ("Appendix F.4: fixed points within a distance of 1 of a trajectory", "the networks with N = 100 were not kept"),
    ("Appendix F.5: unstable points around the stable ones, RNN, N = 100", "the network was not kept"),
    ("Appendix F.3: a gnODE with three principal components", "pca-l2 was run with l2 at reduced scale only"),
    ("Appendix H: filling by splines against none", "not trained"),
    ("Critical initialisation, each of its five changes alone", "not trained"),
)
"""Claims of the paper, and questions about them, that no artefact measures, each with what is missing."""


COMPARED = """Numbers that can be compared with a published one by two standard errors, each counted where it is first.
Spoken words are left out: our data are version 1, the paper's are version 2. The last column names gnODEs."""


class Judged(NamedTuple):
    """A claim with the artefact and the scale that it was judged at."""

    artefact: Artefact
    scale: str
    claim: dict[str, Any]

    @property
    def verdict(self) -> str:
        return of_stored(self.claim)


def page(found: dict[str, list[Result]], folder: str) -> str:
    """Returns the summary as Markdown; the pages of the artefacts lie in `folder` beside it."""
    claims = [one for artefact in all_artefacts() for one in _judged(artefact, found.get(artefact.name, []))]
    of_paper = [one for one in claims if one.artefact.kind != EXTENSION]
    parts = [
        "# Every figure, table and claim of the paper",
        f"Made by `gnode reproduce collect` from the JSON files in [{folder}]({folder}); no number is typed by hand. Every "
        f"claim is counted once, and judged by [these rules]({folder}/rules.md), which also say what was changed after a "
        "result had been seen.",
        f"{len(found)} of {len(all_artefacts())} artefacts have been run{_by_scale(found)}.",
        _counts(claims),
        "## What does not hold, and why",
        _failures(of_paper, found, folder),
        *_better(found, folder),
        "## By artefact",
        _overview(found, folder),
        "## Not decided",
        _open(of_paper, folder),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _judged(artefact: Artefact, results: list[Result]) -> list[Judged]:
    """Returns every claim of an artefact once: as its largest result decides it, or else a smaller one."""
    made: dict[str, Judged] = {}
    for content in results:
        if content["scale"] == "smoke":
            continue
        for claim in content["checks"]:
            text = claim["claim"]
            if text not in made or made[text].verdict == OPEN:
                made[text] = Judged(artefact, content["scale"], claim)
    return list(made.values())


def _by_scale(found: dict[str, list[Result]]) -> str:
    largest = [found[artefact.name][0] for artefact in all_artefacts() if artefact.name in found]
    counts = []
    for scale in reversed(SCALES):
        those = [content for content in largest if content["scale"] == scale]
        in_part = sum(bool(content["sweeps_left_out"]) for content in those)
        if those:
            counts.append(f"{len(those)} at {scale} scale" + (f", {in_part} of them in part" if in_part else ""))
    return f" ({'; '.join(counts)})" if counts else ""


def _counts(claims: list[Judged]) -> str:
    groups = {
        "the paper's claims, at its scale": lambda one: one.artefact.kind != EXTENSION and one.scale == "paper",
        "the paper's claims, at a smaller scale": lambda one: one.artefact.kind != EXTENSION and one.scale != "paper",
        "our own targets, beyond the paper": lambda one: one.artefact.kind == EXTENSION,
    }
    lines = [row("", *COUNTED.values()), "|" + "---|" * (len(COUNTED) + 1)]
    for name, belongs in groups.items():
        counts = Counter(one.verdict for one in claims if belongs(one))
        lines.append(row(name, *(str(counts[verdict]) for verdict in COUNTED)))
    return "\n".join(lines)


def _failures(claims: Iterable[Judged], found: dict[str, list[Result]], folder: str) -> str:
    lines = [row("artefact", "the paper's claim", "here", "why"), "|---|---|---|---|"]
    for verdict in (FAILS, TIE, FLOOR):
        for one in claims:
            if one.verdict == verdict:
                scale = "" if one.scale == "paper" else f" ({one.scale})"
                reason = causes.why(one.artefact.name, one.claim["claim"], found)
                lines.append(row(_link(one.artefact.name, folder), one.claim["claim"], verdict + scale, reason))
    return "\n".join(lines) if len(lines) > 2 else "Nothing."


def _better(found: dict[str, list[Result]], folder: str) -> list[str]:
    """Counts, by artefact, the numbers that are better and worse than the published ones by two standard errors."""
    lines = [row("artefact", *_KINDS, "better here, with the published number"), "|" + "---|" * (len(_KINDS) + 2)]
    seen: set[float] = set()
    for artefact in all_artefacts():
        for content in found.get(artefact.name, []):
            judged = {
                number["name"]: better.compared(number, " ".join(content["sweeps"]))
                for number in content["numbers"]
                if number["ours"] not in seen
            }
            counts = Counter(judged.values())
            seen |= {number["ours"] for number in content["numbers"] if judged.get(number["name"])}
            if content["scale"] == "smoke" or not any(judged.values()):
                continue
            scale = "" if content["scale"] == "paper" else f" ({content['scale']})"
            own = [n for n in content["numbers"] if judged.get(n["name"]) == better.BETTER and "gnODE" in n["name"]]
            listed = "; ".join(
                f"{n['name'].replace(': minimum', '')} {n['ours']:.3g} ({n['published']})" for n in own[:3]
            )
            more = f"; {len(own) - 3} more" if len(own) > 3 else ""
            cells = [str(counts[kind]) for kind in _KINDS]
            lines.append(row(_link(artefact.name, folder) + scale, *cells, listed + more))
    if len(lines) == 2:
        return []
    return ["## Better than published, and worse", COMPARED, "\n".join(lines)]


_KINDS = (better.BETTER, better.SAME, better.WORSE)


def _overview(found: dict[str, list[Result]], folder: str) -> str:
    lines = [row("artefact", "where in the paper", "scale", "claims"), "|---|---|---|---|"]
    for artefact in all_artefacts():
        if artefact.name not in found:
            lines.append(row(artefact.name, artefact.place, "never run", ""))
            continue
        results = found[artefact.name]
        largest, *rest = results
        cells = (", ".join(archive.extent(largest)), _said(largest["checks"], largest))
        lines.append(row(_link(artefact.name, folder), artefact.place, *cells))
        for content in rest:
            what = "part of the rest" if missing_sweeps(results) else "the rest"
            decided = [claim for claim in content["checks"] if of_stored(claim) != OPEN]
            lines.append(row("", "", f"{what}: {content['scale']}", _said(decided, content)))
    return "\n".join(lines)


def _said(claims: list[dict[str, Any]], content: Result) -> str:
    if content["scale"] == "smoke":
        return ""
    counts = Counter(map(of_stored, claims))
    return ", ".join(
        f"{counts[verdict]} {_agreeing(verdict, counts[verdict])}" for verdict in VERDICTS if counts[verdict]
    )


def _agreeing(verdict: str, count: int) -> str:
    return verdict if count == 1 else COUNTED[verdict]


def _open(claims: Iterable[Judged], folder: str) -> str:
    lines = [row("claim", "what is missing"), "|---|---|"]
    for one in claims:
        if one.verdict == OPEN:
            lines.append(
                row(f"{_link(one.artefact.name, folder)}: {one.claim['claim']}", "its sweeps were not trained")
            )
    return "\n".join([*lines, *(row(*missing) for missing in MISSING)])


def _link(name: str, folder: str) -> str:
    return f"[{name}]({folder}/{name}.md)"
