"""Fitting noise at several model time constants (Appendix G, figure-s6).

Shows: training MSE by N, a line per tau, of (A) RNN, (B) mGRU, (C) GRU and (D) nODE with one hidden layer of 316
units.

Command: gnode reproduce run ou-tau --scale paper
Cost at paper scale: two of fig3's sweeps, 30 to 40 minutes on one H200 (nothing if fig3 was made before); reduced: 6
minutes; smoke: 40 s on two cores.

Published: curves without numbers; for all networks errors are generally lower the nearer tau is to tau_OU = 1 s.
"""

from collections.abc import Mapping
from typing import Any

from gnode.cells import cell_label
from gnode.reproduce import noise, noise_claims, noise_figures
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Evidence

SHOWN = ("rnn", "mgru", "gru", "node")


def plans(scale: str) -> list[SweepPlan]:
    return [noise.rnns(scale), noise.nodes(scale, noise.middling(scale))]


def analyse(trained: Trained) -> Outcome:
    found = noise.measured(trained)
    numbers = [noise.number(p) for p in found.select(state=noise.STATES[trained.scale][-1]).points if p.model in SHOWN]
    details = {"points": found.rows()}
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), draw(details), details)


def draw(details: Mapping[str, Any]) -> dict[str, Any]:
    points = details[noise_figures.MADE_OF]
    curves = {model: noise_figures.by_value(points, "tau", "τ = {:g} s", "state", model=model) for model in SHOWN}
    return {
        "a": noise_figures.figure(noise_figures.panel(cell_label(m), found, "state") for m, found in curves.items())
    }


def judge(found: Evidence) -> list[Claim]:
    claim = "Errors of the {} are generally lower the nearer tau is to tau_OU, at every N."
    return [noise_claims.nearer_is_lower(found, claim.format(cell_label(model)), model) for model in SHOWN]


CAPTIONS = {
    "a": "Training error by N, a line for each time constant: (A) RNN, (B) mGRU, (C) GRU, (D) nODE."
    + noise_figures.SPREAD,
}


ARTEFACT = Artefact(
    name="ou-tau",
    kind="figure",
    title="Fitting noise: the network's time constant",
    place="Appendix G, figure-s6",
    scales={"smoke": "40 s on two cores", "reduced": "6 min on one H200", "paper": "40 min on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    draw=draw,
    captions=CAPTIONS,
)
