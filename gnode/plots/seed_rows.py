"""Panels of rows: every seed of a condition as a point, beside what was published, aimed at and allowed."""

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gnode import errors
from gnode.plots._style import LETTERS, NEUTRAL, add_legend, few_log_ticks, letter_title, new_figure, plain

WIDTH, ROW, AROUND = 2.7, 0.24, 0.75
"""In inches: the width of a panel, the height of a row, and that of a panel's title and axis."""
LETTER_WIDTH = 0.07
"""In inches, of a letter of a row's label."""
LEGEND_MARK, LEGEND_LETTER = 0.45, 0.075
"""In inches, of a legend's mark with what is around it, and of a letter."""
SPREAD = 0.28
"""How far the seeds of a row lie apart, in order, as a share of the row's height."""
MARGIN = 0.06
"""The share of a scale that is left free on either side of the data."""
NAMES = {"filled": "a seed", "hollow": "a seed", "crossed": "a seed that diverged", "median": "median"}
NAMES |= {"published": "published, mean ± SD", "target": "target"}


@dataclasses.dataclass(frozen=True)
class Row:
    """What the seeds of one condition gave; rows of one label lie at one tick, side by side.

    - `values`: a value for each seed; `crossed` says of which a cross takes the place of the point.
    - `hollow`: whether the points are circles.
    - `published`: a mean and a standard deviation, drawn as a diamond with a bar; `target`: a dashed line in this row alone.
    """

    label: str
    values: Sequence[float | None]
    colour: str = NEUTRAL
    hollow: bool = False
    crossed: Sequence[bool] = ()
    published: tuple[float, float] | None = None
    target: float | None = None


@dataclasses.dataclass(frozen=True)
class RowPanel:
    """One panel of `seed_rows`: its title, its rows, and the quantity that its axis shows.

    - `scale`: panels with the same have one scale; by default those that show the same quantity.
    - `bounds`: dashed lines through all rows, by what the legend calls them.
    - `none`: the place of values that are not larger, on a log axis; its tick says "none".
    - `rules`: labels below which a thin line ends a group of rows.
    """

    title: str
    rows: Sequence[Row]
    quantity: str
    scale: str = ""
    log: bool = True
    bounds: Mapping[str, float] = dataclasses.field(default_factory=dict)
    none: float | None = None
    rules: Sequence[str] = ()

    @property
    def ticks(self) -> list[str]:
        """The labels of its rows, from the top."""
        return list(dict.fromkeys(row.label for row in self.rows))

    @property
    def height(self) -> float:
        """How many rows it has room for: side by side they take more than one."""
        counts = collections.Counter(row.label for row in self.rows)
        return sum(max(1.0, 0.7 * count) for count in counts.values())

    @property
    def shared(self) -> tuple[str, bool]:
        """What panels with one scale have in common."""
        return self.scale or self.quantity, self.log


def seed_rows(
    panels: Sequence[RowPanel],
    *,
    columns: int = 2,
    names: Mapping[str, str] = MappingProxyType({}),
    letters: Sequence[str] = LETTERS,
) -> Figure:
    """Draws panels of rows: points are seeds, bars their medians.

    **Arguments:**

    - `panels`: what to draw.
    - `columns`: how many panels are side by side.
    - `names`: what the legend calls marks, by keys of `NAMES`; only marks that are drawn are in it.
    - `letters`: the letters of the panels; a single panel has none.

    **Returns:** the figure.
    """
    if not panels or not all(panel.rows for panel in panels):
        raise errors.ArgumentError("panels is empty: there is nothing to draw.")
    columns = min(columns, len(panels))
    in_rows = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    heights = [AROUND + ROW * max(panel.height for panel in side_by_side) for side_by_side in in_rows]
    labels = max(len(label) for panel in panels for label in panel.ticks) * LETTER_WIDTH
    named = 1 if all(_continues(panel, side[0]) for side in in_rows for panel in side) else columns
    figure, axes = new_figure(
        0.3 + WIDTH * columns + labels * named,
        sum(heights) + 0.35,
        len(in_rows),
        columns,
        gridspec_kw={"height_ratios": heights},
    )
    for place, (axis, panel) in enumerate(zip(axes, panels)):
        first = panels[place - place % columns]
        continues = place % columns > 0 and _continues(panel, first)
        _draw_panel(axis, panel, first.ticks if continues else panel.ticks, shows_labels=not continues)
        letter = letters[place] if len(panels) > 1 else ""
        axis.set_title(letter_title(letter, panel.title), loc="left", fontsize=9)
        _set_scale(axis, panel, [one for one in panels if one.shared == panel.shared])
    for axis in axes[len(panels) :]:  # an odd number of panels leaves a place empty
        axis.remove()
    handles = _handles(panels, NAMES | dict(names))
    side_by_side = min(4 if columns < 3 else 6, _fitting(handles, figure.get_figwidth()))
    add_legend(figure, handles, where="lower center", columns=side_by_side)
    return figure


def _fitting(handles: Sequence[Any], width: float) -> int:
    """Returns how many entries of a legend fit side by side into a width in inches."""
    widest = max(LEGEND_MARK + LEGEND_LETTER * len(str(handle.get_label())) for handle in handles)
    return max(1, int(width / widest))


def _continues(panel: RowPanel, first: RowPanel) -> bool:
    """Whether the rows of a panel are those of the first one beside it, or the upper ones of them."""
    return panel.ticks == first.ticks[: len(panel.ticks)]


def _draw_panel(axis: Axes, panel: RowPanel, ticks: Sequence[str], shows_labels: bool) -> None:
    for place, label in enumerate(panel.ticks):
        sharing = [row for row in panel.rows if row.label == label]
        height = 0.8 / len(sharing)
        for number, row in enumerate(sharing):
            _draw_row(axis, panel, row, place + height * (number - (len(sharing) - 1) / 2), height)
    for value in panel.bounds.values():
        axis.axvline(value, color="0.5", lw=0.9, ls="--", zorder=0)
    for label in panel.rules:
        axis.axhline(ticks.index(label) + 0.5, color="0.85", lw=0.8, zorder=0)
    axis.set_yticks(range(len(ticks)), [plain(label) if shows_labels else "" for label in ticks], fontsize=8)
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(len(ticks) - 0.4, -0.6)
    axis.set_xlabel(plain(panel.quantity))


def _draw_row(axis: Axes, panel: RowPanel, row: Row, place: float, height: float) -> None:
    drawn, crossed = _shown(panel, row)
    places = place + height * SPREAD * (np.linspace(-1, 1, len(drawn)) if len(drawn) > 1 else np.zeros(len(drawn)))
    faces = "none" if row.hollow else row.colour
    points: dict[str, Any] = {"s": 16, "edgecolors": row.colour, "linewidths": 0.9, "alpha": 0.9, "zorder": 3}
    axis.scatter(drawn[~crossed], places[~crossed], facecolors=faces, **points)
    if crossed.any():
        axis.scatter(drawn[crossed], places[crossed], s=20, marker="x", color=row.colour, linewidths=1.1, zorder=3)
    if len(drawn) > 1:
        axis.vlines(np.median(drawn), place - 0.42 * height, place + 0.42 * height, color="black", lw=1.4, zorder=4)
    if row.published is not None:
        mean, deviation = row.published
        style: dict[str, Any] = {"fmt": "D", "color": "black", "mfc": "white", "ms": 4, "capsize": 2, "lw": 0.9}
        axis.errorbar(mean, place + 0.38 * height, xerr=_whisker(panel, mean, deviation), zorder=5, **style)
    if row.target is not None:
        axis.vlines(row.target, place - 0.5 * height, place + 0.5 * height, color="0.35", lw=1.1, ls=":", zorder=2)
    if missing := len(row.values) - len(drawn):
        text = f"{missing} of {len(row.values)} not finite"
        # Above the highest seed, where no point is: the side of the panel would be the place of others.
        axis.annotate(text, (0.99, place - 0.3 * height), xycoords=axis.get_yaxis_transform(), ha="right", fontsize=5.5)


def _shown(panel: RowPanel, row: Row) -> tuple[np.ndarray, np.ndarray]:
    """Returns the values of a row that its panel has a place for, and which of them are crossed."""
    values = np.array([np.nan if value is None else value for value in row.values], float)
    crossed = np.array(row.crossed, bool) if len(row.crossed) else np.zeros(len(values), bool)
    if panel.none is not None:
        values = np.maximum(values, panel.none)
    known = np.isfinite(values) & ((values > 0) | (not panel.log))
    return values[known], crossed[known]


def _whisker(panel: RowPanel, mean: float, deviation: float) -> list[list[float]]:
    """A bar of one standard deviation; on a log axis it has no end below zero."""
    return [[0.0 if panel.log and deviation >= mean else deviation], [deviation]]


def _set_scale(axis: Axes, panel: RowPanel, sharing: Sequence[RowPanel]) -> None:
    """Gives a panel the scale of all that share it."""
    known = [value for one in sharing for row in one.rows for value in _extent(one, row)]
    known += [value for one in sharing for value in one.bounds.values()]
    low, high = (min(known), max(known)) if known else (0.1, 1.0)
    if not panel.log:
        margin = MARGIN * ((high - low) or abs(high) or 1.0)
        axis.set_xlim(low - margin, high + margin)
        axis.locator_params(axis="x", nbins=5)
        return
    margin = max((high / low) ** MARGIN, 1.03)
    axis.set_xscale("log")
    few_log_ticks(axis.xaxis, low, high)
    axis.set_xlim(low / margin, high * margin)
    if panel.none is not None:
        _name_none(axis, panel.none, high)


def _extent(panel: RowPanel, row: Row) -> list[float]:
    """Returns the values that a row needs a place for."""
    known = list(_shown(panel, row)[0])
    if row.published is not None:
        (below,), (above,) = _whisker(panel, *row.published)
        known += [row.published[0] - below, row.published[0] + above]
    return known + ([] if row.target is None else [row.target])


def _name_none(axis: Axes, none: float, high: float) -> None:
    """Writes "none" at the place of values that are not larger, and powers of ten at the others."""
    powers = range(int(np.ceil(np.log10(none) + 0.5)), int(np.floor(np.log10(high))) + 1)
    axis.set_xticks([none, *(10.0**power for power in powers)], ["none", *(f"{10.0**power:g}" for power in powers)])
    axis.minorticks_off()


def _handles(panels: Sequence[RowPanel], names: Mapping[str, str]) -> list[Any]:
    """Returns what the legend shows: the marks that are drawn."""
    rows = [row for panel in panels for row in panel.rows]
    dot: dict[str, Any] = {"ls": "", "marker": "o", "ms": 4.5, "color": NEUTRAL}
    diamond: dict[str, Any] = {"color": "black", "lw": 0.9, "marker": "D", "mfc": "white", "ms": 4}
    drawn: dict[str, tuple[bool, dict[str, Any]]] = {
        "filled": (any(not row.hollow for row in rows), dot),
        "hollow": (any(row.hollow for row in rows), dot | {"mfc": "none"}),
        "crossed": (any(any(row.crossed) for row in rows), dot | {"marker": "x"}),
        "median": (any(len(row.values) > 1 for row in rows), dot | {"marker": "|", "ms": 9, "mew": 1.4}),
        "published": (any(row.published for row in rows), diamond),
        "target": (any(row.target is not None for row in rows), {"color": "0.35", "lw": 1.1, "ls": ":"}),
    }
    handles = [Line2D([], [], label=names[name], **style) for name, (is_drawn, style) in drawn.items() if is_drawn]
    bounds = {name: value for panel in panels for name, value in panel.bounds.items()}
    return handles + [Line2D([], [], color="0.5", lw=0.9, ls="--", label=plain(name)) for name in bounds]
