"""Figures of expressivity: errors along an axis with their spread over seeds, and fits of noise."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jax.typing import ArrayLike
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gnode import errors
from gnode.cells.registry import cell_colour, cell_label
from gnode.expressivity import Curve, Expressivity, LongestFit
from gnode.plots._style import add_legend, colour, new_figure, plain

AXIS_LABELS = {"state": "State size N", "tau": r"Model $\tau$ (s)", "hidden": "Hidden units H", "bins": "Bins"}
AXIS_LABELS |= {"layers": "Hidden layers"}


def error_curves(curves: Mapping[Any, Curve], along: str, label: str = "{}", title: str = "") -> Figure:
    """Draws training errors along an axis on logarithmic scales, with the standard deviation over seeds as error bars.

    **Arguments:**

    - `curves`: one line per entry.
    - `along`: the axis, such as "state" or "tau".
    - `label`: the format of the labels, which receives the key of each entry.
    - `title`: the title of the figure.

    **Returns:** the figure.
    """
    figure, (axis,) = new_figure(4.4, 3.0)
    draw_curves(axis, curves, along, label)
    axis.set_title(title, fontsize=9)
    add_legend(figure, where="right upper", columns=1)
    return figure


def draw_curves(axis: Axes, curves: Mapping[Any, Curve], along: str, label: str = "{}") -> None:
    """Draws the lines of `error_curves` on existing axes."""
    if not curves:
        raise errors.ArgumentError("curves is empty: there is nothing to draw.")
    for index, (name, curve) in enumerate(curves.items()):
        shown = np.isfinite(curve.mean)
        spread = np.where(np.isfinite(curve.std), curve.std, 0.0)[shown]
        below = np.minimum(
            spread, 0.999 * curve.mean[shown]
        )  # an error bar down to 0 cannot be drawn on a logarithmic axis
        axis.errorbar(
            curve.x[shown],
            curve.mean[shown],
            [below, spread],
            color=cell_colour(name, colour(index)),
            marker="o",
            ms=4,
            lw=1.3,
            capsize=2,
            label=label.format(plain(cell_label(name)) if isinstance(name, str) else name),
        )
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel(AXIS_LABELS.get(along, plain(along)))
    axis.set_ylabel("Minimum training MSE")


def by_model(measured: Expressivity, along: str, title: str = "", **fixed: Any) -> Figure:
    """Draws the errors of all models along an axis, with the other parameters `fixed`."""
    return error_curves(_curves_of_models(measured, along, fixed), along, title=title)


def _curves_of_models(measured: Expressivity, along: str, fixed: Mapping[str, Any]) -> dict[str, Curve]:
    curves = {model: measured.curve(along, model=model, **fixed) for model in measured.values("model")}
    # A network without hidden layers has no position along their width or number.
    return {name: curve for name, curve in curves.items() if np.any(curve.x > 0)}


SYMBOLS = {"state": "N", "hidden": "H", "layers": "layers", "tau": r"$\tau$"}
COLUMNS = 4
"""The largest number of columns of panels."""


def along_all_axes(measured: Expressivity) -> dict[str, Figure]:
    """Draws the errors of the models along every axis that varies.

    **Returns:** by axis a figure with one panel for each combination of the other axes' values.
    """
    varying = {axis: [value for value in measured.values(axis) if value] for axis in SYMBOLS}  # 0 is no hidden layer
    varying = {axis: values for axis, values in varying.items() if len(values) > 1}
    figures = {}
    for along in varying:
        others = {axis: values for axis, values in varying.items() if axis != along}
        panels = [dict(zip(others, values)) for values in itertools.product(*others.values())]
        columns = min(COLUMNS, len(panels))
        rows = -(-len(panels) // columns)
        figure, axes = new_figure(1.4 + 2.8 * columns, 0.4 + 2.3 * rows, rows, columns, sharey=True)
        for axis, fixed in zip(axes, panels):
            draw_curves(axis, _curves_of_models(measured, along, fixed), along)
            axis.set_title(", ".join(f"{SYMBOLS[name]} = {value:g}" for name, value in fixed.items()), fontsize=9)
            axis.label_outer()
        for axis in axes[len(panels) :]:
            axis.remove()
        add_legend(figure, where="right upper", columns=1)
        figures[along] = figure
    return figures


def fitted_noise(
    target: ArrayLike, fits: Mapping[str, ArrayLike], dt: float = 1.0, channels: Sequence[int] = (0,)
) -> Figure:
    """Draws a trajectory in grey and the output of each network in colour, a row per network."""
    target = np.asarray(target)
    figure, axes = new_figure(5.2, 0.6 + 1.0 * len(fits), len(fits), 1, sharex=True, sharey=True)
    time = dt * np.arange(1, len(target) + 1)
    for index, (axis, (name, outputs)) in enumerate(zip(axes, fits.items())):
        for channel in channels:
            axis.plot(time, target[:, channel], color="0.75", lw=3, label="noise")
            axis.plot(time, np.asarray(outputs)[:, channel], color=colour(index), lw=1.2, label=plain(name))
        axis.set_ylabel(plain(name))
        axis.margins(x=0.01)
    axes[-1].set_xlabel("Time (s)")
    return figure


def lengths(found: Mapping[str, LongestFit]) -> Figure:
    """Draws the error against the length of the trajectory, a thin line per seed, with the threshold for a fit."""
    figure, (axis,) = new_figure(4.4, 3.0)
    for index, (name, fit) in enumerate(found.items()):
        line = cell_colour(name, colour(index))
        axis.plot(fit.lengths, fit.errors, color=line, lw=0.7, alpha=0.5)
        axis.plot(fit.lengths, fit.errors.mean(axis=1), color=line, lw=1.6, marker="o", ms=3.5, label=plain(name))
        axis.axhline(fit.error, color="0.5", lw=0.8, ls="--")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("Length of the trajectory (bins)")
    axis.set_ylabel("Minimum training MSE")
    add_legend(figure, where="right upper", columns=1)
    return figure
