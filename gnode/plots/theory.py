"""Figures of the theory: critical curves, the chaotic state, Jacobian spectra and storage capacity."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Complex
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Patch

from gnode import errors
from gnode.analysis import SteadySpectrum
from gnode.cells.registry import cell_colour, cell_label
from gnode.plots._style import LETTERS, add_legend, colour, new_figure, ordered_colour
from gnode.theory import (
    CapacityExperiment,
    ChaoticState,
    CriticalCurve,
    Simulation,
    cover_probability,
    gardner_capacity,
)


def critical_curves(curve: CriticalCurve) -> Figure:
    """Draws sigma_w* against sigma_b, one line per depth; networks are chaotic above the line and stable below it.

    **Arguments:**

    - `curve`: the result of `gnode.theory.critical_curve`.

    **Returns:** the figure.
    """
    figure, (axis,) = new_figure(4.6, 3.2)
    for index, depth in enumerate(curve.depths):
        tint = ordered_colour(index, len(curve.depths))
        axis.plot(curve.sigma_b, curve.sigma_w[index], color=tint, lw=1.6, label=f"L = {depth}")
    axis.set_xlabel(r"Bias scale $\sigma_b$")
    axis.set_ylabel(r"Weight scale $\sigma_w$")
    axis.margins(x=0.02)
    axis.text(0.04, 0.92, "chaotic", transform=axis.transAxes, color="0.4")
    axis.text(0.96, 0.06, "stable", transform=axis.transAxes, color="0.4", ha="right")
    _legend(figure, "outside right upper", title=curve.activation)
    return figure


def autocorrelation(state: ChaoticState, simulations: Sequence[Simulation] = ()) -> Figure:
    """Draws C_h(tau) of the theory, with that of simulated networks as pale lines behind it.

    **Arguments:**

    - `state`: the result of `gnode.theory.chaotic_state`.
    - `simulations`: results of `gnode.theory.simulate`.

    **Returns:** the figure.
    """
    figure, (axis,) = new_figure(4.6, 3.0)
    furthest = max((one.lags[-1] for one in simulations), default=state.lags[-1])
    shown = state.lags <= furthest
    for index, one in enumerate(simulations):
        label = "simulated networks" if index == 0 else None
        axis.plot(one.lags, one.autocorrelation, color=colour(5), lw=1, alpha=0.8, label=label)
    axis.plot(state.lags[shown], state.autocorrelation[shown], color=colour(0), lw=2, label="mean field")
    if state.plateau > 0:
        axis.axhline(state.plateau, color="0.5", lw=1, ls="--", label=r"$C_h(\infty)$")
    axis.set_xlabel(r"Lag $\tau$ (time constants)")
    axis.set_ylabel(r"$C_h(\tau)$")
    axis.set_ylim(bottom=min(0.0, axis.get_ylim()[0]))
    _legend(figure, "outside upper center", ncols=3)
    return figure


def spectra_grid(spectra: Sequence[SteadySpectrum], of: str = "flow") -> Figure:
    """Draws eigenvalues in the complex plane, a column per model and a row per gate scale.

    The mean-field circle is drawn where it is known.

    **Arguments:**

    - `spectra`: results of `gnode.analysis.steady_spectrum`.
    - `of`: "flow" for the eigenvalues of the flow, or "map" for (mu - 1) / dt of the step; both agree for an Euler
      step.

    **Returns:** the figure.
    """
    errors.one_of("of", of, ("flow", "map"))
    if not spectra:
        raise errors.ArgumentError("spectra is empty: there is nothing to draw.")
    models = list(dict.fromkeys(one.model for one in spectra))
    scales = list(dict.fromkeys(one.sigma_z for one in spectra))
    size = 2.3
    figure, axes = new_figure(
        size * len(models) + 0.4,
        0.85 * size * len(scales) + 0.5,
        len(scales),
        len(models),
        sharex=True,
        sharey=True,
    )
    for axis in axes:
        axis.set_visible(False)
    for one in spectra:
        row, column = scales.index(one.sigma_z), models.index(one.model)
        axis = axes[row * len(models) + column]
        axis.set_visible(True)
        _spectrum(axis, one, one.flow_eigenvalues if of == "flow" else one.map_generator)
        if one.disc is not None and (of == "flow" or one.method == "euler"):
            centre, radius = one.disc
            axis.add_patch(Circle((centre, 0), radius, fill=False, color="black", lw=1, ls="--"))
        gating = "no gate" if one.sigma_z is None else rf"$\sigma_z$ = {one.sigma_z:g}"
        letter = LETTERS[row * len(models) + column] if len(spectra) <= len(LETTERS) else ""
        title = rf"$\mathbf{{{letter}}}$  " if letter and len(spectra) > 1 else ""
        axis.set_title(f"{title}{cell_label(one.model)}, {gating}", loc="left", fontsize=9)
        if row == len(scales) - 1:
            axis.set_xlabel(r"Re $\lambda$ (1/s)")
        if column == 0:
            axis.set_ylabel(r"Im $\lambda$ (1/s)")
    if any(axis.patches for axis in axes):
        circle = Line2D([], [], color="black", lw=1, ls="--", label="edge of the spectrum by mean-field theory")
        add_legend(figure, [circle], where="lower center")
    return figure


def _spectrum(axis: Axes, one: SteadySpectrum, eigenvalues: Complex[np.ndarray, " state"]) -> None:
    axis.axhline(0, color="0.85", lw=0.8, zorder=0)
    axis.axvline(0, color="0.85", lw=0.8, zorder=0)
    tint = cell_colour(one.model, colour(0))
    axis.scatter(np.real(eigenvalues), np.imag(eigenvalues), s=2, color=tint, linewidths=0, rasterized=True)
    axis.set_aspect("equal")


def capacity_curve(experiment: CapacityExperiment, points: int = 61) -> Figure:
    """Draws the fraction of rows that store a random sequence against T / N as points, with Cover's count as lines.

    **Arguments:**

    - `experiment`: the result of `gnode.theory.capacity_experiment`.
    - `points`: the resolution of the load axis.

    **Returns:** the figure.
    """
    figure, (axis,) = new_figure(4.8, 3.0)
    limit = gardner_capacity()
    axis.axvline(limit, color="0.6", lw=1, ls="--")
    largest = max(longest.max() / units for longest, units in zip(experiment.longest, experiment.units))
    furthest = max(1.5 * limit, largest)
    handles: list[Any] = [
        Line2D([], [], color="0.3", lw=1.3, label="Cover's count"),
        Line2D([], [], color="0.3", ls="", marker="o", ms=3.5, label="measured"),
        Line2D([], [], color="0.6", lw=1, ls="--", label=r"$\alpha_c$ = 2"),
    ]
    for index, units in enumerate(experiment.units):
        tint = ordered_colour(index, len(experiment.units))
        transitions = np.arange(1, int(furthest * units) + 1)
        exact = [cover_probability(int(t), units - 1) for t in transitions]
        axis.plot(transitions / units, exact, color=tint, lw=1.3)
        loads = np.unique(np.round(np.linspace(0.5, furthest, points // 3) * units)) / units
        fraction = experiment.stored_fraction(index, loads)
        axis.plot(loads, fraction, "o", ms=3.5, color=tint, label=f"N = {units}")
        handles.append(Patch(color=tint, label=f"N = {units}"))
    axis.set_xlabel("Transitions per unit T / N")
    axis.set_ylabel("Fraction of rows stored")
    axis.set_xlim(0.5, furthest)
    add_legend(figure, handles, where="right upper", columns=1)
    return figure


def _legend(figure: Figure, where: Any, **options: Any) -> None:
    figure.legend(loc=where, frameon=False, fontsize=8, **options)
