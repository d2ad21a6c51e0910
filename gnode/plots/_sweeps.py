"""Figures of a sweep: the minimum validation loss of every member, and the learning curves of the best."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jax.typing import ArrayLike
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gnode import errors
from gnode.arguments import check_kind, checked
from gnode.cells.registry import cell_colour, cell_label
from gnode.plots._style import add_legend, check_panels, colour, new_figure
from gnode.plots._training import loss_curves

JITTER = 0.22
"""Half the width of a strip, in units of the distance between two strips."""


@checked
def strip(rows: Sequence[Mapping[str, Any]], by: str = "model", threshold: float | None = None) -> Figure:
    """Draws each member of a sweep as a circle at its minimum validation loss, one strip per value of `by`.

    The best member of a strip has a black edge. Members without a finite loss are not drawn but counted in the label.

    **Arguments:**

    - `rows`: the members, as returned by `Sweep.rows()`.
    - `by`: the column that defines the strips.
    - `threshold`: a loss to mark by a dashed line.

    **Returns:** the figure.

    >>> rows = [{"model": "gnode", "best_loss": 0.1}, {"model": "gru", "best_loss": 0.2}]
    >>> [label.get_text() for label in strip(rows).axes[0].get_xticklabels()]
    ['gnODE', 'GRU']
    """
    if len(rows) == 0:
        raise errors.ArgumentError("rows is empty: no member of the sweep has finished.")
    for row in rows:
        if by not in row or "best_loss" not in row:
            missing = by if by not in row else "best_loss"
            raise errors.ArgumentError(f"rows has a row without {errors.shown(missing)}; pass those of Sweep.rows().")
        check_kind("best_loss", row["best_loss"], float)
        check_kind(by, row[by], str | float | bool | None)
    if threshold is not None:
        errors.positive("threshold", threshold)
    names = list(dict.fromkeys(row[by] for row in rows))
    check_panels("rows", f"values of {errors.shown(by)}", len(names))
    figure, (axis,) = new_figure(1.2 + 0.75 * len(names), 3.2)
    rng = np.random.default_rng(0)  # jitter that keeps circles apart
    lost = []
    for position, name in enumerate(names):
        losses = np.array([row["best_loss"] for row in rows if row[by] == name])
        kept = losses[np.isfinite(losses)]
        lost.append(len(losses) - len(kept))
        places = position + rng.uniform(-JITTER, JITTER, len(kept))
        axis.scatter(places, kept, s=26, color=_colour(name, position), alpha=0.75, linewidths=0)
        if len(kept):
            best = int(kept.argmin())
            style: dict[str, Any] = {"color": _colour(name, position), "edgecolors": "black", "linewidths": 1.4}
            axis.scatter(places[best], kept[best], s=46, **style)
    axis.set_yscale("log")
    axis.set_xticks(range(len(names)), [_label(name, count) for name, count in zip(names, lost)], parse_math=False)
    axis.set_xlim(-0.6, len(names) - 0.4)
    axis.set_ylabel("Minimum validation loss")
    handles = [Line2D([], [], marker="o", ls="", mfc="0.7", mec="black", mew=1.4, label="lowest")]
    if threshold is not None:
        axis.axhline(threshold, color="0.4", lw=0.8, ls="--", zorder=0)
        handles.append(Line2D([], [], color="0.4", lw=0.8, ls="--", label=f"{threshold:g}"))
    add_legend(figure, handles)
    return figure


@checked
def best_curves(curves: Mapping[str, ArrayLike]) -> Figure:
    """Draws the validation loss of each model's best member against epochs, in the colours of the models.

    >>> best_curves({"gnode": np.array([1.0, 0.5])}).axes[0].lines[0].get_label()
    'gnODE'
    """
    colours = [_colour(name, position) for position, name in enumerate(curves)]
    named = {cell_label(name): values for name, values in curves.items()}
    return loss_curves(named, colours, ylabel="Validation loss")


def _colour(name: Any, position: int) -> str:
    return cell_colour(name, colour(position))


def _label(name: Any, lost: int) -> str:
    text = cell_label(name)
    return f"{text}\n({lost}\ndiverged)" if lost else text  # narrow: neighbours must not touch
