"""Claim: the residual -h + F and the gate G on the attractor (Appendix F.7, "How are Continuous Attractors Generated in
these tasks?").

Shows: on the slow states of the best two-dimensional gnODEs, the components of the gate G and the norms of G and of
-h + F.

Command: gnode reproduce run gate-and-residual --scale paper
Cost at paper scale: fig2's sweeps (15 minutes on one H200, nothing if they are trained); smoke: a minute on two
cores.

Published: |-h + F| is generally nearer to 0 than |G|; each component of the gate is about 0.1.
"""

import numpy as np

from gnode.reproduce import flip_flop, selection, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Decided, Evidence

TASKS = ("square", "rectangle", "annulus")
ABOUT_A_TENTH = (0.03, 0.3)
"""The range that counts as about 0.1: half a decade on either side."""


def plans(scale: str) -> list[SweepPlan]:
    return [flip_flop.two_bit(task, scale, flip_flop.MODELS if task == "square" else None) for task in TASKS]


def analyse(trained: Trained) -> Outcome:
    numbers, norms, components = [], {}, {}
    for task in TASKS:
        sweep = trained[f"two-bit-{task}"]
        runs = [sweep.load(member) for member in selection.best_by_seed(sweep, model="gnode").values()]
        gating = [slow.gating for slow in map(flip_flop.slow_set, runs) if slow is not None and slow.gating is not None]
        numbers += [
            selection.mean_over_seeds(f"{task}: median |G|", [one.gate_norm for one in gating]),
            selection.mean_over_seeds(
                f"{task}: median |-h + F|", [one.drift_norm for one in gating], "nearer to 0 than |G|"
            ),
            selection.mean_over_seeds(
                f"{task}: median component of G", [np.median(g.components) for g in gating], "about 0.1"
            ),
        ]
        if gating:
            norms[f"{task}, |-h + F| and |G| of each network"] = [
                value for one in gating for value in (float(one.drift_norm), float(one.gate_norm))
            ]
            every = [float(value) for one in gating for value in one.components]
            components[task] = [min(every), max(every)]
    details = {"norms": norms, "components": components} if len(components) == len(TASKS) else {}
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), details=details)


SMALLER = "On the attractor |-h + F| is generally nearer to 0 than |G|."
SMALLER_WAS = "On the attractor |-h + F| is nearer to 0 than |G|, in every network."
TENTH = "Each component of the gate is about 0.1 ({:g} to {:g}).".format(*ABOUT_A_TENTH)


def judge(found: Evidence) -> list[Claim]:
    def smaller() -> Decided:
        norms = found.detail("norms", was=SMALLER_WAS)
        pairs = [pair for values in norms.values() for pair in zip(values[::2], values[1::2])]
        compared = [verdicts.plainly(residual < gate) for residual, gate in pairs]
        return verdicts.most_of(compared), verdicts.tally(compared) | norms

    def tenth() -> Decided:
        spans = found.detail("components", was=TENTH)
        low, high = ABOUT_A_TENTH
        return verdicts.plainly(all(low <= value <= high for span in spans.values() for value in span)), spans

    return [found.decide(SMALLER, smaller, SMALLER_WAS), found.decide(TENTH, tenth)]


ARTEFACT = Artefact(
    name="gate-and-residual",
    kind="claim",
    title="Gate and residual on the attractor",
    place='Appendix F.7, "How are Continuous Attractors Generated in these tasks?"',
    scales={"smoke": "1 min on two cores", "paper": "15 min on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
)
