"""Fitting noise at several model time constants (Appendix G, figure-s6).

Shows: training MSE by N, a line per tau, of (A) RNN, (B) mGRU, (C) GRU and (D) nODE with one hidden layer of 316
units.

Command: gnode reproduce run ou-tau --scale paper
Cost at paper scale: two of fig3's sweeps, 30 to 40 minutes on one H200 (nothing if fig3 was made before); reduced: 6
minutes; smoke: 40 s on two cores.

Published: curves without numbers; for all networks errors are generally lower the nearer tau is to tau_OU = 1 s.
"""

from gnode.cells import cell_label
from gnode.plots import expressivity as pictures
from gnode.reproduce import noise, noise_claims
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Evidence

PANELS = {"rnn": "a", "mgru": "b", "gru": "c", "node": "d"}


def plans(scale: str) -> list[SweepPlan]:
    return [noise.rnns(scale), noise.nodes(scale, noise.middling(scale))]


def analyse(trained: Trained) -> Outcome:
    found = noise.measured(trained)
    figures = {}
    for model, panel in PANELS.items():
        curves = {tau: found.curve("state", model=model, tau=tau) for tau in found.values("tau")}
        figures[panel] = pictures.error_curves(curves, "state", r"$\tau$ = {:g} s", cell_label(model))
    numbers = [noise.number(p) for p in found.select(state=noise.STATES[trained.scale][-1]).points if p.model in PANELS]
    details = {"points": found.rows()}
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), figures, details)


def judge(found: Evidence) -> list[Claim]:
    claim = "Errors of the {} are generally lower the nearer tau is to tau_OU, at every N."
    return [noise_claims.nearer_is_lower(found, claim.format(cell_label(model)), model) for model in PANELS]


ARTEFACT = Artefact(
    name="ou-tau",
    kind="figure",
    title="Fitting noise: the network's time constant",
    place="Appendix G, figure-s6",
    scales={"smoke": "40 s on two cores", "reduced": "6 min on one H200", "paper": "40 min on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
)
