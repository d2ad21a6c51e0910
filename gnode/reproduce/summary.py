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

COMPARED = """Numbers that can be compared with a published one by two standard errors, each counted where it is first.
Spoken words are left out: our data are version 1, the paper's are version 2. The last column names gnODEs."""


THEMES: dict[str, tuple[str, ...]] = {
    "Flip-flops and their attractors": (
        "fig1",
        "fig2",
        "fixed-3bit",
        "stable-points",
        "adaptive-solver",
        "pca-l2",
        "three-components",
        "abscissa-n6",
        "table-fixed-points",
        "points-n100",
        "square",
        "rectangle-disk",
        "ring",
        "annulus-generalisation",
        "gate-and-residual",
        "variations",
    ),
    "Fits of noise": ("fig3", "ou-tau", "ou-width", "ou-networks", "ou-depth"),
    "Theory": ("critical-depth", "jacobian-spectra", "capacity"),
    "Real data": ("table1", "table-tau", "table-characters", "table-critical", "table-critical-speech", "filling"),
    "Beyond the paper": (
        "gnode-protocol",
        "fresh-trials",
        "true-attractors",
        "continuous-attractor",
        "walker2d-protocol",
        "letters-protocol",
        "speech-protocol",
        "relatives",
        "critical-factorial",
    ),
}
"""All artefacts by what they are about, as the summary shows them."""
ALL = "artefacts"
"""The name of the page with a line for every artefact."""


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
    own = [one for one in claims if one.artefact.kind == EXTENSION]
    parts = [
        "# Every figure, table and claim of the paper",
        f"{len(found)} of {len(all_artefacts())} artefacts have been run{_by_scale(found)}. Every claim is counted once and "
        f"judged by [rules]({folder}/rules.md) that also say what was changed after a result had been seen. Made by `gnode "
        f"reproduce collect` from the JSON files in [{folder}]({folder}).",
        _counts(claims),
        "## What holds",
        _themes(claims, found, folder),
        "## What does not hold, and why",
        _by_reason(of_paper, (FAILS,), found, folder),
        *_section("## What cannot be told apart", _by_reason(of_paper, (TIE, FLOOR), found, folder)),
        *_section("## What we aimed at beyond the paper and missed", _by_reason(own, (FAILS, FLOOR), found, folder)),
        *_section("## Better than published, and worse", _better_in_short(found, folder)),
        f"What has not been decided, and what is missing, is on the page of [all artefacts]({folder}/{ALL}.md).",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def all_page(found: dict[str, list[Result]], folder: str) -> str:
    """Returns the page with a line for every artefact, every comparison with a published number, and what is missing."""
    judged = [one for artefact in all_artefacts() for one in _judged(artefact, found.get(artefact.name, []))]
    compared = _better(found)
    parts = [
        "# All artefacts",
        f"Made by `gnode reproduce collect`. The short story is the [summary](../{folder}.md).",
        _overview(found),
        *_section("## Better than published, and worse", compared and f"{COMPARED}\n\n{compared}"),
        "## Not decided",
        _open(judged),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(heading: str, text: str) -> list[str]:
    return [heading, text] if text else []


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


def _themes(claims: list[Judged], found: dict[str, list[Result]], folder: str) -> str:
    """Says of every artefact how many of its claims hold, a line for each theme."""
    lines = []
    for theme, names in THEMES.items():
        parts = []
        for name in names:
            own = [one.verdict for one in claims if one.artefact.name == name and one.verdict != OPEN]
            if own:
                parts.append(f"{_link(name, folder)} {own.count(HOLDS)} of {len(own)}")
            elif name in found:
                parts.append(_link(name, folder))
        if parts:
            lines.append(f"- {theme}: {', '.join(parts)}.")
    return "\n".join(lines)


def _by_reason(claims: Iterable[Judged], wanted: tuple[str, ...], found: dict[str, list[Result]], folder: str) -> str:
    """Lists claims with a verdict, those with the same cause in one item, and last those without a known one."""
    reasons: dict[str, list[str]] = {}
    for one in claims:
        if one.verdict in wanted:
            scale = "" if one.scale == "paper" else f", {one.scale} scale"
            why = causes.why(one.artefact.name, one.claim["claim"], found)
            said = f"{one.claim['claim'].rstrip('.')} ({_link(one.artefact.name, folder)}{scale})"
            reasons.setdefault(why, []).append(said.replace("|", r"\|"))
    known = [f"- {'; '.join(said)}. **{why}**" for why, said in reasons.items() if why != causes.UNKNOWN]
    unknown = [f"  - {said}" for said in reasons.get(causes.UNKNOWN, [])]
    return "\n".join([*known, *(["- **Not known** why:", *unknown] if unknown else [])])


class _Compared(NamedTuple):
    """The comparisons of an artefact's numbers with published ones: counts, the gnODE's better ones, and all worse ones."""

    name: str
    scale: str
    counts: Counter[str]
    better: list[dict[str, Any]]
    worse: list[dict[str, Any]]


def _compared(found: dict[str, list[Result]]) -> list[_Compared]:
    """Compares the numbers of all results, each counted where it is first."""
    rows, seen = [], set[float]()
    for artefact in all_artefacts():
        for content in found.get(artefact.name, []):
            judged = {
                number["name"]: better.compared(number, " ".join(content["sweeps"]))
                for number in content["numbers"]
                if number["ours"] not in seen
            }
            counts = Counter(kind for kind in judged.values() if kind)
            seen |= {number["ours"] for number in content["numbers"] if judged.get(number["name"])}
            if content["scale"] != "smoke" and counts:
                kinds = {
                    kind: [number for number in content["numbers"] if judged.get(number["name"]) == kind]
                    for kind in (better.BETTER, better.WORSE)
                }
                own = [number for number in kinds[better.BETTER] if "gnODE" in number["name"]]
                rows.append(_Compared(artefact.name, content["scale"], counts, own, kinds[better.WORSE]))
    return rows


def _better_in_short(found: dict[str, list[Result]], folder: str) -> str:
    """Says how many numbers are better and worse than the published ones, and names the worse and the gnODE's better."""
    rows = [one for one in _compared(found) if one.scale == "paper"]
    if not rows:
        return ""
    total: Counter[str] = Counter()
    for one in rows:
        total += one.counts
    said = ", ".join(f"{total[kind]} {kind}" for kind in _KINDS)
    worse = [f"- {_link(one.name, folder)}: {_listed(one.worse, len(one.worse))}" for one in rows if one.worse]
    named = [f"- {_link(one.name, folder)}: {_listed(one.better)}" for one in rows if one.better]
    parts = [f"Of the numbers at the paper's scale, by two standard errors: {said}. Of gnODEs are better:", "", *named]
    return "\n".join([*parts, "", "Worse are:", "", *worse] if worse else parts)


def _listed(numbers: list[dict[str, Any]], most: int = 3) -> str:
    some = [f"{n['name'].replace(': minimum', '')} {n['ours']:.3g} ({n['published']})" for n in numbers[:most]]
    return "; ".join(some) + (f"; {len(numbers) - most} more" if len(numbers) > most else "")


def _better(found: dict[str, list[Result]]) -> str:
    """Counts, by artefact, the numbers that are better and worse than the published ones by two standard errors."""
    lines = [row("artefact", *_KINDS, "better here, with the published number"), "|" + "---|" * (len(_KINDS) + 2)]
    for one in _compared(found):
        shown = _link(one.name) + ("" if one.scale == "paper" else f" ({one.scale})")
        lines.append(row(shown, *(str(one.counts[kind]) for kind in _KINDS), _listed(one.better)))
    return "\n".join(lines) if len(lines) > 2 else ""


_KINDS = (better.BETTER, better.SAME, better.WORSE)


def _overview(found: dict[str, list[Result]]) -> str:
    lines = [row("artefact", "where in the paper", "scale", "claims"), "|---|---|---|---|"]
    for artefact in all_artefacts():
        if artefact.name not in found:
            largest_scale = next(scale for scale in reversed(SCALES) if scale in artefact.scales)
            cost = f"never run ({largest_scale} scale: {artefact.scales[largest_scale]})"
            lines.append(row(artefact.name, artefact.place, cost.replace(": not run yet)", ")"), ""))
            continue
        results = found[artefact.name]
        largest, *rest = results
        cells = (", ".join(archive.extent(largest)), _said(largest["checks"], largest))
        lines.append(row(_link(artefact.name), artefact.place, *cells))
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


def _open(claims: Iterable[Judged]) -> str:
    lines = [row("claim", "what is missing"), "|---|---|"]
    for one in claims:
        if one.verdict == OPEN:
            lines.append(row(f"{_link(one.artefact.name)}: {one.claim['claim']}", "its sweeps were not trained"))
    return "\n".join(lines)


def _link(name: str, folder: str = "") -> str:
    return f"[{name}]({folder}/{name}.md)" if folder else f"[{name}]({name}.md)"
