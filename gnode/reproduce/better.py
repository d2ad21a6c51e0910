"""Compares stored numbers with the published ones: which are better, which are worse, and which cannot be told apart."""

import re
from collections.abc import Mapping
from typing import Any

from gnode.reproduce import verdicts
from gnode.reproduce.verdicts import FAILS, HOLDS, Group

VALUE = re.compile(r"(\d+(?:\.\d+)?(?:e-?\d+)?)(?: ± (\d+(?:\.\d+)?))?")
ERRORS, SCORES = ("MSE",), ("accuracy",)
OTHER_DATA = "speech"
"""What a number's name has where our data are not the paper's: version 1 of the spoken words."""
BETTER, WORSE, SAME = "better", "worse", "not told apart"


def published_group(text: str | None) -> Group | None:
    """Reads a published number: "0.552 ± 0.019" is a mean over seeds, "0.0137" that of one network; other texts are none.

    >>> published_group("0.552 ± 0.019").mean, published_group("< 0.01")
    (0.552, None)
    """
    found = VALUE.fullmatch(text or "")
    if found is None:
        return None
    mean, std = found.groups()
    return Group.exactly(float(mean)) if std is None else Group.published(float(mean), float(std))


def compared(number: Mapping[str, Any], task: str = "") -> str | None:
    """Returns whether a stored number is better than the published one; None where they cannot be compared.

    **Arguments:** `number`; `task`, the names of the sweeps, to know whose data are others than the paper's.
    """
    theirs, name = published_group(number["published"]), number["name"]
    is_score = any(word in name for word in SCORES)
    if theirs is None or number["ours"] is None or not (is_score or any(word in name for word in ERRORS)):
        return None
    if OTHER_DATA in name or OTHER_DATA in task or (number["seeds"] or 1) < 2:
        return None
    ours = Group(number["ours"], number["std"], number["seeds"])
    verdict = verdicts.higher(ours, theirs) if is_score else verdicts.lower(ours, theirs, verdicts.NEGLIGIBLE)
    return {HOLDS: BETTER, FAILS: WORSE}.get(verdict, SAME)
