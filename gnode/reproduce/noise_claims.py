"""Claims on fits of noise, judged by the stored errors (the detail "points"): every comparison is of two groups of seeds."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from gnode.cells import cell_label
from gnode.reproduce import verdicts
from gnode.reproduce.artefact import Claim
from gnode.reproduce.evidence import Decided, Evidence, NoEvidence
from gnode.reproduce.verdicts import NEGLIGIBLE, Group

TAUS = (1.0, 10.0, 30.0, 100.0)
"""The paper's time constants in seconds; the first is that of the process. Ours have 3 s as well, which decides nothing."""
SIMPLE, COMPLEX = ("rnn", "mgru", "gru"), ("node", "gnode")

Point = dict[str, Any]


def select(points: Iterable[Point], **where: Any) -> list[Point]:
    """Returns the stored points with these settings."""
    return [point for point in points if all(point[name] == value for name, value in where.items())]


def values(points: Iterable[Point], name: str) -> list[Any]:
    """Returns the values of a setting, in order."""
    return sorted({point[name] for point in points})


def group(points: Iterable[Point], **where: Any) -> Group:
    """Returns the errors of the one network with these settings.

    **Raises:** `NoEvidence` if there is not one.
    """
    found = select(points, **where)
    if len(found) != 1:
        raise NoEvidence(f"{len(found)} networks with {where}")
    return Group(found[0]["mean"], found[0]["std"], found[0]["seeds"])


def paper_taus(points: Iterable[Point]) -> list[float]:
    """Returns those of the measured time constants that the paper has."""
    return [tau for tau in values(points, "tau") if tau in TAUS]


def generally(compared: Sequence[str], shown: dict[str, Any]) -> Decided:
    """Returns what most decided comparisons say, with their counts."""
    return verdicts.most_of(compared), verdicts.tally(compared) | shown


def nearer_is_lower(found: Evidence, claim: str, model: str, **where: Any) -> Claim:
    """Decides whether errors generally are lower the nearer tau is to tau_OU: neighbouring taus at each N."""

    def rule() -> Decided:
        points = select(found.detail("points"), model=model, **where)
        compared, shown = [], {}
        for state in values(points, "state"):
            groups = [group(points, state=state, tau=tau) for tau in paper_taus(points)]
            compared += [verdicts.lower(near, far, NEGLIGIBLE) for near, far in pairwise(groups)]
            shown[f"N = {state}, by tau"] = [one.mean for one in groups]
        return generally(compared, shown)

    return found.decide(claim, rule)


def wider_is_better(found: Evidence, claim: str, model: str, was: str | None = None, **where: Any) -> Claim:
    """Decides whether errors generally fall with the number of hidden units: neighbouring widths at each N."""

    def rule() -> Decided:
        points = select(found.detail("points"), model=model, **where)
        compared, shown = [], {}
        for state in values(points, "state"):
            widths = values(points, "hidden")
            groups = [group(points, state=state, hidden=hidden) for hidden in widths]
            compared += [verdicts.lower(wide, narrow, NEGLIGIBLE) for narrow, wide in pairwise(groups)]
            shown[f"N = {state}, H = {', '.join(map(str, widths))}"] = [one.mean for one in groups]
        return generally(compared, shown)

    return found.decide(claim, rule, was)


def narrow_hurts(found: Evidence, claim: str, model: str, **where: Any) -> Claim:
    """Decides whether the narrowest hidden layer generally gives a higher error than the wider ones."""

    def rule() -> Decided:
        points = select(found.detail("points"), model=model, **where)
        groups = {hidden: group(points, hidden=hidden) for hidden in values(points, "hidden")}
        narrow, *wider = groups.values()
        compared = [verdicts.lower(wide, narrow, NEGLIGIBLE) for wide in wider]
        return generally(compared, {f"H = {hidden}": one.mean for hidden, one in groups.items()})

    return found.decide(claim, rule)


def beats_everywhere(found: Evidence, claim: str, winner: str, loser: str) -> Claim:
    """Decides whether `winner` has the lower error than `loser` at every N and every tau of the paper."""

    def rule() -> Decided:
        points, compared, shown = found.detail("points"), [], {}
        for state in values(points, "state"):
            for tau in paper_taus(points):
                pair = [group(points, model=model, state=state, tau=tau) for model in (winner, loser)]
                compared.append(verdicts.lower(*pair, negligible=NEGLIGIBLE))
                shown[f"N = {state}, tau = {tau:g}"] = [one.mean for one in pair]
        return verdicts.all_of(compared), verdicts.tally(compared) | shown

    return found.decide(claim, rule)


def beats_the_others(found: Evidence, claim: str, winner: str, hidden: int, **where: Any) -> Claim:
    """Decides whether `winner` generally has a lower error than each of the other networks."""

    def rule() -> Decided:
        points = select(found.detail("points"), **where)
        points = [point for point in points if point["hidden"] in (0, hidden)]
        groups = {model: group(points, model=model) for model in values(points, "model")}
        compared = [verdicts.lower(groups[winner], one, NEGLIGIBLE) for model, one in groups.items() if model != winner]
        return generally(compared, {cell_label(model): one.mean for model, one in groups.items()})

    return found.decide(claim, rule)


def gap_widens(found: Evidence, claim: str, hidden: int) -> Claim:
    """Decides whether the gap widens with tau: between neighbouring taus at each N.

    The gap is the mean error of RNN, mGRU and GRU minus that of nODE and gnODE.
    """

    def gap(points: list[Point], state: int, tau: float) -> Group:
        simple, complex_ = (
            [group(points, model=model, state=state, tau=tau) for model in models] for models in (SIMPLE, COMPLEX)
        )
        return verdicts.difference(verdicts.average(simple), verdicts.average(complex_))

    def rule() -> Decided:
        points = [point for point in found.detail("points") if point["hidden"] in (0, hidden)]
        compared, shown = [], {}
        for state in values(points, "state"):
            gaps = [gap(points, state, tau) for tau in paper_taus(points)]
            compared += [verdicts.lower(near, far) for near, far in pairwise(gaps)]
            shown[f"N = {state}, gap by tau"] = [one.mean for one in gaps]
        return generally(compared, shown)

    return found.decide(claim, rule)
