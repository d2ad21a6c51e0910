"""Claim: a perceptron network of N units stores random sequences of up to T = 2N transitions (Appendix D).

Shows: how long a random sequence linear programming can store in a row of the network, for several N, beside Cover's
exact count and Gardner's limit. Nothing is trained.

Command: gnode reproduce run capacity --scale paper
Cost: a minute or two on a CPU; smoke: a few seconds.

Published: alpha_c = T / N = 2.
"""

import numpy as np

from gnode import theory
from gnode.plots.theory import capacity_curve
from gnode.reproduce import verdicts
from gnode.reproduce.artefact import Artefact, Claim, Number, Outcome, Trained
from gnode.reproduce.evidence import Decided, Evidence

SIGMAS = 3.0
"""The number of standard errors by which a measured capacity may differ from the expected one."""
MEDIAN_TO_MEAN = 1.2533
"""The standard error of a median relative to that of a mean for a normal distribution: sqrt(pi / 2)."""


def analyse(trained: Trained) -> Outcome:
    units, rows = ((10, 20), 20) if trained.is_smoke else ((10, 20, 40, 80, 160), 100)
    found = theory.capacity_experiment(units, rows)
    loads = [found.half_load(index) for index in range(len(units))]
    expected = [expected_load(size) for size in units]
    spread = [MEDIAN_TO_MEAN * longest.std() / np.sqrt(rows) / size for longest, size in zip(found.longest, units)]
    numbers = [
        *(
            Number(f"N = {size}: T / N that half of the rows store (Cover's count: {exact:.3g})", load)
            for size, load, exact in zip(units, loads, expected)
        ),
        Number("Gardner's limit T / N", theory.gardner_capacity(), "2"),
    ]
    details = {
        "rows": rows,
        "standard errors": [float(value) for value in spread],
        "status": found.status,
        "loads": {f"N = {size}": load for size, load in zip(units, loads)},
    }
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), {"a": capacity_curve(found)}, details)


CLAIM = (
    "For large N stored sequences have T = 2N: T / N is nearer to 2 at the largest N than at the smallest, and within "
    "3 standard errors of 2 (N - 1) / N."
)


def judge(found: Evidence) -> list[Claim]:
    def rule() -> Decided:
        measured, errors = found.detail("loads", was=CLAIM), found.detail("standard errors")
        loads, size = list(measured.values()), int(list(measured)[-1].removeprefix("N = "))
        near = abs(loads[-1] - expected_load(size)) <= SIGMAS * errors[-1]
        return verdicts.plainly(near and abs(2 - loads[-1]) < abs(2 - loads[0])), measured

    return [found.decide(CLAIM, rule)]


def expected_load(size: int) -> float:
    """Returns T / N that half of the rows store by Cover's count."""
    return 2 * (size - 1) / size


CAPTIONS = {
    "a": "The share of rows that store a random sequence of T transitions: points are measured, lines are Cover's "
    "exact count for patterns in general position, from dark (N = 10) to light (N = 160); the dashed line is Gardner's "
    "limit. The points of N = 10 lie far below their line, since sequences of so few signs repeat and contradict "
    "themselves, so they are not in general position.",
}


ARTEFACT = Artefact(
    name="capacity",
    kind="claim",
    title="Storage capacity T = 2N",
    place="Appendix D",
    scales={"smoke": "5 s on two cores", "paper": "3 min on a CPU"},
    analyse=analyse,
    judge=judge,
    captions=CAPTIONS,
)
