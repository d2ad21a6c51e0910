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
from gnode.reproduce.artefact import Artefact, Claim, Number, Outcome, Trained

SIGMAS = 3.0
"""The number of standard errors by which a measured capacity may differ from the expected one."""
MEDIAN_TO_MEAN = 1.2533
"""The standard error of a median relative to that of a mean for a normal distribution: sqrt(pi / 2)."""


def analyse(trained: Trained) -> Outcome:
    units, rows = ((10, 20), 20) if trained.is_smoke else ((10, 20, 40, 80, 160), 100)
    found = theory.capacity_experiment(units, rows)
    loads = [found.half_load(index) for index in range(len(units))]
    expected = [2 * (size - 1) / size for size in units]
    spread = [MEDIAN_TO_MEAN * longest.std() / np.sqrt(rows) / size for longest, size in zip(found.longest, units)]
    largest = abs(loads[-1] - expected[-1]) <= SIGMAS * spread[-1]
    limit = theory.gardner_capacity()
    return Outcome(
        numbers=[
            *(
                Number(f"N = {size}: T / N that half of the rows store (Cover's count: {exact:.3g})", load)
                for size, load, exact in zip(units, loads, expected)
            ),
            Number("Gardner's limit T / N", limit, "2"),
        ],
        claims=[
            Claim("Gardner's calculation gives T = 2N.", limit == 2.0, {"T / N": limit}),
            Claim(
                "For large N stored sequences have T = 2N: T / N is nearer to 2 at the largest N than at the smallest, and "
                "within 3 standard errors of 2 (N - 1) / N.",
                largest and abs(2 - loads[-1]) < abs(2 - loads[0]),
                {f"N = {size}": load for size, load in zip(units, loads)},
            ),
        ],
        figures={"a": capacity_curve(found)},
        details={"rows": rows, "standard errors": [float(value) for value in spread], "status": found.status},
    )


ARTEFACT = Artefact(
    name="capacity",
    kind="claim",
    title="Storage capacity T = 2N",
    place="Appendix D",
    scales={"smoke": "5 s on two cores", "paper": "3 min on a CPU"},
    analyse=analyse,
)
