"""Table of critical initialisation: the gnODE on letters and on Walker2D (Appendix H.5).

Shows: test accuracy on CharacterTrajectories (30, 50 and 70% dropped, N = 32) and test MSE on Walker2D (the N with
the lowest validation loss) of gnODEs initialised critically (C, tanh after the last layer) or not (NC, Glorot
normal, linear last layer). At paper scale settings are tried in shorter runs, and H is fixed at 316, where the
paper searches H. Its Walker2D networks are those of table1, trained before a hash of the training code was stored, by
more than one version of it.

Command: gnode reproduce run table-critical --scale paper
Cost at paper scale: sweeps of table1 and table-characters, hours on one H200; reduced: about 40 minutes (nothing if
those were made before); smoke: two minutes on two cores.

Published: NC 0.984, 0.981, 0.986, Walker2D 0.552; C 0.987, 0.987, 0.986, Walker2D 0.588.
"""

import numpy as np

from gnode.reproduce import real_data, selection, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Decided, Evidence, means
from gnode.reproduce.real_data import CRITICAL, DROPPED, EULER, SIZES

PUBLISHED = {
    "": ((0.984, 0.005), (0.981, 0.003), (0.986, 0.003)),
    CRITICAL: ((0.987, 0.002), (0.987, 0.004), (0.986, 0.005)),
}
WALKER = {"": (0.552, 0.019), CRITICAL: (0.588, 0.003)}
LABELS = {"": "not critical", CRITICAL: "critical"}


def plans(scale: str) -> list[SweepPlan]:
    sizes = SIZES[:1] if scale == "smoke" else SIZES
    made = [plan for dropped in DROPPED for plan in real_data.characters(dropped, scale)]
    made += [plan for size in sizes for plan in real_data.walker2d(size, scale)]
    return [plan for plan in made if not plan.name.endswith(EULER)]


def analyse(trained: Trained) -> Outcome:
    numbers = []
    for way, label in LABELS.items():
        for dropped, values in real_data.letters(trained, "gnode", ways=(way,)).items():
            text = letters_name(label, dropped)
            numbers.append(real_data.number(text, values, PUBLISHED[way][DROPPED.index(dropped)]))
        sweeps = trained.available(*(f"walker2d-n{size}" + (f"-{way}" if way else "") for size in SIZES))
        best = selection.best_setting(sweeps, model="gnode")
        if best is not None:
            values = np.array([entry["loss"] for entry in best["scores"]])
            numbers.append(real_data.number(walker_name(label), values, WALKER[way]))
    return Outcome(numbers, judge(Evidence.fresh(numbers)))


def letters_name(label: str, dropped: float) -> str:
    return f"gnODE, {label}, {dropped:.0%} dropped: test accuracy"


def walker_name(label: str) -> str:
    return f"gnODE, {label}: Walker2D test MSE"


def judge(found: Evidence) -> list[Claim]:
    def letters() -> Decided:
        pairs = {
            dropped: [found.group(letters_name(label, dropped)) for label in ("critical", "not critical")]
            for dropped in DROPPED
        }
        worse = [verdicts.lower(critical, other) for critical, other in pairs.values()]
        as_good = [verdicts.FAILS if one == verdicts.HOLDS else verdicts.HOLDS for one in worse]
        is_open = verdicts.OPEN in worse
        measured = {f"{d:.0%}, critical and not": [one.mean for one in pair] for d, pair in pairs.items()}
        return verdicts.OPEN if is_open else verdicts.all_of(as_good), measured

    def walker() -> Decided:
        groups = {label: found.group(walker_name(label)) for label in LABELS.values()}
        return verdicts.higher(groups["critical"], groups["not critical"]), means(groups)

    return [
        found.decide("On letters critical initialisation is at least as good at every share dropped.", letters),
        found.decide("On Walker2D it is not: the error is higher than without.", walker),
    ]


ARTEFACT = Artefact(
    name="table-critical",
    kind="table",
    title="Critical initialisation of the gnODE on letters and Walker2D",
    place="Appendix H.5, crit_table_appendix",
    scales={"smoke": "2 min on two cores", "reduced": "40 min on one H200", "paper": "days on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    data=("characters", "walker2d"),
    may_be_partial=True,
)
