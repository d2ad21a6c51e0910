"""Beyond the paper: are well-trained gnODEs with N = 2 continuous attractors by the definition of Appendix C?

Shows: of the networks of `true-attractors` (new trials in every update, clipping, averaged weights), by task and over seeds:
what the definition asks of the set S of slow states, and how long memories last on it. Its items, to gnode's tolerances: (1)
S is a connected manifold; (2) f = 0 on S (the paper's own bound on a fixed point, |dh/dt| < 0.01 per second); (3) the
spectral abscissa is 0 on S. A memory is the output at the end of a validation trial; it lasts until the output has moved by
0.1. The same items of networks that are trained as published are claims of `fig2` and `ring`.

Command: gnode reproduce run continuous-attractor --scale paper
Cost at paper scale: 5 minutes on one core after `gnode reproduce restore true-attractors`, which brings back the trained
networks; smoke: a minute on two cores.

Published: nothing in numbers; the gnODE "learns a continuous attractor in the shape of a square".
"""

from functools import partial
from typing import Any

import numpy as np

from gnode import analysis
from gnode.reproduce import flip_flop, selection, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Number, Outcome, SweepPlan, Trained
from gnode.reproduce.artefacts import true_attractors
from gnode.reproduce.evidence import Decided, Evidence
from gnode.train import Run

TASKS = ("square", "rectangle", "annulus", "ring")
KEPT = tuple(f"attractor-{task}" for task in TASKS) + ("attractor-rectangle-float32",)
"""The sweeps whose weights are kept."""
ITEMS = {"1": "connected", "2": "f = 0", "3": "abscissa 0"}
MEMORIES, TOLERANCE, HORIZON = 40, 0.1, 60.0


def plans(scale: str) -> list[SweepPlan]:
    return [plan for plan in true_attractors.plans(scale) if plan.name in KEPT]


def measure(run: Run, horizon: float) -> dict[str, Any]:
    """Measures the set of slow states of a network, and how long its memories last."""
    slow = flip_flop.slow_set(run)
    ends = np.asarray(run.states[:MEMORIES, -1], np.float64)
    memory = analysis.memory_lifetime(run.net, ends, dt=run.dt, tolerance=TOLERANCE, horizon=horizon)
    found: dict[str, Any] = {"memory": float(np.median(np.minimum(memory.lifetimes, horizon)))}
    if slow is None:
        return found | dict.fromkeys(ITEMS, False)
    items = {check.item: check for check in slow.definition}
    abscissas = np.abs(slow.stability.abscissa)
    return found | {
        **{item: items[item].holds for item in ITEMS},
        "parts": items["1"].measured["connected_parts"],
        "in the largest part": items["1"].measured["share_in_largest_part"],
        "largest speed": items["2"].measured["largest"],
        "median speed": items["2"].measured["median"],
        "largest abscissa": float(abscissas.max()),
        "median abscissa": float(np.median(abscissas)),
    }


LISTED = {
    "in the largest part": "share of S in its largest part",
    "median speed": "median |dh/dt| on S (1/s)",
    "largest speed": "largest |dh/dt| on S (1/s)",
    "median abscissa": "median |abscissa| on S (1/s)",
    "largest abscissa": "largest |abscissa| on S (1/s)",
    "memory": f"memory time (s, at most {HORIZON:g})",
}
"""What is listed of every task, with its name on the page."""


def analyse(trained: Trained) -> Outcome:
    horizon = 2.0 if trained.is_smoke else HORIZON
    chosen, found = true_attractors.rows(trained), {}
    for task in TASKS:
        if task in chosen:
            row = chosen[task]["gnode"]
            found[task] = [measure(trained[row.sweep].load(member), horizon) for member in row.members]
    numbers: list[Number] = []
    for task, seeds in found.items():
        for key, name in LISTED.items():
            values = [one[key] for one in seeds if key in one]
            numbers.append(selection.mean_over_seeds(f"{task}: {name}", values))
    details = {"measured": found}
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), details=details)


def judge(found: Evidence) -> list[Claim]:
    measured = found.detail("measured")
    return [found.decide(claim_of(task), partial(_is_attractor, measured[task])) for task in TASKS if task in measured]


def claim_of(task: str) -> str:
    """Returns the claim on a task in words."""
    return f"With most seeds the {task} is a continuous attractor: all items of Appendix C hold."


def _is_attractor(seeds: list[dict[str, Any]]) -> Decided:
    each = [verdicts.plainly(all(one[item] for item in ITEMS)) for one in seeds]
    counts = {f"{name}, seeds": sum(one[item] for one in seeds) for item, name in ITEMS.items()}
    memory = float(np.median([one["memory"] for one in seeds]))
    return verdicts.most_of(each), counts | {"of": len(seeds), "memory time (s, median over seeds)": memory}


ARTEFACT = Artefact(
    name="continuous-attractor",
    kind="extension",
    title="Continuous attractors by the definition",
    place="beyond the paper, by the definition of Appendix C",
    scales={"smoke": "1 min on two cores", "paper": "5 min on one core with the kept weights"},
    plans=plans,
    analyse=analyse,
    judge=judge,
)
