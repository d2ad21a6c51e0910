"""Figures of expressivity: errors along an axis with their spread over seeds, and fits of noise."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax.typing import ArrayLike
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from gnode import errors
from gnode.cells.registry import cell_colour, cell_label
from gnode.expressivity import Curve, Expressivity, LongestFit
from gnode.plots._style import (
    LETTERS,
    add_legend,
    colour,
    few_log_ticks,
    letter_title,
    new_figure,
    ordered_colour,
    plain,
)

AXIS_LABELS = {"state": "State size N", "tau": r"Model $\tau$ (s)", "hidden": "Hidden units H", "bins": "Bins"}
AXIS_LABELS |= {"layers": "Hidden layers"}
ABREAST = (2, 4, 3)
"""How many panels may be side by side: the first that makes full rows, no more of them than columns; else three."""


MOST_TICKS = 6
"""The largest number of values along an axis that are written at their places."""
DEEP = 1e-2
"""A panel whose lowest error is less than this share of its highest has a deep scale, which would squeeze the others."""


class ErrorPanel(NamedTuple):
    """One panel of `error_panels`: its title, its lines by their names, and the axis that they run along."""

    title: str
    curves: Mapping[Any, Curve]
    along: str


def error_curves(curves: Mapping[Any, Curve], along: str, label: str = "{}", title: str = "") -> Figure:
    """Draws training errors along an axis on logarithmic scales, with their spread over seeds.

    **Arguments:**

    - `curves`: one line per entry, through the medians of the seeds, which are points; where only their mean and standard
      deviation are known, through the means, with a bar of one deviation upwards.
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


def error_panels(panels: Sequence[ErrorPanel], letters: str = LETTERS) -> Figure:
    """Draws panels of `error_curves` side by side, with letters; they have one scale, or two if some are deep.

    Lines that all panels have are in one legend, others in those of their panels.
    """
    if not panels:
        raise errors.ArgumentError("panels is empty: there is nothing to draw.")
    columns = next(
        (wide for wide in ABREAST if len(panels) % wide == 0 and len(panels) <= wide**2), min(3, len(panels))
    )
    rows = -(-len(panels) // columns)
    figure, axes = new_figure(0.6 + 2.5 * columns, 0.3 + 2.3 * rows, rows, columns)
    one_legend = len({tuple(panel.curves) for panel in panels}) == 1
    for place, (letter, axis, panel) in enumerate(zip(letters, axes, panels)):
        draw_curves(axis, panel.curves, panel.along)
        axis.set_title(letter_title(letter, panel.title), loc="left", fontsize=9)
        if not one_legend:
            axis.legend(frameon=False, fontsize=7, handlelength=1.2)
        if place % columns:
            axis.set_ylabel("")
            axis.tick_params(axis="y", labelleft=_is_deep(panel) != _is_deep(panels[place - 1]))
    for deep in (False, True):
        _share_scale([axis for axis, panel in zip(axes, panels) if _is_deep(panel) == deep])
    for axis in axes[len(panels) :]:
        axis.remove()
    if one_legend:
        add_legend(figure, where="right upper", columns=1)
    return figure


def _errors(panel: ErrorPanel) -> np.ndarray:
    """Returns the errors that a panel draws."""
    shown = [error for curve in panel.curves.values() for seeds in curve.seeds for error in seeds]
    shown += [mean for curve in panel.curves.values() if not curve.seeds for mean in curve.mean]
    known = np.array(shown, float)
    return known[np.isfinite(known) & (known > 0)]


def _is_deep(panel: ErrorPanel) -> bool:
    found = _errors(panel)
    return found.size > 0 and bool(found.min() < DEEP * found.max())


def _share_scale(axes: Sequence[Axes]) -> None:
    """Gives axes one logarithmic scale that holds all of their errors."""
    if not axes:
        return
    low, high = (pick(limits) for pick, limits in zip((min, max), zip(*(axis.get_ylim() for axis in axes))))
    for axis in axes:
        few_log_ticks(axis.yaxis, low, high)
        axis.set_ylim(low, high)


def draw_curves(axis: Axes, curves: Mapping[Any, Curve], along: str, label: str = "{}") -> None:
    """Draws the lines of `error_curves` on existing axes: networks in their colours, other things by their order."""
    if not curves:
        raise errors.ArgumentError("curves is empty: there is nothing to draw.")
    others = [name for name in curves if cell_colour(name, "") == ""]
    for name, curve in curves.items():
        order = others.index(name) if name in others else 0
        line = cell_colour(name, ordered_colour(order, len(others)))
        said = label.format(plain(cell_label(name)) if isinstance(name, str) else name)
        _draw_curve(axis, curve, line, said)
    axis.set_xscale("log")
    axis.set_yscale("log")
    places = sorted({float(x) for curve in curves.values() for x in curve.x if x > 0})
    if len(places) <= MOST_TICKS:
        axis.set_xticks(places, [f"{place:g}" for place in places])
        axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel(AXIS_LABELS.get(along, plain(along)))
    axis.set_ylabel("Minimum training MSE")


def _draw_curve(axis: Axes, curve: Curve, line: Any, label: str) -> None:
    style: dict[str, Any] = {"color": line, "marker": "o", "ms": 4, "lw": 1.3}
    if curve.seeds:
        middle = np.array([np.median(seeds) for seeds in curve.seeds])
        known = np.isfinite(middle)
        axis.plot(curve.x[known], middle[known], label=label, **style)
        for x, seeds in zip(curve.x, curve.seeds):
            shown = [error for error in seeds if np.isfinite(error)]
            axis.plot([x] * len(shown), shown, ".", color=line, ms=3, alpha=0.5)
        return
    known = np.isfinite(curve.mean)
    spread = np.where(np.isfinite(curve.std), curve.std, 0.0)[known]
    # Downwards a logarithmic axis would stretch a bar without measure where a mean is little more than its deviation.
    upwards = [np.zeros_like(spread), spread]
    axis.errorbar(curve.x[known], curve.mean[known], upwards, capsize=2, label=label, **style)


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
