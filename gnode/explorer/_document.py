"""The document: what the page knows of a network, as JSON. Its types are in explorer/src/math/document.ts."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnode.analysis import FixedPoints
from gnode.cells import Cell
from gnode.explorer._functions import exported
from gnode.explorer._packing import packed, packed_weights
from gnode.network import Network
from gnode.programs import words_of
from gnode.solve import Solver

MOST_NUMBERS = 120_000
"""Of the visited states, and of the trials: 640 kB of text each."""
MOST_TRAJECTORIES = 40
MOST_TRIALS = 20
MOST_POINTS = 400
"""Of a continuum: the points of it that are sent along. Isolated points are sent all."""
MOST_SLOW = 500
WITHOUT_CONTROL = (
    "Changes of the input move the state of this network, which the page leaves out; this is the live state."
)


@dataclasses.dataclass(frozen=True)
class Subject:
    """What is shown of a network beside its functions.

    - `source`: the network or the cell.
    - `name`: its name on the page.
    - `dt`, `solver`: the bin in seconds and the integrator of the map.
    - `states`: visited states, trials x time x state.
    - `trials`: inputs, targets and outputs, each trials x time x channels, and the number of bins of each trial.
    - `x`: the constant input at which fixed points were searched.
    - `notes`: sentences about what the page cannot do with it, beside those about its functions.
    - `share`: of the usual number of trajectories, trials and points, what this one is sent with.
    - `trained`: whether it was trained, for the words of the page.
    - `label`, `equation`: the kind of cell and its equation, if they are not those of the registry.
    """

    source: Network | Cell
    name: str
    dt: float
    solver: Solver
    states: np.ndarray | None = None
    trials: dict[str, np.ndarray] | None = None
    x: np.ndarray | None = None
    input_names: Sequence[str] = ()
    output_names: Sequence[str] = ()
    classes: Sequence[str] | None = None
    epoch: int | None = None
    notes: Sequence[str] = ()
    share: float = 1.0
    trained: bool = True
    label: str | None = None
    equation: str | None = None

    @property
    def cell(self) -> Cell:
        return self.source.cell if isinstance(self.source, Network) else self.source

    @property
    def words(self) -> tuple[str, str]:
        """The name of the kind of cell, and its equation in a line."""
        label, equation = words_of(self.cell)
        return self.label or label, self.equation or equation


def network_document(
    subject: Subject, points: FixedPoints | None = None, slow: np.ndarray | None = None
) -> dict[str, Any]:
    """Returns the part of a document about one network, with the fixed points and slow states that are known."""
    cell, source = subject.cell, subject.source
    functions = exported(source, subject.solver)
    outputs = source.outputs if isinstance(source, Network) else cell.state_size
    tau = np.asarray(cell.time_constant, np.float64)
    trials = None if cell.has("control") else subject.trials
    document = {
        "name": subject.name,
        "label": subject.words[0],
        "equation": subject.words[1],
        "units": cell.units,
        "state_size": cell.state_size,
        "inputs": cell.inputs,
        "outputs": outputs,
        "tau": (np.resize(tau, cell.state_size) if tau.ndim else tau).tolist(),
        "dt": subject.dt,
        "method": subject.solver.method,
        "substeps": subject.solver.substeps,
        "input_names": list(subject.input_names) or _numbered("input", cell.inputs),
        "output_names": list(subject.output_names) or _numbered("output", outputs),
        "classes": None if subject.classes is None else list(subject.classes),
        "weights": packed_weights(functions.arrays),
        "programs": functions.programs,
        "notes": [*functions.notes, *subject.notes],
        "epoch": subject.epoch,
        "trained": subject.trained,
        "x": None if subject.x is None else np.asarray(subject.x, np.float64).tolist(),
        "states": None if subject.states is None else packed(thinned(subject.states, subject.share)),
        "trials": None if trials is None else _trials(trials, subject.dt, subject.share),
        "points": None if points is None else _points(points, subject.share),
        "slow": None
        if slow is None or len(slow) == 0
        else packed(_even(np.asarray(slow), round(MOST_SLOW * subject.share))),
    }
    return document if trials is subject.trials else document | {"without_trials": WITHOUT_CONTROL}


def thinned(states: np.ndarray, share: float = 1.0) -> np.ndarray:
    """Returns some trajectories, and of long ones every second, third ... state, so that they are at most `MOST_NUMBERS`."""
    trials, bins, size = states.shape
    most = int(MOST_NUMBERS * share)
    count = max(1, min(trials, round(MOST_TRAJECTORIES * share), max(8, most // (bins * size))))
    stride = max(1, -(-count * bins * size // most))
    return states[:count, ::stride]


def _trials(trials: dict[str, np.ndarray], dt: float, share: float) -> dict[str, Any]:
    lengths = trials["lengths"]
    bins = int(lengths.max())
    width = sum(trials[name].shape[2] for name in ("inputs", "targets", "outputs"))
    most = int(MOST_NUMBERS * share)
    count = max(1, min(len(lengths), round(MOST_TRIALS * share), max(3, most // (bins * width))))
    bins = min(bins, max(2, most // (count * width)))
    parts = {name: packed(trials[name][:count, :bins]) for name in ("inputs", "targets", "outputs")}
    return parts | {"lengths": np.minimum(lengths[:count], bins).tolist(), "dt": dt}


def _points(found: FixedPoints, share: float) -> list[dict[str, Any]]:
    exact = found.select(status="equilibrium")
    continuum = exact[np.flatnonzero(exact.on_continuum)]
    most = round(MOST_POINTS * share)
    if len(continuum) > most:
        continuum = continuum.sample(most)
    isolated = exact[np.flatnonzero(~exact.on_continuum)]
    return [
        {"h": h.tolist(), "kind": str(kind), "status": "equilibrium", "residual": float(residual)}
        for part in (isolated, continuum)
        for h, kind, residual in zip(part.points, part.stability.flow_class, part.residual)
    ]


def _even(rows: np.ndarray, most: int) -> np.ndarray:
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).round().astype(int)]


def _numbered(name: str, count: int) -> list[str]:
    return [f"{name} {place + 1}" for place in range(count)]
