"""Real data by the gnode protocol: test scores of gnODEs whose setting a search on the first seed's validation loss chose.

Shared by `walker2d-protocol`, `letters-protocol` and `speech-protocol`, which differ in their sweeps, scores and targets.
"""

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from gnode.cells import CELLS
from gnode.init import SMALL_BIAS_STD
from gnode.plots.seed_rows import Row, RowPanel, seed_rows
from gnode.reproduce import protocols, real_data, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, Trained
from gnode.reproduce.evidence import Decided, Evidence
from gnode.reproduce.selection import trained_members
from gnode.reproduce.verdicts import Group
from gnode.sweeps import Sweep

TRAINING: dict[str, Any] = {
    "model": "gnode",
    "bias_std": SMALL_BIAS_STD,
    "clip": 1.0,
    "ema": 0.999,
    "seed": protocols.SEEDS,
}
"""What all of these networks have in common."""


CAPTION = (
    "(A) The {score} of every seed of the chosen setting. Bars are medians; diamonds are the published means with one "
    "standard deviation, where the paper's data are ours; dotted lines are the targets that were set before the runs. "
    "(Other panels) The validation loss of the first seed with every setting that was tried: the lowest was chosen. They "
    "have one scale."
)


@dataclasses.dataclass(frozen=True)
class Case:
    """One row of a table: its sweep, what tells it from the others, the mean score to reach, and the published score.

    `target` was set before the runs. `published` holds a mean and a standard deviation; it is None where the paper's data
    are others than ours.
    """

    sweep: str
    where: str
    target: float
    published: tuple[float, float] | None = None


@dataclasses.dataclass(frozen=True)
class Table:
    """What is measured: the name of the score, the key of a test result that has it, and the rows.

    `is_error` says that less is better; `validated` is the name of the validation loss.
    """

    score: str
    metric: str
    is_error: bool
    validated: str
    cases: tuple[Case, ...]

    def number_name(self, case: Case) -> str:
        """Returns the name of a row's number."""
        return f"{self.score}, {case.where}: gnODE"

    @property
    def short(self) -> str:
        """The score as claims name it: "test MSE" or "test accuracy"."""
        return " ".join(self.score.split()[-2:])


def chosen(sweep: Sweep) -> list[int]:
    """Returns the members with the chosen setting, one for each seed."""
    return trained_members(sweep)


def best_seed(sweep: Sweep) -> int:
    """Returns the member with the lowest validation loss among them."""
    return min(chosen(sweep), key=lambda member: sweep.result(member)["best_loss"])


def keeps(trained: Trained) -> dict[str, list[int]]:
    """The members whose weights are kept: the best seed of each sweep."""
    return {name: [best_seed(sweep)] for name, sweep in trained.sweeps.items()}


def analyse(trained: Trained, table: Table) -> Outcome:
    """Returns the numbers, claims and figure of a table, of the sweeps that were trained."""
    numbers, details = [], {}
    for case in table.cases:
        for sweep in trained.available(case.sweep):
            values = np.array([_score(sweep, member, table) for member in chosen(sweep)])
            numbers.append(real_data.number(table.number_name(case), values, case.published))
            details[case.where] = _details(sweep, table)
    return Outcome(numbers, judge(Evidence.fresh(numbers), table), draw(details, table), details)


def _score(sweep: Sweep, member: int, table: Table) -> float:
    return float((sweep.result(member).get("test") or {}).get(table.metric, np.nan))


def draw(details: Mapping[str, Any], table: Table) -> dict[str, Any]:
    """Draws the scores of the chosen settings beside the published ones, and the search of each row of the table."""
    cases = [case for case in table.cases if case.where in details]
    scored = [
        Row(
            case.where,
            [score for label, (_, score) in _trained(details[case.where]).items() if _is_chosen(details, case, label)],
            CELLS["gnode"].colour,
            published=case.published,
            target=case.target,
        )
        for case in cases
    ]
    panels = [RowPanel("all seeds of the chosen setting", scored, _quantity(table.short), log=False)]
    panels += [
        RowPanel(f"first seed, {case.where}", _search(details, case), _quantity(table.validated), "search")
        for case in cases
    ]
    names = {"filled": "a seed; the chosen setting", "hollow": "another setting that was tried"}
    return {"a": seed_rows(panels, names=names)} if cases else {}


def _quantity(name: str) -> str:
    """Returns the name of a quantity as an axis has it, with a capital letter."""
    return name[0].upper() + name[1:]


def _trained(content: Mapping[str, Any]) -> dict[str, list[float | None]]:
    """Returns the validation loss and the test score of everything that was trained, by setting and seed."""
    return next(dict(value) for value in content.values() if isinstance(value, Mapping))


def _is_chosen(details: Mapping[str, Any], case: Case, label: str) -> bool:
    return label.rpartition(", seed ")[0] == details[case.where]["chosen"]


def _search(details: Mapping[str, Any], case: Case) -> list[Row]:
    """Returns a row for each setting that the first seed was trained with."""
    found = _trained(details[case.where])
    first = min(int(label.rpartition(" ")[2]) for label in found)
    return [
        Row(label.rpartition(", seed ")[0], [loss], hollow=not _is_chosen(details, case, label))
        for label, (loss, _) in found.items()
        if label.endswith(f", seed {first}")
    ]


def _setting(sweep: Sweep, index: int) -> str:
    own = sweep.members[index]
    return f"rate {own['lr']:g}, decay {own['weight_decay']:g}"


def _details(sweep: Sweep, table: Table) -> dict[str, Any]:
    """The setting that was chosen, and the validation losses and test scores of everything that was trained."""
    scores = {
        f"{_setting(sweep, index)}, seed {sweep.members[index]['seed']}": [
            sweep.result(index)["best_loss"],
            _score(sweep, index, table),
        ]
        for index in sweep.done()
    }
    return {"chosen": _setting(sweep, best_seed(sweep)), f"{table.validated} and {table.short}": scores}


def judge(found: Evidence, table: Table) -> list[Claim]:
    """Returns the claims: every row reaches its target, and is better than the published score where there is one."""
    made = []
    for case in table.cases:
        bound = f"at {'most' if table.is_error else 'least'} {case.target:g}"
        claim = f"The gnODE's mean {table.short} is {bound} {_at(case)}."
        made.append(found.decide(claim, partial(_reaches, found, table, case)))
        if case.published is not None:
            side = "below" if table.is_error else "above"
            claim = (
                f"That is {side} the published {case.published[0]:g} by more than two standard errors ({case.where})."
            )
            made.append(found.decide(claim, partial(_beats, found, table, case)))
    return [claim for claim in made if claim.verdict != verdicts.OPEN]


def _at(case: Case) -> str:
    return f"at {case.where}" if case.where.startswith("N = ") else f"with {case.where}"


def _reaches(found: Evidence, table: Table, case: Case) -> Decided:
    mean = found.group(table.number_name(case)).mean
    return verdicts.plainly(mean <= case.target if table.is_error else mean >= case.target), {"mean": mean}


def _beats(found: Evidence, table: Table, case: Case) -> Decided:
    assert case.published is not None
    ours, published = found.group(table.number_name(case)), Group.published(*case.published)
    verdict = (verdicts.lower if table.is_error else verdicts.higher)(ours, published)
    clear = verdicts.FAILS if verdict == verdicts.TIE else verdict  # the claim itself speaks of two standard errors
    return clear, {"mean": ours.mean, "standard error": verdicts.difference(published, ours).standard_error}


def artefact_of(table: Table, **facts: Any) -> Artefact:
    """Returns the artefact of a table; `facts` are its name, title, scales, plans and data."""
    return Artefact(
        kind="extension",
        place="beyond the paper",
        analyse=partial(analyse, table=table),
        judge=partial(judge, table=table),
        may_be_partial=True,
        keeps=keeps,
        draw=partial(draw, table=table),
        captions={"a": CAPTION.format(score=table.short)},
        **facts,
    )
