"""Fitting noise: all networks by time constant (Appendix G, figure-s8).

Shows: training MSE by tau of all networks with (A) N = 10, (B) N = 32 and (C) N = 100; nODE and gnODE with one
hidden layer of 1000 units.

Command: gnode reproduce run ou-networks --scale paper
Cost at paper scale: two of fig3's sweeps, 40 to 60 minutes on one H200 (nothing if fig3 was made before); reduced: 6
minutes; smoke: 40 s on two cores.

Published: curves without numbers; gnODEs are consistently more expressive than GRUs at every tau and N.
"""

from collections.abc import Mapping
from typing import Any

from gnode.reproduce import noise, noise_claims, noise_figures
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Evidence


def plans(scale: str) -> list[SweepPlan]:
    return [noise.rnns(scale), noise.nodes(scale, noise.widest(scale))]


def analyse(trained: Trained) -> Outcome:
    found = noise.measured(trained)
    numbers = [noise.number(p) for p in found.select(model=["gru", "gnode"]).points]
    details = {"points": found.rows()}
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), draw(details), details)


def draw(details: Mapping[str, Any]) -> dict[str, Any]:
    points = details[noise_figures.MADE_OF]
    sizes = noise_claims.values(points, "state")
    curves = {f"N = {size}": noise_figures.by_model(points, "tau", state=size) for size in sizes}
    return {"a": noise_figures.figure(noise_figures.panel(title, found, "tau") for title, found in curves.items())}


def judge(found: Evidence) -> list[Claim]:
    claim = "The gnODE is consistently more expressive than the GRU: at every tau and N."
    return [noise_claims.beats_everywhere(found, claim, "gnode", "gru")]


CAPTIONS = {
    "a": "Training error of all networks by time constant, a panel for each N." + noise_figures.SPREAD,
}


ARTEFACT = Artefact(
    name="ou-networks",
    kind="figure",
    title="Fitting noise: all networks by time constant",
    place="Appendix G, figure-s8",
    scales={"smoke": "40 s on two cores", "reduced": "6 min on one H200", "paper": "1 h on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    draw=draw,
    captions=CAPTIONS,
)
