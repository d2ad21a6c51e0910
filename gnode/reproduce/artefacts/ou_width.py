"""Fitting noise with hidden layers of different widths (Appendix G, figure-s7).

Shows: training MSE by N, a line per H and one for the RNN: nODE with one and two hidden layers at (A, B) tau = 1 s
and (C, D) tau = 30 s; (E) gnODE with two hidden layers at tau = 1 s.

Command: gnode reproduce run ou-width --scale paper
Cost at paper scale: fig3's sweeps and as many with two hidden layers, three to four hours on one H200; reduced: 25
minutes; smoke: about two minutes on two cores.

Published: curves without numbers; more units are more expressive; at tau = 1 s nODEs beat RNNs at low N and lose at
high N; at tau = 30 s nODEs with a large H beat RNNs throughout.
"""

from collections.abc import Mapping
from typing import Any

from gnode.cells import cell_label
from gnode.reproduce import noise, noise_claims, noise_figures, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Decided, Evidence

PANELS = {"a": ("node", 1, 1.0), "b": ("node", 2, 1.0), "c": ("node", 1, 30.0), "d": ("node", 2, 30.0)}
PANELS |= {"e": ("gnode", 2, 1.0)}


def plans(scale: str) -> list[SweepPlan]:
    deep = [noise.nodes(scale, hidden, layers) for layers in (1, 2) for hidden in noise.HIDDEN[scale]]
    return [noise.rnns(scale), *deep]


def analyse(trained: Trained) -> Outcome:
    found = noise.measured(trained)
    wide = noise.widest(trained.scale)
    numbers = [noise.number(point) for point in found.select(hidden=wide, tau=[1.0, 30.0]).points]
    details = {"points": found.rows()}
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), draw(details), details)


def draw(details: Mapping[str, Any]) -> dict[str, Any]:
    points, panels = details[noise_figures.MADE_OF], []
    for name, (model, layers, tau) in PANELS.items():
        fixed = {"model": model, "layers": layers, "tau": tau}
        curves = noise_figures.by_value(points, "hidden", "H = {}", "state", **fixed)
        curves["rnn"] = noise_figures.curve(points, "state", model="rnn", tau=tau)
        panels.append(noise_figures.panel(name_of(name).replace("tau", "τ"), curves, "state"))
    return {"a": noise_figures.figure(panels)}


def name_of(panel: str) -> str:
    model, layers, tau = PANELS[panel]
    return f"{cell_label(model)}, {layers} hidden, tau = {tau:g} s"


def judge(found: Evidence) -> list[Claim]:
    points = found.detail("points")
    sizes, wide = noise_claims.values(points, "state"), noise_claims.values(points, "hidden")[-1]
    claims = [
        noise_claims.wider_is_better(
            found,
            f"More hidden units are generally more expressive ({name_of(panel)}).",
            model,
            layers=layers,
            tau=tau,
        )
        for panel, (model, layers, tau) in PANELS.items()
    ]
    low, high = sizes[0], sizes[-1]
    return [
        *claims,
        against_rnn(found, f"At tau = 1 s and N = {low} the nODE beats the RNN.", [low], 1.0, wide, True),
        against_rnn(found, f"At tau = 1 s and N = {high} the RNN beats the nODE.", [high], 1.0, wide, False),
        against_rnn(found, "At tau = 30 s a wide nODE beats the RNN at every N.", sizes, 30.0, wide, True),
    ]


def against_rnn(found: Evidence, claim: str, sizes: list[int], tau: float, hidden: int, node_wins: bool) -> Claim:
    """Decides whether the nODE (if `node_wins`) or the RNN has the lower error at each N of `sizes`; one hidden layer."""

    def rule() -> Decided:
        points, compared, shown = noise_claims.select(found.detail("points"), tau=tau), [], {}
        for state in sizes:
            node = noise_claims.group(points, model="node", state=state, hidden=hidden, layers=1)
            rnn = noise_claims.group(points, model="rnn", state=state)
            compared.append(
                verdicts.lower(*((node, rnn) if node_wins else (rnn, node)), negligible=verdicts.NEGLIGIBLE)
            )
            shown[f"N = {state}, nODE and RNN"] = [node.mean, rnn.mean]
        return verdicts.all_of(compared), shown

    return found.decide(claim, rule)


CAPTIONS = {
    "a": "Training error by N, a line for each width of the hidden layers, beside the RNN's." + noise_figures.SPREAD,
}


ARTEFACT = Artefact(
    name="ou-width",
    kind="figure",
    title="Fitting noise: the width of the hidden layers",
    place="Appendix G, figure-s7",
    scales={"smoke": "2 min on two cores", "reduced": "25 min on one H200", "paper": "4 h on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    draw=draw,
    captions=CAPTIONS,
)
