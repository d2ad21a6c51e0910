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

DEPTHS = (2, 3, 4, 5, 6)
PROBE = 0.05
"""The distance from a curve, as a fraction of sigma_w, at which stability is tested on each side."""


def analyse(trained: Trained) -> Outcome:
    biases = 2.0 * np.linspace(0.0, 1.0, 6 if trained.is_smoke else 41) ** 2
    curve = theory.critical_curve(DEPTHS, biases.tolist())
    starts = {f"L = {depth}": float(row[0]) for depth, row in zip(curve.depths, curve.sigma_w)}
    middle = len(biases) // 2
    sides = []
    for depth, row in zip(curve.depths, curve.sigma_w):
        for share, unstable in ((1 - PROBE, False), (1 + PROBE, True)):
            stack = theory.RandomStack(depth, float(share * row[middle]), "tanh", sigma_b=float(biases[middle]))
            sides.append((theory.fixed_point(stack).radius > 1) == unstable)
    rise = float(np.diff(curve.sigma_w, axis=1).min())
    falls = np.all(np.diff(curve.sigma_w[:, middle]) < 0)
    return Outcome(
        numbers=[Number(f"sigma_w* without biases, {name}", value, "1") for name, value in starts.items()],
        claims=[
            Claim(
                "Without biases the zero fixed point decides: sigma_w* = 1 at every depth.",
                bool(np.allclose(list(starts.values()), 1, rtol=1e-9)),
                dict(starts),
            ),
            Claim(
                "One side of each curve is chaotic and the other stable.",
                all(sides),
                {"probes on the expected side": sum(sides), "probes": len(sides)},
            ),
            Claim("Biases stabilise: every curve rises with sigma_b.", rise > 0, {"smallest step": rise}),
        ],
        figures={"a": critical_curves(curve)},
        details={
            "depths": list(curve.depths),
            "sigma_b": curve.sigma_b.round(9).tolist(),
            "sigma_w": curve.sigma_w.round(9).tolist(),
            "deeper networks are critical at a smaller sigma_w": bool(falls),
        },
    )


ARTEFACT = Artefact(
    name="critical-depth",
    kind="figure",
    title="Critical curves by depth",
    place="Appendix A, fig:critical-depth",
    scales={"smoke": "10 s on two cores", "paper": "1 min on a CPU"},
    analyse=analyse,
)
