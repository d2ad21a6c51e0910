"""The figures of `true-attractors`: errors and memory times of all seeds, and the flows of the best gnODEs."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gnode import analysis, plots
from gnode.analysis import FlowField
from gnode.cells import CELLS
from gnode.reproduce import flip_flop
from gnode.reproduce.artefact import Trained
from gnode.reproduce.attractor_measures import Measured, label_of
from gnode.reproduce.flip_flop import name_of

BIN = 0.01
"""The length of a bin in seconds: the place of memories that do not last at all, on a log axis."""
LIMITS = {"square": 1.6, "rectangle": 2.6, "annulus": 2.6, "ring": 2.6}
"""Half the side of the window of each task's picture."""


def figures(
    trained: Trained, chosen: Mapping[str, Mapping[str, Any]], found: Mapping[str, Mapping[str, list[Measured]]]
) -> dict[str, Any]:
    """Draws (a) validation errors, (b) memory times, (c) the flows of the best gnODEs with N = 2.

    **Arguments:** `trained`; by task and model, `chosen`, the rows of the table, and `found`, what was measured of them.
    """
    several = {task: own for task, own in found.items() if len(own) > 1}
    errors = {
        f"{label_of(task)}: validation MSE": {name_of(m): [one["mse"] for one in seeds] for m, seeds in own.items()}
        for task, own in several.items()
    }
    memories = {
        f"{label_of(task)}: memory time (s; {BIN:g} stands for none)": {
            name_of(m): [max(one["memory"], BIN) for one in seeds] for m, seeds in own.items()
        }
        for task, own in several.items()
    }
    colours = {name_of(model): CELLS[model].colour for own in several.values() for model in own}
    drawn = {
        letter: plots.seeds(panel, colours=colours, shared=True)
        for letter, panel in (("a", errors), ("b", memories))
        if panel
    }
    flat = [task for task in LIMITS if task in found]
    if flat:
        drawn["c"] = _gallery(trained, {task: chosen[task]["gnode"] for task in flat}, found)
    return drawn


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
    return plots.flow_gallery(fields, points, outlines)


def outline(task: str) -> list[np.ndarray]:
    """Returns the boundary of the set of values that a two-bit task asks to remember, as closed curves."""
    if task in ("square", "rectangle"):
        width = 2.0 if task == "rectangle" else 1.0
        return [np.array([[-width, -1.0], [width, -1.0], [width, 1.0], [-width, 1.0], [-width, -1.0]])]
    angle = np.linspace(0, 2 * np.pi, 200)
    radii = (2.0,) if task == "ring" else (1.0, 2.0)
    return [radius * np.stack([np.cos(angle), np.sin(angle)], axis=1) for radius in radii]
