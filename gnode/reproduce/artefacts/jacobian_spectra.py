"""Jacobian spectra of random networks with and without gating (Appendix B, figure-X).

Shows: eigenvalues of the Jacobian at the steady state of mGRU, gnODE (L_h = 3) and LEM, drawn with sigma_w = 1.5,
without gating (sigma_z = 0, top row) and with it (sigma_z = 5, bottom row). Nothing is trained.

Command: gnode reproduce run jacobian-spectra --scale paper
Cost at paper scale: N = 1000 run for 1000 s, three draws, a few minutes on a CPU; smoke: N = 100, about 20 s.

Published: pictures without numbers; gating pinches every spectrum towards 0, and without gating LEM is nearest to
criticality.
"""

from typing import Any

import numpy as np

from gnode.analysis import NEAR_ZERO, steady_spectrum
from gnode.plots.theory import spectra_grid
from gnode.reproduce import selection, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, Trained
from gnode.reproduce.evidence import Decided, Evidence, means
from gnode.reproduce.flip_flop import name_of

MODELS, GATES, SIGMA_W = ("mgru", "gnode", "lem"), (0.0, 5.0), 1.5


def analyse(trained: Trained) -> Outcome:
    size: dict[str, Any] = (
        {"state": 100, "duration": 200.0} if trained.is_smoke else {"state": 1000, "duration": 1000.0}
    )
    seeds = (0,) if trained.is_smoke else (0, 1, 2)
    found = {
        (model, gate): [steady_spectrum(model, sigma_w=SIGMA_W, sigma_z=gate, seed=seed, **size) for seed in seeds]
        for gate in GATES
        for model in MODELS
    }
    pinched = {key: [one.pinching() for one in spectra] for key, spectra in found.items()}
    off = {key: [float(abs(np.real(one.flow_eigenvalues).max())) for one in spectra] for key, spectra in found.items()}
    numbers = []
    for model, gate in found:
        numbers.append(selection.mean_over_seeds(pinched_name(model, gate), pinched[model, gate]))
        numbers.append(selection.mean_over_seeds(abscissa_name(model, gate), off[model, gate]))
    return Outcome(
        numbers=numbers,
        claims=judge(Evidence.fresh(numbers)),
        figures={"a": spectra_grid([spectra[0] for spectra in found.values()])},
        details={f"{model}, sigma_z = {gate:g}": spectra[0].status for (model, gate), spectra in found.items()},
    )


def pinched_name(model: str, gate: float) -> str:
    return f"{name_of(model)}, sigma_z = {gate:g}: share of modes with |lambda| tau < {NEAR_ZERO:g}"


def abscissa_name(model: str, gate: float) -> str:
    return f"{name_of(model)}, sigma_z = {gate:g}: |spectral abscissa| (1/s)"


def judge(found: Evidence) -> list[Claim]:
    def pinches() -> Decided:
        pairs = {name_of(m): [found.group(pinched_name(m, gate)) for gate in GATES] for m in MODELS}
        verdict = verdicts.all_of(verdicts.lower(without, with_gate) for without, with_gate in pairs.values())
        return verdict, {f"{name}, without and with": [one.mean for one in pair] for name, pair in pairs.items()}

    def nearest() -> Decided:
        groups = {name_of(m): found.group(abscissa_name(m, 0.0)) for m in MODELS}
        compared = [verdicts.lower(groups["LEM"], groups[name]) for name in ("mGRU", "gnODE")]
        return verdicts.all_of(compared), means(groups)

    return [
        found.decide("Gating pinches the spectrum of each network: more modes near 0.", pinches),
        found.decide(
            "Without gating LEM is nearer to criticality than mGRU and gnODE (|abscissa| of the flow).", nearest
        ),
    ]


CAPTIONS = {
    "a": "Eigenvalues of the Jacobian at the steady state of one random network each, in the colours of the networks: "
    "without gating (sigma_z = 0, above) and with it (sigma_z = 5, below). All panels have one scale. Dashed circles "
    "are the edges that mean-field theory predicts, which knows those without gating; right of the grey line at 0 a "
    "mode grows.",
}


ARTEFACT = Artefact(
    name="jacobian-spectra",
    kind="figure",
    title="Jacobian spectra with and without gating",
    place="Appendix B, figure-X",
    scales={"smoke": "20 s on two cores", "paper": "5 min on a CPU"},
    analyse=analyse,
    judge=judge,
    captions=CAPTIONS,
)
