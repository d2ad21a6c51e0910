"""Claim: filling missing samples by natural cubic splines helps (Walker2D, section "Walker2D Kinematic
Simulation Prediction").

Shows: the test error on Walker2D of networks whose missing samples are filled by natural cubic splines, held at the last
value, or left out, so that every sample is as long as the time since the one before it. The networks, with at most 40,000
parameters each, are those of `relatives`, which trains them with equal search.

Command: gnode reproduce run filling --scale paper
Cost at paper scale: 12 sweeps of `relatives`, which have not been run yet; --only makes a part of them; reduced: an hour
and a half on two cores; smoke: half a minute on two cores.

Published: "While Lechner & Hasani (2020) and Xia et al. (2021) did not choose to interpolate missing data with natural cubic
splines, doing so helps with performances of the networks". Their lowest error is 0.883.
"""

from collections.abc import Mapping
from typing import Any

from gnode.cells import CELLS
from gnode.plots.seed_rows import Row, RowPanel, seed_rows
from gnode.reproduce import relatives, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.artefacts.relatives import name_of, plan_of
from gnode.reproduce.evidence import Decided, Evidence
from gnode.reproduce.relatives import label_of
from gnode.reproduce.selection import mean_over_seeds
from gnode.reproduce.verdicts import Group

KINDS = ("mgru", "gru", "node", "gnode")
SPLINE = "walker2d-spline"
OTHERS = {"walker2d-hold": "holding the last value", "walker2d-raw": "leaving them out"}
LABELS = {SPLINE: "splines", "walker2d-hold": "held", "walker2d-raw": "left out"}


def plans(scale: str) -> list[SweepPlan]:
    kinds = ("gnode",) if scale == "smoke" else KINDS
    return [plan_of(data, kind, scale) for data in LABELS for kind in kinds]


def analyse(trained: Trained) -> Outcome:
    numbers, scores = [], {}
    for data, how in LABELS.items():
        for kind in KINDS:
            for sweep in trained.available(name_of(data, kind)):
                values = relatives.scores_of(sweep, relatives.DATA[data])
                numbers.append(mean_over_seeds(_number(data, kind), values))
                scores.setdefault(label_of(kind), {})[how] = list(values)
    details = {"scores": scores}
    return Outcome(numbers, judge(Evidence.fresh(numbers)), draw(details), details)


def draw(details: Mapping[str, Any]) -> dict[str, Any]:
    colours = {label_of(kind): CELLS[relatives.KINDS[kind].model].colour for kind in KINDS}
    panels = [
        RowPanel(name, [Row(how, values, colours[name]) for how, values in own.items()], "Test MSE")
        for name, own in details["scores"].items()
    ]
    return {"a": seed_rows(panels)} if panels else {}


def _number(data: str, kind: str) -> str:
    return f"{label_of(kind)}, missing samples {LABELS[data]}: test MSE"


def judge(found: Evidence) -> list[Claim]:
    def helps(other: str) -> Decided:
        groups: dict[str, tuple[Group, Group]] = {
            kind: (found.group(_number(SPLINE, kind)), found.group(_number(other, kind)))
            for kind in KINDS
            if {_number(SPLINE, kind), _number(other, kind)} <= set(found.numbers)
        }
        compared = [verdicts.lower(spline, held) for spline, held in groups.values()]
        measured = {
            f"{label_of(kind)}, {LABELS[data]}": group.mean
            for kind, pair in groups.items()
            for data, group in zip((SPLINE, other), pair)
        }
        return verdicts.most_of(compared), measured | verdicts.tally(compared)

    return [
        found.decide(
            f"Filling missing samples by natural splines generally gives lower errors than {how} (Walker2D).",
            lambda other=other: helps(other),
        )
        for other, how in OTHERS.items()
    ]


CAPTIONS = {
    "a": "Test errors on Walker2D by how missing samples are filled, a panel for each network, in its colour; all "
    "panels have one scale. Points are seeds, bars their medians.",
}


ARTEFACT = Artefact(
    name="filling",
    kind="claim",
    title="Missing samples filled by splines, held, or left out",
    place='Section "Walker2D Kinematic Simulation Prediction"',
    scales={"smoke": "30 s on two cores", "reduced": "1.5 h on two cores", "paper": "not run yet"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    data=("walker2d",),
    may_be_partial=True,
    draw=draw,
    captions=CAPTIONS,
)
