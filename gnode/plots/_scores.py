"""Pictures of how good a network is on unseen trials."""

from collections.abc import Mapping, Sequence

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Float
from matplotlib.figure import Figure

from gnode import errors
from gnode.cells.registry import cell_colour, cell_label
from gnode.plots._style import add_legend, colour, new_figure

MOST_NAMED = 30
"""Classes beyond this number get no names on the axes."""


def confusion_matrix(confusion: ArrayLike, names: Sequence[str] | None = None) -> Figure:
    """Which class is taken for which: rows are the true classes, columns the guesses, colour the share of the row.

    **Arguments:** `confusion`, classes x classes, counts; `names` of the classes, their numbers by default.
    """
    counts = np.asarray(confusion)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise errors.ArgumentError(f"confusion has shape {counts.shape}, but must be (classes, classes).")
    classes = len(counts)
    names = [str(number) for number in range(classes)] if names is None else list(names)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    size = 2.2 + 0.22 * min(classes, MOST_NAMED)
    figure, (axis,) = new_figure(size + 0.6, size)
    image = axis.imshow(share, cmap="Blues", vmin=0, vmax=1)
    for row, column in np.argwhere(counts > 0) if classes <= MOST_NAMED else ():
        tone = "white" if share[row, column] > 0.5 else "0.25"
        axis.text(column, row, str(counts[row, column]), ha="center", va="center", fontsize=5.5, color=tone)
    if classes <= MOST_NAMED:
        axis.set_xticks(range(classes), names, rotation=90 if max(map(len, names)) > 2 else 0)
        axis.set_yticks(range(classes), names)
    accuracy = np.trace(counts) / max(counts.sum(), 1)
    axis.set_xlabel("Taken for")
    axis.set_ylabel("Class")
    axis.set_title(f"{accuracy:.1%} of {counts.sum()} right", fontsize=8)
    figure.colorbar(image, ax=axis, shrink=0.7, label="Share of the class")
    return figure


def horizon_errors(
    network: Mapping[str, Float[np.ndarray, " horizon"]], last_value: Float[np.ndarray, " horizon"]
) -> Figure:
    """Mean squared error against how many bins ahead, one line per network, with the last value carried forward."""
    figure, (axis,) = new_figure(4.4, 3.0)
    for index, (name, values) in enumerate(network.items()):
        line = cell_colour(name, colour(index))
        axis.plot(np.arange(1, len(values) + 1), values, color=line, lw=1.4, label=cell_label(name))
    ahead = np.arange(1, len(last_value) + 1)
    axis.plot(ahead, last_value, color="0.5", lw=1.2, ls="--", label="last value")
    axis.set_yscale("log")
    axis.set_xlabel("Bins ahead")
    axis.set_ylabel("Mean squared error")
    add_legend(figure, where="right upper", columns=1)
    return figure
