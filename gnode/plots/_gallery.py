"""A gallery of flows: several networks side by side on one scale of speed, with the set that each should remember."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gnode import errors
from gnode.analysis import FlowField
from gnode.arguments import checked
from gnode.plots._speeds import SPEED, colour_range, draw_speed
from gnode.plots._style import COLOURS, LETTERS, add_legend, letter_title, new_figure

SIDE = 2.9


@checked
def flow_gallery(
    fields: Mapping[str, FlowField],
    points: Mapping[str, Any],
    outlines: Mapping[str, Sequence[Any]],
    *,
    letters: Sequence[str] = LETTERS,
) -> Figure:
    """Draws flow fields side by side, on one scale of speed, with points and the outlines of where they should be.

    **Arguments:**

    - `fields`: the flow fields by title.
    - `points`: for each title, points in the coordinates of its plane, count x 2; none if the title is missing.
    - `outlines`: for each title, closed or open curves, each count x 2.
    - `letters`: the letters of the panels.

    **Returns:** the figure.

    >>> from gnode.analysis import flow_field
    >>> field = flow_field(lambda h, x: -h, state=2, limits=((-1, 1), (-1, 1)), resolution=3)
    >>> len(flow_gallery({"sink": field}, {"sink": [[0.0, 0.0]]}, {}).axes)  # with the scale
    2
    """
    if not fields:
        raise errors.ArgumentError("fields is empty: there is nothing to draw.")
    speeds = colour_range(list(fields.values()))
    columns = min(len(fields), 4)
    figure, axes = new_figure(
        SIDE * columns + 0.8, SIDE * -(-len(fields) // columns) + 0.5, -(-len(fields) // columns), columns
    )
    image = None
    for letter, axis, (title, field) in zip(letters, axes, fields.items()):
        image = draw_speed(axis, field, speeds)
        if title in points:
            axis.scatter(*errors.array("points", points[title], ("count", 2)).T, s=2, color=COLOURS[1], linewidths=0)
        for curve in outlines.get(title, ()):
            axis.plot(*errors.array("outlines", curve, ("count", 2)).T, color="white", linewidth=1.2, linestyle="--")
        axis.set(xlim=(field.u[0], field.u[-1]), ylim=(field.v[0], field.v[-1]), aspect="equal")
        axis.set_title(letter_title(letter, title), loc="left", fontsize=9)
        axis.set_xlabel(field.labels[0])
        axis.set_ylabel(field.labels[1])
    for axis in axes[len(fields) :]:
        axis.set_visible(False)
    assert image is not None
    figure.colorbar(image, ax=axes, label=SPEED, shrink=0.9)
    slow = Line2D([], [], color=COLOURS[1], marker="o", markersize=4, linestyle="", label="where states come to rest")
    task = Line2D([], [], color="0.6", linestyle="--", label="what the task asks to remember")
    add_legend(figure, [slow, task], columns=2)
    return figure
