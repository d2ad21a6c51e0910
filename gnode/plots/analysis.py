"""Figures of the analyses of a network: flow fields, fixed points, eigenvalues, attractors."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gnode import analysis, errors
from gnode.analysis import Attractor, FixedPoints, FlowField, Stability
from gnode.arguments import checked
from gnode.network import AbstractNetwork
from gnode.plots._speeds import SPEED, colour_range, draw_speed
from gnode.plots._style import COLOURS, STYLE, ShownFigure, new_figure, plain, shown_name

KIND_COLOURS = {"stable": "#56B4E9", "marginal": "#E69F00", "saddle": "#CC79A7", "unstable": "#D55E00"}
KIND_COLOURS |= {"undefined": "0.6"}
KIND_MARKERS = {"stable": "o", "marginal": "s", "saddle": "X", "unstable": "^", "undefined": "d"}
STATUS_EDGES = {"equilibrium": "black", "slow": "0.5", "closed_gate": "white"}
MOST_POINTS_DRAWN = 800  # more only hide each other
MOST_TRAJECTORIES_DRAWN = 20
ALIKE = 3  # the largest ratio of the sides of a plane that is drawn with one unit for both: a thin one would be a line
DARK = "#222222"


def _house_style() -> Any:
    return mpl.rc_context(dict[Any, Any](STYLE))


@checked
def flow_field(
    source: AbstractNetwork | FlowField,
    fixed_points: FixedPoints | None = None,
    *,
    trajectories: Any = None,
    pulse: Any = None,
    nullclines: bool = True,
    show_slow: bool = False,
    speeds: tuple[float, float] | None = None,
    **options: Any,
) -> Figure:
    """Draws a flow field with fixed points, trajectories and the effect of pulses.

    Colour is the speed, white lines are streamlines, black lines nullclines.

    If the plane is not all of phase space, the title gives the share of the flow that leaves it.

    **Arguments:**

    - `source`: a network, or a `FlowField`. For a network the field is computed around the trajectories or the fixed
      points; `options` are those of `gnode.analysis.flow_field`.
    - `fixed_points`: drawn by class; slow points and closed gates only with `show_slow`.
    - `trajectories`: states (trials x time x state), drawn as thin lines.
    - `pulse`: states (pulses x time x state) during and after a pulse, drawn as arrows from first to last.
    - `nullclines`: whether to draw the lines on which one coordinate is at rest.
    - `speeds`: the lowest and the highest speed of the colours, for figures that compare; by default those of the field.

    **Returns:** the figure.

    >>> field = analysis.flow_field(lambda h, x: -h, state=2, limits=((-1, 1), (-1, 1)), resolution=3)
    >>> flow_field(field).axes[0].get_xlabel()
    'h1'
    """
    if isinstance(source, FlowField) and options:
        raise errors.CallError(f"flow_field has no argument {next(iter(options))!r} for a field that is made already.")
    field = source if isinstance(source, FlowField) else _field_of(source, fixed_points, trajectories, options)
    figure, (axes,) = new_figure(5.6, 4.6)
    with _house_style():
        image = draw_speed(axes, field, speeds or colour_range([field]))
        figure.colorbar(image, ax=axes, label=SPEED, shrink=0.9)
        u_velocity, v_velocity = np.moveaxis(field.velocity, -1, 0)
        style: dict[str, Any] = {"color": "white", "linewidth": 0.5, "density": 1.1, "arrowsize": 0.7}
        axes.streamplot(field.u, field.v, u_velocity, v_velocity, **style)
        handles = _nullclines(axes, field) if nullclines else []
        handles += _trajectories(axes, field, trajectories) + _pulses(axes, field, pulse)
        if fixed_points is not None:
            handles += draw_points(axes, field.plane.project(fixed_points.points), fixed_points, show_slow)
        axes.set(xlabel=field.labels[0], ylabel=field.labels[1])
        axes.set_xlim(field.u[0], field.u[-1])
        axes.set_ylim(field.v[0], field.v[-1])
        wide, high = field.u[-1] - field.u[0], field.v[-1] - field.v[0]
        if max(wide, high) < ALIKE * min(wide, high):
            axes.set_aspect("equal")
        if field.share_leaving > 1e-6:
            axes.set_title(f"{field.share_leaving:.0%} of the squared speed leaves this plane", loc="left")
        if handles:
            figure.legend(handles=handles, loc="outside upper center", ncols=4)
    return figure


def _field_of(
    net: AbstractNetwork, points: FixedPoints | None, trajectories: Any, options: dict[str, Any]
) -> FlowField:
    if "limits" not in options and "around" not in options:
        around = trajectories if trajectories is not None else None if points is None else _surroundings(points)
        options = options | {"around": around}
    return analysis.flow_field(net, **options)


def _surroundings(points: FixedPoints) -> np.ndarray:
    """The points and the corners of the visited range: one point alone says nothing of the size of the picture."""
    seen = points.visited_range
    return points.points if seen is None else np.concatenate([points.points, seen])


def _nullclines(axes: Axes, field: FlowField) -> list[Line2D]:
    handles = []
    styles: tuple[Any, Any] = ("-", "--")
    for index, style in enumerate(styles):
        component = field.velocity[..., index]
        if component.min() < 0 < component.max():
            axes.contour(field.u, field.v, component, levels=[0.0], colors="black", linewidths=0.7, linestyles=style)
            name = field.labels[index].split(" (")[0]
            handles.append(Line2D([], [], color="black", linewidth=0.7, linestyle=style, label=f"{name} at rest"))
    return handles


def _trajectories(axes: Axes, field: FlowField, trajectories: Any) -> list[Line2D]:
    if trajectories is None:
        return []
    paths = _paths("trajectories", trajectories, field.plane.origin.size)
    for path in paths[:MOST_TRAJECTORIES_DRAWN]:
        axes.plot(*field.plane.project(path).T, color="0.8", linewidth=0.5, alpha=0.6, zorder=2)
    return [Line2D([], [], color="0.7", linewidth=0.8, label="trajectories")]


def _paths(name: str, states: Any, size: int | str = "state") -> np.ndarray:
    """Returns states as paths x time x state; one path may come without the first axis."""
    found = errors.array(name, states, finite=False)
    return errors.array(name, found[None] if found.ndim == 2 else found, ("paths", "time", size))


def _pulses(axes: Axes, field: FlowField, pulse: Any) -> list[Line2D]:
    if pulse is None:
        return []
    paths = _paths("pulse", pulse, field.plane.origin.size)
    colour = COLOURS[1]
    apart = 0.04 * (field.u[-1] - field.u[0])  # the arrow's head needs a length to have a direction
    for path in paths:
        track = field.plane.project(path)
        axes.plot(*track.T, color=colour, linewidth=1.2, zorder=4)
        axes.plot(*track[0], marker="o", color=colour, markersize=4, zorder=5)
        far = np.flatnonzero(np.linalg.norm(track - track[-1], axis=1) > apart)
        if far.size:
            arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", tuple(track[-1]), tuple(track[far[-1]]), arrowprops=arrow, zorder=7)
    return [Line2D([], [], color=colour, linewidth=1.4, marker=">", markersize=4, label="effect of a pulse")]


def draw_points(axes: Any, coordinates: np.ndarray, points: FixedPoints, show_slow: bool) -> list[Line2D]:
    """Draws points by class on two- or three-dimensional axes, and returns the handles of the legend."""
    handles = []
    for kind, colour in KIND_COLOURS.items():
        for status, edge in STATUS_EDGES.items():
            if status != "equilibrium" and not show_slow:
                continue
            which = np.flatnonzero((points.kind == kind) & (points.status == status))
            if which.size == 0:
                continue
            shown = which[:: max(1, -(-which.size // MOST_POINTS_DRAWN))]
            style: dict[str, Any] = {"marker": KIND_MARKERS[kind], "markeredgecolor": edge, "markeredgewidth": 0.7}
            size = 7 if which.size < 50 else 3.5
            axes.plot(*coordinates[shown].T, linestyle="", color=colour, markersize=size, zorder=6, **style)
            label = (
                f"{kind} ({which.size})"
                if status == "equilibrium"
                else f"{kind}, {status.replace('_', ' ')} ({which.size})"
            )
            handles.append(Line2D([], [], linestyle="", color=colour, markersize=6, label=label, **style))
    return handles


@checked
def eigenvalues(stability: Stability, *, title: str = "") -> Figure:
    """Draws the eigenvalues of the flow in the complex plane, and those of the map with the unit circle."""
    has_map = stability.map_eigenvalues is not None
    figure, axes = new_figure(7.6 if has_map else 4.0, 3.4, columns=2 if has_map else 1)
    with _house_style():
        _cloud(axes[0], stability.flow_eigenvalues)
        axes[0].axvline(0, color=DARK, linewidth=0.8)
        of = "flow" if stability.is_flow else "rates of the map"
        axes[0].set(xlabel="Re λ (1/s)", ylabel="Im λ (1/s)", title=f"{of}: stable left of the line")
        if stability.map_eigenvalues is not None:
            angle = np.linspace(0, 2 * np.pi, 200)
            axes[1].plot(np.cos(angle), np.sin(angle), color=DARK, linewidth=0.8)
            _cloud(axes[1], stability.map_eigenvalues)
            axes[1].set(xlabel="Re μ", ylabel="Im μ", title="map: stable inside the circle", aspect="equal")
        if title:
            figure.suptitle(plain(title))
    return figure


def _cloud(axes: Axes, values: np.ndarray) -> None:
    drawn = values[:: max(1, -(-values.shape[0] // MOST_POINTS_DRAWN))]
    every, leading = drawn.ravel(), drawn[:, 0]
    faint: dict[str, Any] = {"color": COLOURS[0], "markersize": 2.5, "alpha": 0.5}
    axes.plot(np.real(every), np.imag(every), ".", rasterized=True, **faint)
    strong: dict[str, Any] = {"color": COLOURS[1], "markersize": 4, "label": "leading"}
    axes.plot(np.real(leading), np.imag(leading), ".", rasterized=True, **strong)
    axes.legend(loc="best", markerscale=1.5)


@checked
def abscissa_strips(stabilities: Mapping[str, Stability], colours: Mapping[str, str] | None = None) -> Figure:
    """Draws the spectral abscissa at every point, one strip per network, with its median (Figure 1E of the paper).

    Below each name is the number of its points, of which at most some hundreds are drawn.
    """
    names = list(stabilities)
    figure, (axes,) = new_figure(max(3.2, 0.9 * len(names) + 1.2), 3.4)
    jitter = np.random.default_rng(0)
    with _house_style():
        for place, name in enumerate(names):
            values = stabilities[name].abscissa
            colour = (colours or {}).get(name, COLOURS[place % len(COLOURS)])
            if values.size == 0:
                axes.text(place, 0, "none found", ha="center", va="bottom", rotation=90, fontsize=7)
                continue
            shown = values[:: max(1, -(-values.size // MOST_POINTS_DRAWN))]
            across = place + jitter.uniform(-0.25, 0.25, shown.size)
            axes.plot(across, shown, "o", color=colour, markersize=3, alpha=0.4, markeredgewidth=0, rasterized=True)
            axes.hlines(np.median(values), place - 0.35, place + 0.35, color=DARK, linewidth=2.2, zorder=4)
        axes.axhline(0, color="0.6", linewidth=0.8, zorder=0)
        counted = [f"{name}\n({stabilities[name].abscissa.size})" for name in names]
        axes.set_xticks(range(len(names)), counted, parse_math=False)
        axes.set(ylabel="spectral abscissa (1/s)", xlim=(-0.6, len(names) - 0.4))
    return figure


@checked
def attractor(found: Attractor, *, channels: tuple[int, int] = (0, 1), names: Sequence[str] | None = None) -> Figure:
    """Draws a slow set in output coordinates (`names`) with its drift, eigenvalues by rank, and its forgetting curve."""
    given = [f"output {number + 1}" for number in range(found.outputs.shape[1])] if names is None else names
    if len(given) != found.outputs.shape[1]:
        raise errors.ArgumentError(f"names has {len(given)} names, but there are {found.outputs.shape[1]} outputs.")
    panels = 3 if found.memory is not None else 2
    figure, axes = new_figure(3.5 * panels, 3.2, columns=panels)
    with _house_style():
        _set_in_outputs(figure, axes[0], found, channels, [plain(shown_name(name)) for name in given])
        _rates_by_rank(axes[1], found)
        if found.memory is not None:
            _forgetting(axes[2], found)
    return figure


def _set_in_outputs(
    figure: Figure, axes: Axes, found: Attractor, channels: tuple[int, int], names: Sequence[str]
) -> None:
    if found.outputs.shape[1] < 2:
        image = axes.scatter(found.outputs[:, 0], found.speed, c=found.speed, cmap="viridis", s=9)
        axes.set(xlabel=names[0], ylabel="|dh/dt| (state / s)")
    else:
        first, second = (errors.whole("channels", one, at_least=0) for one in channels)
        if max(first, second) >= found.outputs.shape[1]:
            raise errors.ArgumentError(
                f"channels is {channels}, but the outputs are 0 to {found.outputs.shape[1] - 1}."
            )
        image = axes.scatter(
            found.outputs[:, first], found.outputs[:, second], c=found.output_speed, cmap="viridis", s=9
        )
        axes.set(xlabel=names[first], ylabel=names[second])
        axes.set_aspect("equal", adjustable="datalim")  # a thin set keeps the width of its panel
    figure.colorbar(image, ax=axes, label="drift |dy/dt| (1/s)", shrink=0.8)
    axes.set_title(f"{found.shape.name}, dimension {found.dimension}", loc="left")


def _rates_by_rank(axes: Axes, found: Attractor) -> None:
    rates = -np.sort(-found.stability.flow_rates, axis=1)[:, :12]
    rates = np.maximum(rates, rates[np.isfinite(rates)].min(initial=0.0))  # a map may forget a direction at once
    low, middle, high = np.quantile(rates, [0.05, 0.5, 0.95], axis=0)
    ranks = np.arange(1, rates.shape[1] + 1)
    axes.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    axes.errorbar(ranks, middle, [middle - low, high - middle], fmt="o", color=COLOURS[0], markersize=4, capsize=2)
    if 0 < found.dimension < found.points.shape[1]:
        axes.axvline(found.dimension + 0.5, color=COLOURS[1], linewidth=0.8, linestyle="--")
        axes.set_title("tangent | normal", loc="left")
    axes.set(xlabel="direction, by falling Re λ", ylabel="Re λ (1/s), median and 5-95%")
    axes.set_xticks(ranks)


def _forgetting(axes: Axes, found: Attractor) -> None:
    memory = found.memory
    assert memory is not None
    low, middle, high = memory.error_quartiles[:, 1:]
    floor = max(memory.tolerance * 1e-6, 1e-12)
    axes.fill_between(memory.times[1:], np.maximum(low, floor), np.maximum(high, floor), color=COLOURS[0], alpha=0.25)
    axes.loglog(memory.times[1:], np.maximum(middle, floor), color=COLOURS[0])
    axes.axhline(memory.tolerance, color=COLOURS[1], linewidth=0.8, linestyle="--")
    lasts = f"{memory.median:.3g} s" if np.isfinite(memory.median) else f"more than {memory.horizon:.3g} s"
    axes.set(xlabel="time without input (s)", ylabel="|y(t) - y(0)|, quartiles")
    axes.set_title(f"median memory: {lasts}", loc="left")


@checked
def explained_variance(
    pcas: Mapping[str, analysis.PCA], share: float = 0.9, colours: Mapping[str, str] | None = None
) -> Figure:
    """Draws the cumulative variance explained by the first components, one curve per network, in `colours` by name."""
    figure, (axes,) = new_figure(4.2, 3.2)
    with _house_style():
        for place, (name, components) in enumerate(pcas.items()):
            total = np.concatenate([[0.0], np.cumsum(components.explained)])[:31]
            line = (colours or {}).get(name, COLOURS[place % len(COLOURS)])
            label = f"{name}: {components.needed(share)} for {share:.0%}"
            axes.plot(range(len(total)), total, "o-", markersize=3, color=line, label=label)
        axes.axhline(share, color="0.6", linewidth=0.8, linestyle="--")
        axes.set(xlabel="number of principal components", ylabel="variance explained", ylim=(0, 1.02))
        for label in axes.legend(loc="lower right").get_texts():
            label.set_parse_math(False)
    return figure


@checked
def principal_components(
    states: Any,
    fixed_points: FixedPoints | None = None,
    *,
    show_slow: bool = False,
    found: analysis.PCA | None = None,
) -> Figure:
    """Draws trajectories and fixed points along the first three principal components (two in two dimensions)."""
    paths = _paths("states", states)
    found = analysis.pca(paths) if found is None else found
    count = min(3, len(found.explained))
    with _house_style():
        figure = ShownFigure(figsize=(5.0, 4.4), layout="constrained")
        axes: Any = figure.add_subplot(projection="3d" if count == 3 else None)
        for path in paths[:MOST_TRAJECTORIES_DRAWN]:
            axes.plot(*found.project(path, count).T, color="0.75", linewidth=0.5)
        if fixed_points is not None:
            handles = draw_points(axes, found.project(fixed_points.points, count), fixed_points, show_slow)
            if handles:
                figure.legend(handles=handles, loc="outside upper center", ncols=3)
        names: Sequence[str] = [f"PC {i + 1} ({found.explained[i]:.0%})" for i in range(count)]
        for setter, name in zip(("set_xlabel", "set_ylabel", "set_zlabel"), names):
            getattr(axes, setter)(name, labelpad=8 if count == 3 else None)
    return figure
