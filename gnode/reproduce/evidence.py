"""What a result has stored, as its claims are judged by: numbers with their spread over seeds, details, and earlier claims.

An artefact's `judge` makes its claims of this alone, when the artefact is run and when `gnode reproduce collect` judges a
stored result again. Where a file of an earlier version lacks what a rule needs, the verdict of its run is kept, with a note.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gnode.reproduce.artefact import Claim, Number
from gnode.reproduce.verdicts import OPEN, Group, of_stored

Decided = tuple[str, dict[str, Any]]
"""A verdict and the numbers that decide it."""
EARLIER = "earlier_checks"
"""The entry of a result with the claims as its run judged them, if they have been judged again since."""


class NoEvidence(Exception):
    """A rule needs something that a result does not have."""


@dataclasses.dataclass(frozen=True)
class Evidence:
    """The numbers and details of a result, and the claims that it was stored with."""

    numbers: Mapping[str, Mapping[str, Any]]
    details: Mapping[str, Any]
    claims: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> "Evidence":
        """Returns the evidence in the content of a result's file."""
        numbers = {number["name"]: number for number in content["numbers"]}
        return cls(numbers, content.get("details", {}), (*content.get(EARLIER, []), *content["checks"]))

    @classmethod
    def fresh(cls, numbers: Iterable[Number], details: Mapping[str, Any] | None = None) -> "Evidence":
        """Returns the evidence of an analysis that has just been made."""
        return cls({number.name: dataclasses.asdict(number) for number in numbers}, details or {})

    def group(self, name: str) -> Group:
        """Returns a number over seeds by its name.

        **Raises:** `NoEvidence` if there is none.
        """
        found = self.numbers.get(name)
        if found is None or found["ours"] is None:
            raise NoEvidence(f"no number {name!r}")
        return Group(found["ours"], found["std"] if (found["seeds"] or 1) > 1 else None, found["seeds"] or 1)

    def groups(self, names: Mapping[str, str]) -> dict[str, Group]:
        """Returns several groups: the values of `names` are the names of numbers."""
        return {key: self.group(name) for key, name in names.items()}

    def detail(self, key: str, was: str = "") -> Any:
        """Returns a detail; in a file of an earlier version, what was measured for the claim `was`.

        **Raises:** `NoEvidence` if there is neither.
        """
        if self.details.get(key) is not None:
            return self.details[key]
        for claim in self.claims:
            if was and claim["claim"] == was and claim["measured"]:
                return claim["measured"]
        raise NoEvidence(f"no detail {key!r}")

    def decide(self, claim: str, rule: Callable[[], Decided], was: str | None = None) -> Claim:
        """Judges a claim by a rule; where evidence lacks, keeps the run's verdict (on `was`, if its words changed)."""
        try:
            verdict, measured = rule()
        except NoEvidence as missing:
            return self._kept(claim, was or claim, missing)
        return Claim(claim, verdict, measured)

    def _kept(self, claim: str, was: str, missing: NoEvidence) -> Claim:
        for stored in self.claims:
            if stored["claim"] == was and of_stored(stored) != OPEN:
                note = f"the verdict of the run, since its file has {missing}"
                return Claim(claim, of_stored(stored), dict(stored["measured"]), note)
        return Claim(claim, OPEN)


def means(groups: Mapping[str, Group]) -> dict[str, float]:
    """Returns the means of some groups by their names, as what a claim was decided by."""
    return {name: group.mean for name, group in groups.items()}
