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

from gnode.reproduce import flip_flop, selection
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained

TASKS = ("square", "rectangle", "annulus")
ABOUT_A_TENTH = (0.03, 0.3)
"""The range that counts as about 0.1: half a decade on either side."""


def plans(scale: str) -> list[SweepPlan]:
    return [flip_flop.two_bit(task, scale, flip_flop.MODELS if task == "square" else None) for task in TASKS]


def analyse(trained: Trained) -> Outcome:
    numbers, smaller, norms, components = [], {}, {}, {}
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
            smaller[task] = all(one.drift_is_smaller for one in gating)
            norms[f"{task}, |-h + F| and |G| of each network"] = [
                value for one in gating for value in (float(one.drift_norm), float(one.gate_norm))
            ]
            components[task] = [float(value) for one in gating for value in one.components]
    every = [value for values in components.values() for value in values]
    low, high = ABOUT_A_TENTH
    tenth = f"Each component of the gate is about 0.1 ({low:g} to {high:g})."
    return Outcome(
        numbers,
        [
            Claim(
                "On the attractor |-h + F| is nearer to 0 than |G|, in every network.",
                all(smaller.values()) if len(smaller) == len(TASKS) else None,
                norms,
            ),
            Claim(
                tenth,
                all(low <= value <= high for value in every) if len(components) == len(TASKS) else None,
                {task: [min(values), max(values)] for task, values in components.items()},
            ),
        ],
    )


ARTEFACT = Artefact(
    name="gate-and-residual",
    kind="claim",
    title="Gate and residual on the attractor",
    place='Appendix F.7, "How are Continuous Attractors Generated in these tasks?"',
    scales={"smoke": "1 min on two cores", "paper": "15 min on one H200"},
    plans=plans,
    analyse=analyse,
)
