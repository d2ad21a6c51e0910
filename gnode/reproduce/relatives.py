"""Shared by the artefact `relatives`: its networks with their sizes, its data, and what is measured of each network.

No network has more than `BUDGET` parameters. Its size is the largest that stays within it: of the hidden layers where a
network has such layers, else of N. `sized` finds it, and `SIZES` holds what it found. Where N is given (flip-flops, noise),
networks without hidden layers have that N and so fewer parameters, or a smaller N where that one would need more.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gnode import analysis
from gnode.cells import cell_label
from gnode.models import build
from gnode.reproduce.selection import trained_members
from gnode.sweeps import Sweep
from gnode.tasks.datasets import speech
from gnode.train import Run
from gnode.types import count_parameters

BUDGET = 40_000
"""The largest number of parameters of a network."""

RAW_BINS = 64
"""The samples of a window of Walker2D, which lie in 84 bins."""


class Kind(NamedTuple):
    """A network of the comparison: its cell, the cell's options, and its size: N, or the width of one or two layers."""

    model: str
    size: str
    options: Mapping[str, Any] = MappingProxyType({})


KINDS: dict[str, Kind] = {
    "rnn": Kind("rnn", "state"),
    "mgru": Kind("mgru", "state"),
    "gru": Kind("gru", "state"),
    "lstm": Kind("lstm", "state"),
    "lem": Kind("lem", "state"),
    "node": Kind("node", "two"),
    "gnode": Kind("gnode", "two"),
    "anode": Kind("node", "two", {"augment": 8}),
    "gru-ode": Kind("gru_ode", "state", {"minimal": False}),
    "gru-ode-bayes": Kind("gru_ode_bayes", "state"),
    "ode-lstm": Kind("ode_lstm", "state", {"widths": (64,)}),
    "cornn": Kind("cornn", "state"),
    "unicornn": Kind("unicornn", "state", {"layers": 3}),
    "hbnode": Kind("hbnode", "two"),
    "ghbnode": Kind("ghbnode", "two"),
    "ncde": Kind("ncde", "two"),
    "gated-ncde": Kind("gated_ncde", "two"),
    "nsde": Kind("nsde", "two"),
    "gated-nsde": Kind("gated_nsde", "two"),
    "ltc": Kind("ltc", "state"),
    "cfc": Kind("cfc", "one"),
    "lmu": Kind("lmu", "state"),
    "gated-lmu": Kind("lmu", "state", {"gating": "input"}),
    "s4d": Kind("s4d", "state"),
    "gated-s4d": Kind("s4d", "state", {"gating": "input"}),
    "lru": Kind("lru", "state"),
    "gated-lru": Kind("lru", "state", {"gating": "input"}),
}
"""All networks by the names that sweeps and tables use."""

PAIRS: dict[str, tuple[str, str]] = {
    "plain networks": ("rnn", "mgru"),
    "neural ODEs": ("node", "gnode"),
    "neural CDEs": ("ncde", "gated-ncde"),
    "neural SDEs": ("nsde", "gated-nsde"),
    "Legendre memories": ("lmu", "gated-lmu"),
    "diagonal state spaces": ("s4d", "gated-s4d"),
    "linear recurrent units": ("lru", "gated-lru"),
}
"""The classes of networks that the paper expects to be better with a gate: without one, and with one."""

HIDDEN = 32
"""N of networks with hidden layers, except where the data give N."""


class Data(NamedTuple):
    """What networks are compared on: a task with options, its numbers of inputs and outputs, and what differs from the rest.

    - `state`: N, where the comparison is at a given N.
    - `gaps`: whether bins are missing, so that GRU-ODE-Bayes gets a mask.
    - `path`: how a neural CDE connects the samples.
    - `step`: the length of a bin in seconds.
    - `score`: what is measured.
    """

    task: str
    inputs: int
    outputs: int
    options: dict[str, Any]
    state: int | None = None
    gaps: bool = False
    path: str = "hold"
    step: float = 1.0
    score: str = "test MSE"

    @property
    def more_is_better(self) -> bool:
        return "accuracy" in self.score


ACCURACY, VALIDATION = "test accuracy", "validation MSE"
DATA: dict[str, Data] = {
    "walker2d-spline": Data("walker2d", 18, 17, {"fill": "natural"}, gaps=True, path="natural"),
    "walker2d-hold": Data("walker2d", 18, 17, {"fill": "hold"}, gaps=True),
    "walker2d-raw": Data("walker2d", 18, 17, {"gaps": "skipped"}),
    **{
        f"letters-{dropped}": Data(
            "characters", 4, 20, {"dropped": dropped / 100}, gaps=True, path="natural", score=ACCURACY
        )
        for dropped in (30, 50, 70)
    },
    "speech": Data("speech", 20, 10, {}, step=speech.STEP, score=ACCURACY),
    **{
        f"variable-n{state}": Data("flipflop-variable", 3, 3, {"initial": "affine"}, state, step=0.01, score=VALIDATION)
        for state in (3, 6, 100)
    },
    "noise": Data("ou", 30, 30, {}, 100, score=VALIDATION),
}
"""All data by the names that sweeps and tables use."""

COLUMNS = ("walker2d", "letters", "speech", "variable-n3", "variable-n6", "variable-n100", "noise")
"""What the names of data begin with, for which sizes are the same."""

SIZES: dict[str, tuple[int, ...]] = {
    "rnn": (174, 185, 175, 194, 194, 194, 159),
    "mgru": (124, 132, 124, 137, 137, 137, 113),
    "gru": (100, 108, 100, 112, 112, 112, 92),
    "lstm": (84, 93, 84, 96, 96, 96, 76),
    "lem": (84, 93, 84, 96, 96, 96, 76),
    "node": (159, 165, 159, 194, 191, 120, 101),
    "gnode": (155, 162, 154, 194, 191, 95, 68),
    "anode": (152, 159, 152, 186, 183, 116, 97),
    "gru-ode": (100, 108, 100, 112, 112, 112, 92),
    "gru-ode-bayes": (39, 65, 37, 69, 69, 69, 27),
    "ode-lstm": (72, 79, 72, 82, 82, 82, 65),
    "cornn": (124, 132, 124, 137, 137, 137, 113),
    "unicornn": (107, 126, 106, 131, 131, 131, 91),
    "hbnode": (157, 165, 157, 194, 191, 119, 94),
    "ghbnode": (157, 165, 157, 194, 191, 119, 94),
    "ncde": (54, 123, 50, 191, 184, 68, 9),
    "gated-ncde": (52, 120, 48, 191, 184, 51, 5),
    "nsde": (155, 162, 154, 194, 191, 95, 68),
    "gated-nsde": (151, 159, 150, 194, 191, 67, 29),
    "ltc": (87, 94, 86, 97, 97, 97, 79),
    "cfc": (216, 236, 214, 2103, 1174, 77, 63),
    "lmu": (166, 178, 167, 186, 186, 186, 151),
    "gated-lmu": (166, 177, 167, 186, 186, 186, 151),
    "s4d": (47, 87, 44, 94, 94, 94, 32),
    "gated-s4d": (44, 76, 42, 82, 82, 82, 31),
    "lru": (75, 78, 75, 79, 79, 79, 71),
    "gated-lru": (68, 72, 68, 73, 73, 73, 65),
}
"""The size of every network by the columns of data, as `sized` finds it."""


def inputs_of(kind: Kind, data: Data) -> int:
    """Returns the number of inputs: twice as many where the network takes a mask of them."""
    return data.inputs * (2 if takes_mask(kind, data) else 1)


MASKED = "gru_ode_bayes"
"""The cell that gets a mask of its inputs where bins are missing: it was made for that. An ODE-LSTM may have one, but is
compared as its authors trained it, on samples that all count."""


def takes_mask(kind: Kind, data: Data) -> bool:
    """Whether a network gets a mask of its inputs."""
    return data.gaps and kind.model == MASKED


def options_of(kind: Kind, data: Data, size: int) -> dict[str, Any]:
    """Returns the settings of a network of a size: N, but at most that of the data, or the widths of its hidden layers."""
    if kind.size == "state":
        return dict(kind.options) | {"state": size if data.state is None else min(size, data.state)}
    layers = 1 if kind.size == "one" else 2
    return dict(kind.options) | {"state": data.state or HIDDEN, "widths": (size,) * layers}


def parameters(kind: Kind, data: Data, size: int) -> int:
    """Counts the parameters of a network of a size, without drawing it."""
    own: dict[str, Any] = options_of(kind, data, size) | ({"masked": True} if takes_mask(kind, data) else {})
    inputs = inputs_of(kind, data)
    net = eqx.filter_eval_shape(lambda: build(kind.model, inputs, data.outputs, initial="affine", key=0, **own))
    return sum(leaf.size for leaf in jax.tree.leaves(net) if jnp.issubdtype(leaf.dtype, jnp.inexact))


def sized(kind: Kind, data: Data, budget: int = BUDGET) -> int:
    """Finds the largest size with at most `budget` parameters, whatever N is given, by halving."""
    free = data._replace(state=None) if kind.size == "state" else data
    fits, too_large = 1, 4096
    while too_large - fits > 1:
        middle = (fits + too_large) // 2
        fits, too_large = (middle, too_large) if parameters(kind, free, middle) <= budget else (fits, middle)
    return fits


def size_of(kind_name: str, data_name: str) -> int:
    """Returns the size of a network in the table."""
    return SIZES[kind_name][next(place for place, name in enumerate(COLUMNS) if data_name.startswith(name))]


def settings_of(kind_name: str, data_name: str, size: int | None = None) -> dict[str, Any]:
    """Returns the settings of a network on some data: its cell with the size of its budget, and the data's options."""
    kind, data = KINDS[kind_name], DATA[data_name]
    chosen = size_of(kind_name, data_name) if size is None else size
    own = data.options | {"model": kind.model} | options_of(kind, data, chosen)
    if takes_mask(kind, data):
        own |= {"masks": True, "masked": True}
    if kind.model in ("ncde", "gated_ncde"):
        own |= {"interpolation": data.path, "method": "heun"}
    return own


def label_of(kind_name: str) -> str:
    """Returns the name of a network in tables and figures."""
    kind = KINDS[kind_name]
    if kind_name == "anode":
        return "augmented nODE"
    return f"gated {cell_label(kind.model)}" if kind.options.get("gating") else cell_label(kind.model)


class Measured(NamedTuple):
    """What was measured of a network on some data."""

    parameters: int
    scores: list[float]
    setting: dict[str, Any]
    abscissa: float | None
    memory: float | None
    update: float
    """Milliseconds that an update took in the fastest of the trainings, which may have shared the machine."""


STARTS, HORIZON, TOLERANCE = 200, 1000, 0.1
"""States that the search for fixed points begins from; how many bins a state is followed; when an output is off."""


def measure(sweep: Sweep, data: Data, few: bool = False) -> Measured:
    """Measures the chosen setting of a sweep: the scores of its seeds, and the dynamics of its best one."""
    members = trained_members(sweep)
    best = min(members, key=lambda member: sweep.result(member)["best_loss"])
    scores = scores_of(sweep, data)
    run = sweep.load(best)
    setting = {name: sweep.members[best].get(name) for name in sweep.grid.varying() if name != "seed"}
    starts = min(STARTS, 20) if few else STARTS
    points = analysis.fixed_points(run.net, run.states, dt=run.dt, most_starts=starts, key=0).select(
        status="equilibrium"
    )
    abscissas = points.stability.abscissa
    ends = np.asarray(run.states[:, -1], np.float64)[:starts]
    memory = analysis.memory_lifetime(run.net, ends, dt=run.dt, tolerance=TOLERANCE, horizon=HORIZON * run.dt)
    return Measured(
        count_parameters(run.net),
        scores,
        setting,
        float(np.median(abscissas)) if len(abscissas) else None,
        float(np.median(np.minimum(memory.lifetimes, HORIZON * run.dt))),
        1000 * min(_seconds_of_update(sweep.result(member), run) for member in members),
    )


def _seconds_of_update(result: dict[str, Any], run: Run) -> float:
    """Returns how long an update of a member took; all members of a sweep have the trials and batches of `run`."""
    updates = -(-len(run.task.train) // run.settings.batch_size)
    return result["seconds"] / (result["epochs_done"] * updates)


def scores_of(sweep: Sweep, data: Data) -> list[float]:
    """Returns the score of every seed of the chosen setting of a sweep."""
    return [_score(sweep.result(member), data) for member in trained_members(sweep)]


def _score(result: dict[str, Any], data: Data) -> float:
    if data.score == VALIDATION:
        return float(result["best_loss"])
    return float(result["test"]["accuracy" if data.more_is_better else "loss"])
