r"""How a claim is decided: one comparison of two groups of seeds, and how several of them make one verdict.

Two groups with means m_1, m_2, standard deviations s_1, s_2 (of n - 1) and n_1, n_2 seeds differ by d = m_2 - m_1 with the
standard error (Welch)

    e = sqrt(s_1^2 / n_1 + s_2^2 / n_2).

"The first is lower" holds if d > 2 e, does not hold if d < -2 e, and the groups are indistinguishable in between. Where both
means are at most `NEGLIGIBLE`, the comparison is a floor: it would rank the arithmetic and not the networks.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

HOLDS, FAILS, TIE, FLOOR, OPEN = "holds", "does not hold", "indistinguishable", "floor", "not decided"
VERDICTS = (HOLDS, FAILS, TIE, FLOOR, OPEN)
STANDARD_ERRORS = 2.0
"""How many standard errors a difference must exceed to decide a comparison."""
NEGLIGIBLE = 1e-6
"""The mean squared error, in units of a signal's variance, up to which networks are not ranked: a GPU rounds the factors of
products to 10 bits (TF32), so a loss of about (2^-10)^2 = 1e-6 measures the arithmetic."""


@dataclasses.dataclass(frozen=True)
class Group:
    """A quantity over some seeds: its mean, its standard deviation (of n, as results store it), and the number of seeds.

    A `std` of None stands for a single network, whose spread is not known. An `error` is the standard error of a quantity
    that was computed from other groups, or 0 for a bound.
    """

    mean: float
    std: float | None = None
    seeds: int = 1
    error: float | None = None

    @classmethod
    def of(cls, values: Iterable[float]) -> "Group":
        """Returns the group of these values."""
        found = np.array(list(values), float)
        return cls(float(found.mean()), float(found.std()) if len(found) > 1 else None, len(found))

    @classmethod
    def exactly(cls, value: float) -> "Group":
        """Returns a bound: a number without an error."""
        return cls(value, error=0.0)

    @classmethod
    def published(cls, mean: float, std: float, seeds: int = 5) -> "Group":
        """Returns a published mean and its standard deviation (of n - 1)."""
        return cls(mean, std * math.sqrt((seeds - 1) / seeds), seeds)

    @property
    def standard_error(self) -> float:
        """The standard error of the mean; not a number for a single network."""
        if self.error is not None:
            return self.error
        if self.std is None or self.seeds < 2:
            return math.nan
        return self.std / math.sqrt(self.seeds - 1)


def lower(first: Group, second: Group, negligible: float = 0.0) -> str:
    """Decides whether the mean of `first` is lower than that of `second`.

    **Arguments:** the groups; `negligible`, the mean at and below which both are a floor.

    >>> lower(Group.of([1.0, 1.2, 1.1]), Group.of([2.0, 2.2, 2.1]))
    'holds'
    """
    if max(abs(first.mean), abs(second.mean)) <= negligible:
        return FLOOR
    difference = second.mean - first.mean
    error = math.hypot(first.standard_error, second.standard_error)
    if not math.isfinite(difference) or not math.isfinite(error):
        return OPEN
    if abs(difference) <= STANDARD_ERRORS * error:
        return TIE
    return HOLDS if difference > 0 else FAILS


def higher(first: Group, second: Group) -> str:
    """Decides whether the mean of `first` is higher than that of `second`."""
    return lower(second, first)


def difference(first: Group, second: Group) -> Group:
    """Returns the difference of two means, with its standard error.

    >>> difference(Group(3.0, error=0.3), Group(1.0, error=0.4)).standard_error
    0.5
    """
    return Group(first.mean - second.mean, error=math.hypot(first.standard_error, second.standard_error))


def average(groups: Sequence[Group]) -> Group:
    """Returns the mean of some means, with its standard error."""
    error = math.hypot(*(one.standard_error for one in groups)) / len(groups)
    return Group(float(np.mean([one.mean for one in groups])), error=error)


def below(found: Group | Sequence[float], bound: float) -> str:
    """Decides whether a network comes below a bound.

    If the value of every seed is known, most of them have to: a mean says little where some seeds fail. A single network is
    compared as it is, and a mean by two standard errors.
    """
    if not isinstance(found, Group):
        count = sum(value < bound for value in found)
        if not found:
            return OPEN
        return TIE if 2 * count == len(found) else HOLDS if 2 * count > len(found) else FAILS
    if math.isnan(found.standard_error):
        return HOLDS if found.mean < bound else FAILS
    return lower(found, Group.exactly(bound))


def above(found: Group | Sequence[float], bound: float) -> str:
    """Decides whether a network stays above a bound, as `below` does."""
    return opposite(below(found, bound))


def plainly(holds: bool | None) -> str:
    """Returns the verdict on a statement that has no error bar, such as a count."""
    return OPEN if holds is None else HOLDS if holds else FAILS


def opposite(verdict: str) -> str:
    """Returns the verdict on the opposite statement."""
    return {HOLDS: FAILS, FAILS: HOLDS}.get(verdict, verdict)


def all_of(verdicts: Iterable[str]) -> str:
    """Returns the verdict on a claim that states every one of some comparisons: the worst of theirs."""
    found = set(verdicts)
    return next((verdict for verdict in (FAILS, OPEN, TIE, HOLDS, FLOOR) if verdict in found), OPEN)


def most_of(verdicts: Iterable[str]) -> str:
    """Returns the verdict on what a paper says "generally": it holds for more than half of the decided comparisons.

    Where exactly half of them hold it does not hold. Where more than half of all comparisons are indistinguishable, or none
    is decided, it is what they are.
    """
    counts = Counter(verdicts)
    decided = counts[HOLDS] + counts[FAILS]
    if decided and 2 * counts[TIE] <= counts.total():
        return HOLDS if 2 * counts[HOLDS] > decided else FAILS
    return TIE if counts[TIE] else FLOOR if counts[FLOOR] else OPEN


def tally(verdicts: Iterable[str]) -> dict[str, int]:
    """Counts comparisons by their verdict, in the order of `VERDICTS`.

    >>> tally(["holds", "indistinguishable", "holds"])
    {'holds': 2, 'indistinguishable': 1}
    """
    counts = Counter(verdicts)
    return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}


def of_stored(claim: Mapping[str, Any]) -> str:
    """Returns the verdict of a stored claim, also of a version that knew only yes, no and none."""
    return claim["verdict"] if "verdict" in claim else plainly(claim["holds"])
