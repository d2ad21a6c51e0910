"""Figures of what several seeds of each condition gave."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from gnode import errors
from gnode.arguments import checked
from gnode.plots._style import check_colour, colour, new_figure, plain

WIDTH, HEIGHT = 4.6, 3.6
JITTER = 0.12


@checked
def seeds(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    colours: Mapping[str, str] | None = None,
    shared: bool = False,
) -> Figure:
    """Draws every seed as a point and the median of each condition as a bar, a panel for each quantity, on log axes.

    **Arguments:**

    - `panels`: by title, the positive values of the seeds of each condition.
    - `colours`: the colours of conditions; by default those of their positions.
    - `shared`: whether all panels have one scale, because they show the same quantity.

    **Returns:** the figure.

    >>> len(seeds({"error": {"before": [0.1, 0.2], "after": [0.01]}}).axes)
    1
    """
    if not panels or not all(panels.values()):
        raise errors.ArgumentError("panels is empty: there is nothing to draw.")
    chosen = {name: check_colour("colours", value) for name, value in (colours or {}).items()}
    columns = min(len(panels), 2)
    rows = -(-len(panels) // columns)
    figure, axes = new_figure(WIDTH * columns, HEIGHT * rows, rows, columns, sharey=shared)
    rng = np.random.default_rng(0)  # jitter that keeps points apart
    for letter, axis, (title, conditions) in zip("abcdefghijklmnopqrstuvwxyz", axes, panels.items()):
        for position, (name, values) in enumerate(conditions.items()):
            shown = np.array([value for value in values if np.isfinite(value) and value > 0])
            places = position + rng.uniform(-JITTER, JITTER, len(shown))
            axis.scatter(places, shown, s=22, color=chosen.get(name, colour(position)), alpha=0.8, linewidths=0)
            if len(shown):
                axis.hlines(np.median(shown), position - 0.3, position + 0.3, color="black", linewidth=1.4)
        axis.set_yscale("log")
        axis.set_title(f"{letter}  {plain(title)}", loc="left", fontsize=9)
        axis.set_xticks(
            range(len(conditions)), [plain(name) for name in conditions], rotation=40, ha="right", fontsize=8
        )
        axis.set_xlim(-0.6, len(conditions) - 0.4)
    for axis in list(axes)[len(panels) :]:  # an odd number of panels leaves a place empty
        axis.set_axis_off()
    return figure
