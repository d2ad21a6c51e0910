"""Figures of a network's performance on held-out trials."""

from collections.abc import Mapping, Sequence

import numpy as np
from jax.typing import ArrayLike
from matplotlib.figure import Figure

from gnode import errors
from gnode.arguments import checked
from gnode.cells.registry import cell_colour, cell_label
from gnode.plots._style import add_legend, check_panels, colour, new_figure, shown_name

MOST_NAMED = 30
"""The largest number of classes whose names and counts are written."""


@checked
def confusion_matrix(confusion: ArrayLike, names: Sequence[str] | None = None) -> Figure:
    """Draws a confusion matrix: rows are the true classes, columns the predictions, colours the share of the row.

    **Arguments:**

    - `confusion`: the counts, classes x classes.
    - `names`: the names of the classes; their numbers by default.

    **Returns:** the figure.

    >>> confusion_matrix([[9, 1], [0, 10]], ["yes", "no"]).axes[0].get_title()
    '95.0% of 20 right'
    """
    numbers = errors.array("confusion", confusion, ("classes", "classes"))
    if numbers.shape[0] != numbers.shape[1] or np.any((numbers < 0) | (numbers % 1 != 0) | (numbers > 2**53)):
        raise errors.ArgumentError(
            f"confusion has shape {numbers.shape}, but must be (classes, classes), and hold whole numbers of at least 0."
        )
    counts = numbers.astype(np.int64)
    classes = len(counts)
    names = [str(number) for number in range(classes)] if names is None else [shown_name(name) for name in names]
    if len(names) != classes:
        raise errors.ArgumentError(f"names has {len(names)} names, but confusion has {classes} classes.")
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    size = 2.2 + 0.22 * min(classes, MOST_NAMED)
    figure, (axis,) = new_figure(size + 0.6, size)
    image = axis.imshow(share, cmap="Blues", vmin=0, vmax=1)
    for row, column in np.argwhere(counts > 0) if classes <= MOST_NAMED else ():
        tone = "white" if share[row, column] > 0.5 else "0.25"
        axis.text(column, row, str(counts[row, column]), ha="center", va="center", fontsize=5.5, color=tone)
    if classes <= MOST_NAMED:
        axis.set_xticks(range(classes), names, rotation=90 if max(map(len, names)) > 2 else 0, parse_math=False)
        axis.set_yticks(range(classes), names, parse_math=False)
    accuracy = np.trace(counts) / max(counts.sum(), 1)
    axis.set_xlabel("Taken for")
    axis.set_ylabel("Class")
    axis.set_title(f"{accuracy:.1%} of {counts.sum()} right", fontsize=8)
    figure.colorbar(image, ax=axis, shrink=0.7, label="Share of the class")
    return figure


@checked
def horizon_errors(network: Mapping[str, ArrayLike], last_value: ArrayLike) -> Figure:
    """Draws the mean squared error of forecasts by the number of bins ahead, with the persistence baseline.

    **Arguments:**

    - `network`: the errors by name of the network, one line each.
    - `last_value`: the errors of the last value carried forward.

    **Returns:** the figure.

    >>> len(horizon_errors({"gnode": np.ones(5)}, 2 * np.ones(5)).axes[0].lines)
    2
    """
    check_panels("network", "lines", len(network))
    last_value = errors.array("last_value", last_value, ("horizon",), finite=False)
    lines = {name: errors.array(f"network[{name!r}]", own, ("horizon",), finite=False) for name, own in network.items()}
    figure, (axis,) = new_figure(4.4, 3.0)
    for index, (name, values) in enumerate(lines.items()):
        line = cell_colour(name, colour(index))
        axis.plot(np.arange(1, len(values) + 1), values, color=line, lw=1.4, label=cell_label(name))
    ahead = np.arange(1, len(last_value) + 1)
    axis.plot(ahead, last_value, color="0.5", lw=1.2, ls="--", label="last value")
    axis.set_yscale("log")
    axis.set_xlabel("Bins ahead")
    axis.set_ylabel("Mean squared error")
    add_legend(figure, where="right upper", columns=1, plain_text=True)
    return figure
