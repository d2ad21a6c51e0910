"""Critical curves by depth (Appendix A, fig:critical-depth).

Shows: the weight scale sigma_w at which the fixed point of a random tanh network loses stability, against the bias
scale sigma_b, for several depths L (Kaiming scaling). Nothing is trained.

Command: gnode reproduce run critical-depth --scale paper
Cost: seconds to a minute on a CPU.

Published: curves without numbers; on one side of each the network is chaotic, on the other stable. Without biases
the zero fixed point decides, rho_0^2 = sigma_w^(2L) phi'(0)^(2(L-1)), so every curve starts at sigma_w = 1.
"""

import numpy as np

from gnode import theory
from gnode.plots.theory import critical_curves
from gnode.reproduce.artefact import Artefact, Claim, Number, Outcome, Trained
from gnode.reproduce.evidence import Evidence

DEPTHS = (2, 3, 4, 5, 6)


def analyse(trained: Trained) -> Outcome:
    biases = 2.0 * np.linspace(0.0, 1.0, 6 if trained.is_smoke else 41) ** 2
    curve = theory.critical_curve(DEPTHS, biases.tolist())
    starts = {f"L = {depth}": float(row[0]) for depth, row in zip(curve.depths, curve.sigma_w)}
    middle = len(biases) // 2
    falls = np.all(np.diff(curve.sigma_w[:, middle]) < 0)
    details = {
        "depths": list(curve.depths),
        "sigma_b": curve.sigma_b.round(9).tolist(),
        "sigma_w": curve.sigma_w.round(9).tolist(),
        "deeper networks are critical at a smaller sigma_w": bool(falls),
    }
    return Outcome(
        numbers=[Number(f"sigma_w* without biases, {name}", value, "1") for name, value in starts.items()],
        figures={"a": critical_curves(curve)},
        details=details,
    )


def judge(found: Evidence) -> list[Claim]:
    """Makes no claim: the curves are our own formula, and the paper says nothing of them that could be measured."""
    return []


CAPTIONS = {
    "a": "Critical weight scale by bias scale, a line for each depth L, dark for shallow and light for deep: networks "
    "are chaotic above their line and stable below it.",
}


ARTEFACT = Artefact(
    name="critical-depth",
    kind="figure",
    title="Critical curves by depth",
    place="Appendix A, fig:critical-depth",
    scales={"smoke": "10 s on two cores", "paper": "1 min on a CPU"},
    analyse=analyse,
    judge=judge,
    captions=CAPTIONS,
)
