"""A figure of a classification: where the states of each class end."""

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from jax.typing import ArrayLike
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gnode import analysis, errors
from gnode.analysis import PCA, FixedPoints
from gnode.arguments import checked
from gnode.plots._style import COLOURS, add_legend, check_panels, new_figure, plain
from gnode.plots.analysis import draw_points

MOST_IN_LEGEND = 12
"""With more classes their names are written at their median end states instead."""
MOST_ENDS = 3000
"""The largest number of end states that are drawn; more hide each other."""


@checked
def class_ends(
    ends: ArrayLike,
    labels: ArrayLike,
    names: Sequence[str] | None = None,
    fixed_points: FixedPoints | None = None,
    *,
    found: PCA | None = None,
) -> Figure:
    """Draws the state in which each trial ends, along two principal components, in the colour of its class.

    **Arguments:**

    - `ends`: the last state of every trial, trials x state.
    - `labels`: the class of every trial, whole numbers from 0.
    - `names`: the names of the classes; their numbers by default.
    - `fixed_points`: equilibria to draw in the same plane.
    - `found`: the principal components; by default those of `ends`.

    **Returns:** the figure. A state of one dimension is drawn against the number of its class.

    >>> class_ends([[0.0, 1.0], [2.0, 0.0]], [0, 1], ["left", "right"]).axes[0].get_xlabel()
    'PC 1 (100% of variance)'
    """
    states = errors.array("ends", ends, ("trials", "state"))
    kinds = errors.array("labels", labels, (len(states),))
    if np.any((kinds < 0) | (kinds % 1 != 0)):
        raise errors.ArgumentError("labels must hold whole numbers from 0, the class of each trial.")
    count = int(kinds.max()) + 1 if names is None else len(names)
    check_panels("labels", "classes", count)
    if kinds.max() >= count:
        raise errors.ArgumentError(f"names has {count} names, but labels has the class {int(kinds.max())}.")
    names = [str(number) for number in range(count)] if names is None else [str(name) for name in names]
    found = analysis.pca(states) if found is None else found
    places = _places(found, states, kinds)
    figure, (axis,) = new_figure(6.2, 4.6)
    tints = _tints(count)
    step = max(1, -(-len(states) // MOST_ENDS))
    for kind in range(count):
        own = places[kinds == kind][::step]
        axis.plot(*own.T, "o", ms=4, color=tints[kind], alpha=0.6, mew=0, rasterized=len(own) > 500)
        if count > MOST_IN_LEGEND and len(own):
            box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": tints[kind], "alpha": 0.85}
            x, y = np.median(own, axis=0)
            axis.text(x, y, plain(names[kind]), fontsize=7, ha="center", va="center", bbox=box)
    handles = [Line2D([], [], ls="", marker="o", ms=5, color=tints[k], label=plain(names[k])) for k in range(count)]
    handles = handles if count <= MOST_IN_LEGEND else []
    if fixed_points is not None and len(fixed_points):
        coordinates = _places(found, fixed_points.points, np.full(len(fixed_points), -1.0))
        near = _is_near(coordinates, places)  # a far fixed point would squeeze the end states into a dot
        handles += draw_points(axis, coordinates[near], fixed_points[near], show_slow=False) if near.any() else []
    labelled = [f"PC {i + 1} ({share:.0%} of variance)" for i, share in enumerate(found.explained[:2])]
    axis.set_xlabel(labelled[0])
    axis.set_ylabel(labelled[1] if len(labelled) > 1 else "class")
    if handles:
        add_legend(figure, handles, where="right upper", columns=1)
    return figure


def _places(found: PCA, states: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Two coordinates of each state; a state of one dimension is set against its class."""
    if len(found.explained) == 1:
        return np.stack([found.project(states, 1)[:, 0], kinds], axis=1)
    return found.project(states, 2)


def _tints(count: int) -> list[Any]:
    if count <= len(COLOURS):
        return list(COLOURS[:count])
    wheel = mpl.colormaps["turbo"]
    return [wheel(0.05 + 0.9 * place / (count - 1)) for place in range(count)]


def _is_near(coordinates: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Whether points are within the range of the end states, or at most as far from it as it is wide."""
    low, high = places.min(axis=0), places.max(axis=0)
    reach = np.maximum(high - low, 1e-6 * np.maximum(1.0, np.abs(low)))
    return np.all((coordinates >= low - reach) & (coordinates <= high + reach), axis=1)
