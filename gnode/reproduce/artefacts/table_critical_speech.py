"""Table 3: classifying spoken words with and without critical initialisation (tables-crit).

Shows: test accuracy on Speech Commands (version 1 here, 2 in the paper) of nODE and gnODE with N = 100 at tau =
0.006 s, initialised critically (tanh after the last layer) or by Glorot normal (linear last layer).

Command: gnode reproduce run table-critical-speech --scale paper
Cost at paper scale: part of table1's speech half, a few hours on one H200; reduced: about 10 minutes; smoke: a
minute.

Published: nODE 0.140 critical, 0.110 not; gnODE 0.815 critical, 0.795 not.
"""

from functools import partial

from gnode.reproduce import real_data, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Decided, Evidence, means

PUBLISHED = {
    "node": {real_data.CRITICAL: (0.140, 0.012), "": (0.110, 0.010)},
    "gnode": {real_data.CRITICAL: (0.815, 0.004), "": (0.795, 0.005)},
}
NAME, SIZE = "speech-n100", 100


def plans(scale: str) -> list[SweepPlan]:
    return [plan for plan in real_data.speech_commands(SIZE, scale) if not plan.name.endswith(real_data.EULER)]


def analyse(trained: Trained) -> Outcome:
    numbers = []
    for model, published in PUBLISHED.items():
        for way, theirs in published.items():
            values, _ = real_data.score(trained, NAME, model, "accuracy", ways=(way,))
            numbers.append(real_data.number(_name(model, way), values, theirs))
    return Outcome(numbers, judge(Evidence.fresh(numbers)))


def _name(model: str, way: str) -> str:
    return f"{real_data.model_name(model)}, {'critical' if way else 'not critical'}: test accuracy"


def judge(found: Evidence) -> list[Claim]:
    def improves(model: str) -> Decided:
        groups = {
            "critical": found.group(_name(model, real_data.CRITICAL)),
            "not critical": found.group(_name(model, "")),
        }
        return verdicts.higher(groups["critical"], groups["not critical"]), means(groups)

    return [
        found.decide(f"Critical initialisation improves the {real_data.model_name(m)}.", partial(improves, m))
        for m in PUBLISHED
    ]


ARTEFACT = Artefact(
    name="table-critical-speech",
    kind="table",
    title="Spoken words with and without critical initialisation",
    place="Table 3 (tables-crit)",
    scales={"smoke": "1 min on two cores", "reduced": "10 min on one H200", "paper": "10 h on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    data=("speech-v1",),
)
