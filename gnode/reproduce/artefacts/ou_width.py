"""Fitting noise with hidden layers of different widths (Appendix G, figure-s7).

Shows: training MSE by N, a line per H and one for the RNN: nODE with one and two hidden layers at (A, B) tau = 1 s
and (C, D) tau = 30 s; (E) gnODE with two hidden layers at tau = 1 s.

Command: gnode reproduce run ou-width --scale paper
Cost at paper scale: fig3's sweeps and as many with two hidden layers, three to four hours on one H200; reduced: 25
minutes; smoke: about two minutes on two cores.

Published: curves without numbers; more units are more expressive; at tau = 1 s nODEs beat RNNs at low N and lose at
high N; at tau = 30 s nODEs with a large H beat RNNs throughout.
"""

from gnode.cells import cell_label
from gnode.expressivity import Expressivity
from gnode.plots import expressivity as pictures
from gnode.reproduce import noise
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained

PANELS = {"a": ("node", 1, 1.0), "b": ("node", 2, 1.0), "c": ("node", 1, 30.0), "d": ("node", 2, 30.0)}
PANELS |= {"e": ("gnode", 2, 1.0)}


def plans(scale: str) -> list[SweepPlan]:
    deep = [noise.nodes(scale, hidden, layers) for layers in (1, 2) for hidden in noise.HIDDEN[scale]]
    return [noise.rnns(scale), *deep]


def analyse(trained: Trained) -> Outcome:
    found = noise.measured(trained)
    claims, figures = [], {}
    for panel, (model, layers, tau) in PANELS.items():
        curves = {
            f"H = {hidden}": found.curve("state", model=model, layers=layers, tau=tau, hidden=hidden)
            for hidden in noise.HIDDEN[trained.scale]
        }
        curves["rnn"] = found.curve("state", model="rnn", tau=tau)
        name = f"{cell_label(model)}, {layers} hidden, tau = {tau:g} s"
        figures[panel] = pictures.error_curves(curves, "state", title=name)
        claim = f"The most hidden units are more expressive than the fewest ({name})."
        claims.append(noise.wider_is_better(claim, found, [model], layers=layers, tau=tau))
    sizes, wide = noise.STATES[trained.scale], noise.widest(trained.scale)
    claims += [
        against_rnn(found, f"At tau = 1 s and N = {sizes[0]} the nODE beats the RNN.", [sizes[0]], 1.0, wide, True),
        against_rnn(found, f"At tau = 1 s and N = {sizes[-1]} the RNN beats the nODE.", [sizes[-1]], 1.0, wide, False),
        against_rnn(found, "At tau = 30 s a wide nODE beats the RNN at every N.", sizes, 30.0, wide, True),
    ]
    numbers = [noise.number(point) for point in found.select(hidden=wide, tau=[1.0, 30.0]).points]
    return Outcome(numbers, claims, figures, {"points": found.rows()})


def against_rnn(found: Expressivity, claim: str, sizes: list[int], tau: float, hidden: int, node_wins: bool) -> Claim:
    """Decides whether the nODE (if `node_wins`) or the RNN has the lower error at each N of `sizes`; one hidden layer."""
    errors = {}
    for state in sizes:
        pair = [
            found.select(model=model, state=state, tau=tau, hidden=hidden, layers=1).points[0].mean
            for model in ("node", "rnn")
        ]
        errors[f"N = {state}, nODE and RNN"] = pair
    return Claim(claim, all((node < rnn) == node_wins for node, rnn in errors.values()), errors)


ARTEFACT = Artefact(
    name="ou-width",
    kind="figure",
    title="Fitting noise: the width of the hidden layers",
    place="Appendix G, figure-s7",
    scales={"smoke": "2 min on two cores", "reduced": "25 min on one H200", "paper": "4 h on one H200"},
    plans=plans,
    analyse=analyse,
)
