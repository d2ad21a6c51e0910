"""Table 2: classifying spoken words at other model time constants (tables-tau).

Shows: test accuracy on Speech Commands (version 1 here, 2 in the paper) at tau = 0.062 and 0.621 s, which are 10 and
100 bins, with 0.006 s (1 bin) beside them; N = 100.

Command: gnode reproduce run table-tau --scale paper
Cost at paper scale: table1's networks with N = 100, 90 more trial runs of 40 epochs and 50 networks of 300, a few
hours on one H200; reduced (3 settings, 40 epochs): about 15 minutes; smoke: a minute on two cores.

Published: tau = 0.006 s (Table 1): mGRU 0.809, GRU 0.819, LEM 0.794, nODE 0.140, gnODE 0.823; tau = 0.062 s: mGRU
0.796, GRU 0.809, LEM 0.785, nODE 0.246, gnODE 0.790; tau = 0.621 s: mGRU 0.733, GRU 0.743, LEM 0.713, nODE 0.725,
gnODE 0.762.
"""

from itertools import pairwise

import numpy as np

from gnode.reproduce import real_data, selection, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, Trained
from gnode.reproduce.artefacts.table1 import SPEECH
from gnode.reproduce.evidence import Decided, Evidence
from gnode.reproduce.real_data import SIZES
from gnode.reproduce.verdicts import Group
from gnode.tasks.datasets.speech import STEP

PUBLISHED: dict[str, dict[int, tuple[float, float]]] = {
    "mgru": {10: (0.796, 0.002), 100: (0.733, 0.005)},
    "gru": {10: (0.809, 0.006), 100: (0.743, 0.008)},
    "lem": {10: (0.785, 0.005), 100: (0.713, 0.003)},
    "node": {10: (0.246, 0.050), 100: (0.725, 0.009)},
    "gnode": {10: (0.790, 0.018), 100: (0.762, 0.005)},
}


def published(model: str, bins: int) -> tuple[float, float]:
    """Returns the published accuracy at a time constant of `bins` bins; that at 1 bin is in Table 1."""
    return SPEECH[model][SIZES.index(100)] if bins == 1 else PUBLISHED[model][bins]


def analyse(trained: Trained) -> Outcome:
    longer = trained["speech-tau"]
    sources = {1: (trained["speech-n100"], {})}
    sources |= {bins: (longer, {"tau": STEP * bins}) for bins in real_data.LONGER}
    numbers = []
    for bins, (sweep, where) in sources.items():
        for model in dict.fromkeys(own["model"] for own in longer.members):
            best = selection.best_setting([sweep], model=model, **where)
            assert best is not None
            values = np.array([entry["accuracy"] for entry in best["scores"]])
            numbers.append(real_data.number(_name(model, bins), values, published(model, bins)))
    return Outcome(numbers, judge(Evidence.fresh(numbers)))


def _name(model: str, bins: int) -> str:
    return f"{real_data.model_name(model)}, tau = {STEP * bins:.3f} s: test accuracy"


def judge(found: Evidence) -> list[Claim]:
    taus = (1, *real_data.LONGER)
    models = [model for model in PUBLISHED if _name(model, 1) in found.numbers]

    def groups(model: str) -> list[Group]:
        return [found.group(_name(model, bins)) for bins in taus]

    def rises() -> Decided:
        node = groups("node")
        shown = {f"tau = {STEP * bins:.3f} s": one.mean for bins, one in zip(taus, node)}
        return verdicts.all_of(verdicts.lower(*pair) for pair in pairwise(node)), shown

    def robust() -> Decided:
        spread = {model: _spread(groups(model)) for model in models}
        compared = [verdicts.lower(one, spread["node"]) for model, one in spread.items() if model != "node"]
        return verdicts.all_of(compared), {real_data.model_name(model): one.mean for model, one in spread.items()}

    last = {real_data.model_name(model): _name(model, taus[-1]) for model in models}
    return [
        found.decide("A longer tau improves the nODE: its accuracy rises with tau.", rises),
        found.decide("Gated networks are more robust to tau: their accuracy changes less than the nODE's.", robust),
        real_data.best_is(
            found, "At tau = 0.621 s the gnODE is the best.", last, "gnODE", is_error=False, among=models
        ),
    ]


def _spread(groups: list[Group]) -> Group:
    """Returns the highest mean minus the lowest."""
    ordered = sorted(groups, key=lambda one: one.mean)
    return verdicts.difference(ordered[-1], ordered[0])


ARTEFACT = Artefact(
    name="table-tau",
    kind="table",
    title="Spoken words by the network's time constant",
    place="Table 2 (tables-tau)",
    scales={"smoke": "1 min on two cores", "reduced": "15 min on one H200", "paper": "10 h on one H200"},
    plans=real_data.speech_by_tau,
    analyse=analyse,
    judge=judge,
    data=("speech-v1",),
)
