"""Fitting noise: all networks by time constant (Appendix G, figure-s8).

Shows: training MSE by tau of all networks with (A) N = 10, (B) N = 32 and (C) N = 100; nODE and gnODE with one
hidden layer of 1000 units.

Command: gnode reproduce run ou-networks --scale paper
Cost at paper scale: two of fig3's sweeps, 40 to 60 minutes on one H200 (nothing if fig3 was made before); reduced: 6
minutes; smoke: 40 s on two cores.

Published: curves without numbers; gnODEs are consistently more expressive than GRUs at every tau and N.
"""

from gnode.plots import expressivity as pictures
from gnode.reproduce import noise, noise_claims
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Evidence

PANELS = ("a", "b", "c")


def plans(scale: str) -> list[SweepPlan]:
    return [noise.rnns(scale), noise.nodes(scale, noise.widest(scale))]


def analyse(trained: Trained) -> Outcome:
    found = noise.measured(trained)
    shown = list(zip(PANELS, noise.STATES[trained.scale]))
    figures = {panel: pictures.by_model(found, "tau", f"N = {state}", state=state) for panel, state in shown}
    numbers = [noise.number(p) for p in found.select(model=["gru", "gnode"]).points]
    details = {"points": found.rows()}
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), figures, details)


def judge(found: Evidence) -> list[Claim]:
    claim = "The gnODE is consistently more expressive than the GRU: at every tau and N."
    return [noise_claims.beats_everywhere(found, claim, "gnode", "gru")]


ARTEFACT = Artefact(
    name="ou-networks",
    kind="figure",
    title="Fitting noise: all networks by time constant",
    place="Appendix G, figure-s8",
    scales={"smoke": "40 s on two cores", "reduced": "6 min on one H200", "paper": "1 h on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
)
