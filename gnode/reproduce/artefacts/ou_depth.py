"""Fitting noise with one or two hidden layers (Appendix G, figure-s9).

Shows: training MSE by N with one and with two hidden layers of 1000 units, of (A-D) nODE and (E-H) gnODE at tau = 1,
3, 10 and 100 s.

Command: gnode reproduce run ou-depth --scale paper
Cost at paper scale: one of fig3's sweeps and one with two hidden layers, two hours on one H200; reduced (H = 316): 8
minutes; smoke: 40 s on two cores.

Published: curves without numbers; a second hidden layer does not significantly increase expressivity.
"""

import itertools
from collections.abc import Mapping
from typing import Any

from gnode.cells import cell_label
from gnode.reproduce import noise, noise_claims, noise_figures, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Decided, Evidence

TAUS = (1.0, 3.0, 10.0, 100.0)


def plans(scale: str) -> list[SweepPlan]:
    return [noise.nodes(scale, noise.widest(scale), layers) for layers in (1, 2)]


def analyse(trained: Trained) -> Outcome:
    found = noise.measured(trained)
    numbers = [noise.number(point) for point in found.select(tau=1.0).points]
    details = {"points": found.rows()}
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), draw(details), details)


def draw(details: Mapping[str, Any]) -> dict[str, Any]:
    points, panels = details[noise_figures.MADE_OF], []
    taus = [tau for tau in noise_claims.values(points, "tau") if tau in TAUS]
    for model, tau in itertools.product(noise.NODES, taus):
        curves = noise_figures.by_value(points, "layers", "{} hidden", "state", model=model, tau=tau)
        panels.append(noise_figures.panel(f"{cell_label(model)}, τ = {tau:g} s", curves, "state"))
    return {"a": noise_figures.figure(panels)}


def judge(found: Evidence) -> list[Claim]:
    return [deeper(found, model) for model in noise.NODES]


def deeper(found: Evidence, model: str) -> Claim:
    """Decides whether a second layer improves the error, by two standard errors, at no more than half of the points."""

    def rule() -> Decided:
        points = noise_claims.select(found.detail("points"), model=model)
        compared = [
            verdicts.lower(
                *(noise_claims.group(points, layers=n, state=state, tau=tau) for n in (2, 1)),
                negligible=verdicts.NEGLIGIBLE,
            )
            for tau in TAUS
            for state in noise_claims.values(points, "state")
            if tau in noise_claims.values(points, "tau")
        ]
        better = compared.count(verdicts.HOLDS)
        measured = {"networks that it improves": better, "that it makes worse": compared.count(verdicts.FAILS)}
        return verdicts.plainly(2 * better <= len(compared)), measured | {"of": len(compared)}

    claim = f"A second hidden layer does not significantly increase the expressivity of {cell_label(model)}."
    return found.decide(claim, rule)


CAPTIONS = {
    "a": "Training error by N with one and with two hidden layers, a panel for each network and time constant."
    + noise_figures.SPREAD,
}


ARTEFACT = Artefact(
    name="ou-depth",
    kind="figure",
    title="Fitting noise: one or two hidden layers",
    place="Appendix G, figure-s9",
    scales={"smoke": "40 s on two cores", "reduced": "8 min on one H200", "paper": "2 h on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    draw=draw,
    captions=CAPTIONS,
)
