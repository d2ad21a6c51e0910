"""The figures of `true-attractors`: errors and memory times of all seeds, and the flows of the best gnODEs."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gnode import analysis, plots
from gnode.analysis import FlowField
from gnode.cells import CELLS
from gnode.plots.letters import numbered
from gnode.plots.seed_rows import Row, RowPanel, seed_rows
from gnode.reproduce import flip_flop
from gnode.reproduce.artefact import Trained
from gnode.reproduce.attractor_measures import HORIZONS, Measured, label_of
from gnode.reproduce.flip_flop import name_of

BIN = 0.01
"""The length of a bin in seconds: the place of memories that are none, on a log axis."""
LIMITS = {"square": 1.6, "rectangle": 2.6, "annulus": 2.6, "ring": 2.6}
"""Half the side of the window of each task's picture."""


QUANTITIES = {"a": ("mse", "Validation MSE"), "b": ("memory", "Memory time (s)")}
"""By figure, what is drawn of every seed."""
CAPTIONS = {
    "a": "Validation errors of every seed; all panels have one scale. Bars are medians, crosses are seeds whose training "
    "diverged (their best weights count), and the dotted line is the target that was set for the gnODE's mean before the "
    "runs.",
    "b": "How long the memories of every seed last (the median over its memories): until an output has moved by more "
    "than 0.1. Most networks have none, since their outputs are off when the trial ends. Simulations end after 600 s "
    "(dashed). All panels have one scale; bars are medians, crosses seeds whose training diverged.",
    "c": "The flow of the best gnODE of each task with N = 2, in output coordinates. Colour is the speed, on one scale "
    "for all panels; points are where states come to rest, dashed lines enclose what the task asks to remember.",
}


def figures(
    trained: Trained, chosen: Mapping[str, Mapping[str, Any]], found: Mapping[str, Mapping[str, list[Measured]]]
) -> dict[str, Any]:
    """Draws (c) the flows of the best gnODEs with N = 2.

    **Arguments:** `trained`; by task and model, `chosen`, the rows of the table, and `found`, what was measured of them.
    """
    flat = [task for task in LIMITS if task in found]
    return {"c": _gallery(trained, {task: chosen[task]["gnode"] for task in flat}, found)} if flat else {}


def draw(details: Mapping[str, Any], targets: Mapping[str, float]) -> dict[str, Any]:
    """Draws (a) validation errors, (b) memory times of all seeds, of the tasks with several networks."""
    measured = {task: own for task, own in details["measured"].items() if len(own) > 1}
    drawn = {}
    for letter, (key, quantity) in QUANTITIES.items() if measured else ():
        bounds = {"longest simulation": HORIZONS[1]} if key == "memory" else {}
        panels = [
            RowPanel(
                label_of(task),
                _rows(own, key, targets[task] if key == "mse" else None),
                quantity,
                bounds=bounds,
                none=BIN if key == "memory" else None,
            )
            for task, own in measured.items()
        ]
        names = {"target": "target for the gnODE's mean"}
        drawn[letter] = seed_rows(panels, columns=3, names=names, letters=numbered(letter.upper(), len(panels)))
    return drawn


def _rows(own: Mapping[str, Any], key: str, target: float | None) -> list[Row]:
    """Returns a row for each network, in the order of all figures."""
    return [
        Row(
            name_of(model),
            [one[key] for one in own[name_of(model)]["seeds"]],
            CELLS[model].colour,
            crossed=[one["status"] == "diverged" for one in own[name_of(model)]["seeds"]],
            target=target if model == "gnode" else None,
        )
        for model in flip_flop.MODELS
        if name_of(model) in own
    ]


def _gallery(trained: Trained, rows: Mapping[str, Any], found: Mapping[str, Mapping[str, list[Measured]]]) -> Any:
    fields: dict[str, FlowField] = {}
    points: dict[str, np.ndarray] = {}
    outlines: dict[str, list[np.ndarray]] = {}
    for task, row in rows.items():
        best = int(np.argmin([one["mse"] for one in found[task]["gnode"]]))
        run = trained[row.sweep].load(row.members[best])
        window = (-LIMITS[task], LIMITS[task])
        fields[task] = analysis.flow_field(run.net, limits=(window, window), resolution=40 if trained.is_smoke else 161)
        slow = flip_flop.slow_set(run)
        if slow is not None:
            points[task] = slow.outputs
        outlines[task] = outline(task)
    return plots.flow_gallery(fields, points, outlines, letters=numbered("C", len(fields)))


def outline(task: str) -> list[np.ndarray]:
    """Returns the boundary of the set of values that a two-bit task asks to remember, as closed curves."""
    if task in ("square", "rectangle"):
        width = 2.0 if task == "rectangle" else 1.0
        return [np.array([[-width, -1.0], [width, -1.0], [width, 1.0], [-width, 1.0], [-width, -1.0]])]
    angle = np.linspace(0, 2 * np.pi, 200)
    radii = (2.0,) if task == "ring" else (1.0, 2.0)
    return [radius * np.stack([np.cos(angle), np.sin(angle)], axis=1) for radius in radii]
