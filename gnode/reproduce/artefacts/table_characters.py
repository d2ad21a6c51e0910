"""Table of letters: CharacterTrajectories with 30, 50 and 70% of the bins missing (Appendix H.2).

Shows: test accuracy of all networks; LEM by forward-backward Euler as in the paper and by forward Euler. Missing
values are filled by a natural spline, which uses later samples. N = 32; the setting is chosen on the 30% data and
kept, as in the paper.

Command: gnode reproduce run table-characters --scale paper
Cost at paper scale: 3 x 243 networks of 1300 epochs, a day on one H200; reduced (2 settings, 60 epochs): about 25
minutes; smoke: two minutes on two cores.

Published, 30 / 50 / 70% dropped: mGRU 0.987, 0.987, 0.983; GRU 0.990, 0.990, 0.987; LSTM 0.990, 0.990, 0.990; LEM
0.990, 0.991, 0.987; nODE 0.924, 0.807, 0.898; gnODE 0.987, 0.987, 0.986.
"""

from functools import partial

from gnode.reproduce import real_data, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Decided, Evidence, means
from gnode.reproduce.real_data import EULER, MODELS

PUBLISHED = {
    "mgru": ((0.987, 0.005), (0.987, 0.001), (0.983, 0.002)),
    "gru": ((0.990, 0.001), (0.990, 0.004), (0.987, 0.003)),
    "lstm": ((0.990, 0.002), (0.990, 0.004), (0.990, 0.002)),
    "lem": ((0.990, 0.004), (0.991, 0.004), (0.987, 0.001)),
    "node": ((0.924, 0.095), (0.807, 0.247), (0.898, 0.089)),
    "gnode": ((0.987, 0.002), (0.987, 0.004), (0.986, 0.003)),
}


def plans(scale: str) -> list[SweepPlan]:
    return [plan for dropped in real_data.DROPPED for plan in real_data.characters(dropped, scale)]


def analyse(trained: Trained) -> Outcome:
    numbers = []
    for model in (*MODELS, EULER):
        for dropped, values in real_data.letters(trained, model).items():
            theirs = PUBLISHED[model][real_data.DROPPED.index(dropped)] if model in PUBLISHED else None
            numbers.append(real_data.number(_name(model, dropped), values, theirs))
    return Outcome(numbers, judge(Evidence.fresh(numbers)))


def judge(found: Evidence) -> list[Claim]:
    return [
        found.decide(
            f"With {dropped:.0%} dropped every gated network beats the nODE.",
            partial(_gated_are_better, found, dropped),
        )
        for dropped in real_data.DROPPED
    ]


def _gated_are_better(found: Evidence, dropped: float) -> Decided:
    names = {real_data.model_name(model): _name(model, dropped) for model in (*MODELS, EULER)}
    groups = {name: found.group(number) for name, number in names.items() if number in found.numbers}
    if len(groups) < 2 or "nODE" not in groups:
        return verdicts.OPEN, means(groups)
    compared = [verdicts.higher(one, groups["nODE"]) for name, one in groups.items() if name != "nODE"]
    return verdicts.all_of(compared), means(groups)


def _name(model: str, dropped: float) -> str:
    return f"{real_data.model_name(model)}, {dropped:.0%} dropped: test accuracy"


ARTEFACT = Artefact(
    name="table-characters",
    kind="table",
    title="Letters from pen trajectories with missing bins",
    place="Appendix H.2, ct-table_appendix",
    scales={"smoke": "2 min on two cores", "reduced": "25 min on one H200", "paper": "a day on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    data=("characters",),
    may_be_partial=True,
)
