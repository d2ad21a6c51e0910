"""Rules that changed after their result had been seen: each with what it was and is, and the verdicts by both.

Verdicts are not written here. Those before come from what a result keeps of its run (`earlier_checks`), or, for rules that
were replaced before results kept that, from the stored numbers by the old rule; those of today from its claims.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from gnode.reproduce.evidence import EARLIER
from gnode.reproduce.verdicts import VERDICTS, all_of, of_stored, plainly

Content = Mapping[str, Any]


class RuleChange(NamedTuple):
    """A change of a rule.

    - `artefact`: whose claims it judges.
    - `before`, `after`: how the claims of the run and those of today begin; an `after` of nothing was removed.
    - `rule_before`, `rule_after`: in words.
    - `verdict_before`: computes the verdict of a rule that results keep nothing of.
    """

    artefact: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    rule_before: str
    rule_after: str
    verdict_before: Callable[[Content], str] | None = None


def _shapes(**expected: str) -> Callable[[Content], str]:
    """The rule that the slow states of each network have a shape."""

    def rule(content: Content) -> str:
        return plainly(all(content["details"][task]["shape"] == shape for task, shape in expected.items()))

    return rule


def _covers_count(content: Content) -> str:
    """The rule that T / N is within three standard errors of Cover's count at every N."""
    loads = next(own["measured"] for own in stored(content) if own["claim"].startswith("For large N"))
    sizes = [int(name.removeprefix("N = ")) for name in loads]
    errors = content["details"]["standard errors"]
    return plainly(
        all(abs(load - 2 * (n - 1) / n) <= 3 * error for n, load, error in zip(sizes, loads.values(), errors))
    )


def _every_n(content: Content) -> str:
    """The rule that the gnODE's mean is lower than the GRU's at every tau, also 3 s, and every N."""
    return all_of(verdicts_before(content, ("The gnODE is more expressive than the GRU",)))


PLAIN, TWO = "the mean is the better one", "the difference exceeds two standard errors"
NEIGHBOURS = "of neighbouring {} at each N, more than half of those that two standard errors decide"
REMOVED = "removed: {}"
RULE_CHANGES = (
    RuleChange(
        "fig2",
        (),
        ("The annulus task makes a disk",),
        "the slow states have the shape of a disk",
        "the flow in the middle is at most a twentieth as fast as that around",
        _shapes(annulus="disk"),
    ),
    RuleChange(
        "ring",
        (),
        ("With the target starting", "With (2, 0)"),
        "one claim: the slow states form a disk from (0, 0) and a ring from (2, 0)",
        "two claims on the speed of the flow in the middle",
        _shapes(**{"ring-from-0": "disk", "ring-from-2": "ring"}),
    ),
    RuleChange(
        "capacity",
        (),
        ("For large N",),
        "T / N is within 3 standard errors of 2 (N - 1) / N at every N",
        "that at the largest N, and nearer to 2 there than at the smallest N",
        _covers_count,
    ),
    RuleChange(
        "ou-networks",
        (),
        ("The gnODE is consistently",),
        "one claim: the gnODE's mean is lower at every tau, also 3 s, and every N",
        "the same on the paper's taus, each decided by two standard errors",
        _every_n,
    ),
    RuleChange(
        "ou-networks",
        ("The gnODE is more expressive",),
        ("The gnODE is consistently",),
        "four claims, one for each N: the mean is lower at every tau, also 3 s",
        "one claim, as the paper has it: at every N and tau of the paper, by two standard errors",
    ),
    RuleChange(
        "ou-tau",
        ("The error of",),
        ("Errors of the",),
        "16 claims, one for each network and N: means rise with every step of tau, also 3 s",
        f"4 claims, one for each network (the paper: 'generally'): {NEIGHBOURS.format('taus of the paper')}",
    ),
    RuleChange(
        "fig3",
        ("The error grows",),
        ("The gnODE's errors",),
        "means rise with every step of tau, also 3 s, for all five networks at N = 316",
        f"the gnODE of panel B, as the others are judged in ou-tau: {NEIGHBOURS.format('taus of the paper')}",
    ),
    RuleChange(
        "fig3",
        ("The widest",),
        ("More hidden units",),
        "the widest layer's mean is lower than the narrowest's at every N",
        NEIGHBOURS.format("widths"),
    ),
    RuleChange(
        "fig3",
        ("At low N",),
        ("At low N",),
        "the gnODE has the lowest mean of all networks",
        "it is better than most of those from which two standard errors tell it apart",
    ),
    RuleChange(
        "fig3",
        ("The gap",),
        ("The gap",),
        "the ratio of the best simple network's error to the gnODE's is larger at tau = 100 s than at 1 s, N = 316",
        f"the difference of mean errors, simple minus complex networks: {NEIGHBOURS.format('taus of the paper')}",
    ),
    RuleChange(
        "ou-width",
        ("The most hidden units",),
        ("More hidden units",),
        "the widest layer's mean is lower than the narrowest's at every N",
        f"{NEIGHBOURS.format('widths')}; indistinguishable if more than half are",
    ),
    RuleChange("ou-width", ("At tau",), ("At tau",), PLAIN, TWO),
    RuleChange(
        "ou-depth",
        ("A second",),
        ("A second",),
        "improvements larger than the sum of both deviations at no more than half of the points",
        "improvements larger than two standard errors at no more than half of them",
    ),
    RuleChange("jacobian-spectra", ("Without gating",), ("Without gating",), PLAIN, TWO),
    RuleChange("jacobian-spectra", ("Gating pinches",), ("Gating pinches",), PLAIN, TWO),
    RuleChange(
        "fig1",
        ("Only the gnODE", "At N = 6 all", "gnODE and GRU", "RNN and mGRU", "A gnODE", "No other"),
        ("Only the gnODE", "At N = 6 all", "gnODE and GRU", "RNN and mGRU", "A gnODE", "No other"),
        "every seed is on the expected side of the bound",
        "the mean is, by two standard errors",
    ),
    RuleChange(
        "square",
        ("RNN, mGRU", "nODE with", "The gnODE"),
        ("RNN, mGRU", "nODE with", "The gnODE"),
        "every seed is on the expected side of the bound",
        "the mean is, by two standard errors",
    ),
    RuleChange(
        "fixed-3bit",
        ("At N = 6", "At N = 12"),
        ("At N = 6", "At N = 12"),
        "every seed of every network is on the expected side of the bound",
        "most seeds of every network are",
    ),
    RuleChange(
        "gate-and-residual",
        ("On the attractor",),
        ("On the attractor",),
        "in every network",
        "in more than half of them (the paper: 'generally')",
    ),
    RuleChange("annulus-generalisation", ("Norms",), ("Norms",), PLAIN, TWO),
    RuleChange("table1", ("The gnODE has", "At tau"), ("The gnODE has", "At tau"), PLAIN, TWO),
    RuleChange("table-tau", ("A longer", "Gated", "At tau"), ("A longer", "Gated", "At tau"), PLAIN, TWO),
    RuleChange("table-characters", ("With",), ("With",), PLAIN, TWO),
    RuleChange("table-critical", ("On Walker2D",), ("On Walker2D",), PLAIN, TWO),
    RuleChange("table-critical-speech", ("Critical",), ("Critical",), PLAIN, TWO),
    RuleChange(
        "table-fixed-points",
        ("At N",),
        ("At N",),
        "medians of the gated networks are nearer to 0 (which fig1 and abscissa-n6 say already)",
        "both quartiles of the gated networks are",
    ),
    RuleChange("capacity", ("Gardner",), (), "T / N is 2", REMOVED.format("it evaluates our own formula")),
    RuleChange(
        "critical-depth",
        ("Without biases", "One side"),
        (),
        "sigma_w* is 1 without biases; probes on each side have the expected stability",
        REMOVED.format("both evaluate our own formula"),
    ),
    RuleChange(
        "critical-depth",
        ("Biases stabilise",),
        (),
        "every curve rises with sigma_b",
        REMOVED.format("it evaluates our own formula, and the paper does not say it"),
    ),
    RuleChange(
        "fixed-3bit",
        ("The RNN with N = 18",),
        (),
        "it has 8 stable fixed points",
        REMOVED.format("stable-points says it of all networks"),
    ),
    RuleChange(
        "stable-points",
        tuple(f"The {name} solves" for name in ("RNN", "mGRU", "GRU", "nODE", "gnODE")),
        ("All networks",),
        "five claims, one for each network: most of those that solve the task have 8 stable points",
        "one claim, as the paper has it: the worst of these five verdicts",
    ),
    RuleChange("rectangle-disk", ("The rectangle",), (), PLAIN, REMOVED.format("the paper does not claim it")),
)


def stored(content: Content) -> list[Mapping[str, Any]]:
    """Returns the claims of a result's run."""
    return content.get(EARLIER, content["checks"])


def verdicts_before(content: Content, beginnings: tuple[str, ...]) -> list[str]:
    """Returns the verdicts of a result's run on the claims that begin so."""
    return [of_stored(claim) for claim in stored(content) if claim["claim"].startswith(beginnings)]


def both(change: RuleChange, contents: Iterable[Content]) -> tuple[str, str]:
    """Returns the verdicts before and after a change as texts, over all results of the artefact."""
    before: list[str] = []
    after: list[str] = []
    for content in contents:
        if change.verdict_before is not None:
            before.append(change.verdict_before(content))
        else:
            before += verdicts_before(content, change.before)
        now = (of_stored(claim) for claim in content["checks"] if claim["claim"].startswith(change.after or ("\0",)))
        after += now
    return _said(before), _said(after) if change.after else "-"


def _said(verdicts: list[str]) -> str:
    """Counts verdicts in words; what was not decided is left out where something was."""
    decided = [verdict for verdict in verdicts if verdict != VERDICTS[-1]] or verdicts
    counts = Counter(decided)
    if len(decided) == 1:
        return decided[0]
    return ", ".join(f"{verdict}: {counts[verdict]}" for verdict in VERDICTS if counts[verdict]) or "-"
