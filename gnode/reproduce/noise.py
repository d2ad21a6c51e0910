"""Shared by the artefacts that fit an Ornstein-Uhlenbeck process: their sweeps, and the measured errors."""

from gnode.cells import cell_label
from gnode.expressivity import LEARNING_RATES, SEARCHED, WEIGHT_DECAYS, Expressivity, Point
from gnode.reproduce.artefact import Number, SweepPlan, Trained

RNNS, NODES = ["rnn", "mgru", "gru"], ["node", "gnode"]
STATES = {"smoke": [6, 16], "reduced": [10, 32, 100], "paper": [10, 32, 100, 316]}
TAUS = {"smoke": [1.0, 3.0, 30.0], "reduced": [1.0, 3.0, 10.0, 30.0, 100.0], "paper": [1.0, 3.0, 10.0, 30.0, 100.0]}
HIDDEN = {"smoke": [8, 32], "reduced": [32, 100, 316], "paper": [32, 100, 316, 1000]}
"""The numbers H of units per hidden layer. The paper lists only some of them; the steps are half decades, as elsewhere."""

SEEDS = [0, 1, 2, 3, 4]
FIT = {
    "smoke": {"lr": [1e-2], "weight_decay": [1e-3], "seed": [0, 1], "epochs": 60, "bins": 30, "channels": 8},
    "reduced": {"lr": [1e-3, 1e-2], "weight_decay": [1e-3], "seed": [0, 1, 2], "epochs": 1000},
    "paper": {"lr": list(LEARNING_RATES), "weight_decay": list(WEIGHT_DECAYS), "seed": SEEDS, "epochs": 2000},
}
SEARCH = {"smoke": (), "reduced": (), "paper": SEARCHED}
"""The settings that are chosen with one seed before the best is repeated with five (Appendix G)."""


def rnns(scale: str) -> SweepPlan:
    """Returns the sweep of RNN, mGRU and GRU over N and tau."""
    own = {"model": RNNS, "state": STATES[scale], "tau": TAUS[scale]}
    return SweepPlan("ou-rnns", "ou", own | FIT[scale], SEARCH[scale])


def nodes(scale: str, hidden: int, layers: int = 1) -> SweepPlan:
    """Returns the sweep of nODE and gnODE over N and tau, with `layers` hidden layers of `hidden` units."""
    own = {"model": NODES, "state": STATES[scale], "tau": TAUS[scale], "widths": (hidden,) * layers}
    return SweepPlan(nodes_name(hidden, layers), "ou", own | FIT[scale], SEARCH[scale])


def nodes_name(hidden: int, layers: int = 1) -> str:
    """Returns the name of the sweep that `nodes` returns."""
    return f"ou-h{hidden}-l{layers}"


def widest(scale: str) -> int:
    """Returns the largest H at a scale."""
    return HIDDEN[scale][-1]


def middling(scale: str) -> int:
    """Returns the H of Figure 3A, the second largest at a scale."""
    return HIDDEN[scale][-2]


def measured(trained: Trained) -> Expressivity:
    """Returns the measured errors of all sweeps of an artefact together."""
    parts = [Expressivity.of(sweep) for sweep in trained.sweeps.values()]
    return Expressivity(tuple(point for part in parts for point in part.points), parts[0].seeds, parts[0].epochs)


def number(point: Point, published: str | None = None) -> Number:
    """Returns the error of one network as a `Number`."""
    layers = f", {point.layers} x {point.hidden}" if point.layers else ""
    name = f"{cell_label(point.model)}, N = {point.state}{layers}, tau = {point.tau:g} s: minimum training MSE"
    return Number(name, point.mean, published, point.std, len(point.errors))
