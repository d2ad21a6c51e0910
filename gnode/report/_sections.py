"""The findings about a network as text and tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gnode import errors
from gnode.analysis import STATUSES, AmplitudeError, Attractor, Findings, FixedPoints, LyapunovExponents
from gnode.arguments import checked
from gnode.report._page import Section
from gnode.wording import plural


@checked
def sections(found: Findings, figures: Mapping[str, Figure]) -> list[Section]:
    """Describes findings in text and tables.

    **Arguments:**

    - `found`: the findings.
    - `figures`: by name, any of "flow", "components", "eigenvalues", "attractor" and "variance".

    **Returns:** the sections of a report.

    No example: the findings of a network take several seconds; see `study`.
    """
    in_order = [
        _fixed_points(found.fixed_points),
        _stability(found),
        _attractor(found.attractor, found.slow_count, found.visited_count),
        _memory(found.attractor, found.errors_by_amplitude),
        _dynamics(found),
    ]
    captions = {
        "flow": (0, _flow_caption(found)),
        "components": (0, "Trajectories (grey) and fixed points along the principal components of the visited states."),
        "eigenvalues": (1, "Eigenvalues at the fixed points: of the flow, and of the map that the solver iterates."),
        "attractor": (2, "The slow set in output coordinates; its eigenvalues; the drift of outputs without input."),
        "variance": (4, "The variance of the visited states explained by the first principal components."),
    }
    for name, figure in figures.items():
        place, caption = captions[errors.one_of("figure", name, captions)]
        in_order[place].figures.append((figure, caption))
    return in_order


def _fixed_points(points: FixedPoints) -> Section:
    starts = len(points.outcomes)
    counts = ", ".join(f"{count} {_words(status)}" for status, count in points.counts.items())
    section = Section("Fixed points", [f"The search started at {starts} states, with these outcomes: {counts}."])
    if not len(points):
        section.nothing = f"None found: no start of {starts} led to a fixed point, a slow point or a closed gate."
        return section
    exact = points.select(status="equilibrium")
    kinds = ", ".join(f"{int(np.sum(exact.kind == kind))} {kind}" for kind in np.unique(exact.kind))
    if len(exact):
        section.paragraphs.append(
            f"Distinct equilibria: {len(exact)} ({kinds}). Their largest residual |F(h) - h| is "
            f"{exact.residual.max():.1e} and their largest speed |dh/dt| is {exact.speed.max():.1e} per second, in double "
            f"precision; points closer than {points.settings.merge_radius:g} count as one."
        )
    else:
        section.nothing = "No equilibrium was found: every point below moves slowly or has a closed gate."
    marginal = int(np.sum(points.on_continuum))
    section.paragraphs.append(
        f"{marginal} of the {len(points)} points have a marginal direction, as on a continuum of fixed points."
        if marginal
        else "No point has a marginal direction: all of them are isolated."
    )
    residuals = ("|F(h) - h|", "|dh/dt| (1/s)")
    section.header = ("point", "status", "class", *residuals, "starts", "distance to visited", "output")
    order = np.argsort(-points.multiplicity, kind="stable")[:20]
    section.rows = [_point_row(points, int(index)) for index in order]
    if len(points) > len(order):
        section.paragraphs.append(f"The table shows the {len(order)} points at which most starts ended.")
    section.paragraphs.append(" ".join(f"{_words(name).capitalize()}: {text}." for name, text in STATUSES.items()))
    return section


def _point_row(points: FixedPoints, index: int) -> tuple[Any, ...]:
    output = ", ".join(f"{value:.3f}" for value in points.outputs[index][:4])
    return (
        index + 1,
        _words(points.status[index]),
        points.kind[index],
        f"{points.residual[index]:.1e}",
        f"{points.speed[index]:.1e}",
        int(points.multiplicity[index]),
        f"{points.distance[index]:.3f}",
        output,
    )


def _stability(found: Findings) -> Section:
    section = Section("Stability")
    section.header = ("points", "number", "median abscissa (1/s)", "quartiles", "median radius of the map")
    rows = []
    for name, points in (("tight search", found.fixed_points), ("the paper's settings", found.paper_points)):
        summary = points.stability.summary()
        if not summary["count"]:
            rows.append((name, 0, "none found", "", ""))
            continue
        abscissa, radius = summary["abscissa"], summary.get("radius")
        span = f"{abscissa['lower_quartile']:.3f} to {abscissa['upper_quartile']:.3f}"
        middle = "" if radius is None else f"{radius['median']:.4f}"
        rows.append((name, summary["count"], f"{abscissa['median']:.3f}", span, middle))
    section.rows = rows
    disagrees = found.fixed_points.stability.disagrees
    section.paragraphs.append(
        "The spectral abscissa is the largest growth rate of perturbations near a point: if it is negative, small "
        f"perturbations decay. The network is trained as a map with steps of {found.dt:g} s; that map is stable where its "
        "spectral radius is below 1."
    )
    if disagrees.any():
        section.paragraphs.append(
            f"At {int(disagrees.sum())} of {len(disagrees)} points flow and map differ in class; there the network behaves "
            f"like the map."
        )
    elif len(disagrees):
        section.paragraphs.append("Flow and map agree on the class of every point.")
    return section


def _attractor(measured: Attractor | None, settled: int, visited: int) -> Section:
    section = Section("Continuous attractor")
    section.paragraphs.append(f"Without input, {settled} of {visited} visited states settle where they hardly move.")
    if measured is None:
        section.nothing = "None found: too few states settle for a slow set to be measured."
        return section
    low, high = measured.shape.low, measured.shape.high
    ranges = "; ".join(f"output {i + 1} from {a:.2f} to {b:.2f}" for i, (a, b) in enumerate(zip(low, high)))
    section.paragraphs.append(
        f"They lie on a set of dimension {measured.dimension} (by local principal components, which agree at "
        f"{measured.geometry.agreement:.0%} of its points; by eigenvalues it is {measured.spectral_dimension}). In output "
        f"coordinates its shape is closest to: {measured.shape.name}; {ranges}."
    )
    gap = measured.gap
    if gap is not None:
        section.paragraphs.append(
            f"The fastest rate along the set is {measured.tangent_rate:.3g} per second, the slowest rate across it is "
            f"{measured.normal_rate:.3g}: a ratio of {gap:.3g}."
        )
    if measured.gating is not None:
        gate = ", ".join(f"{value:.2f}" for value in measured.gating.components[:6])
        at_rest = (
            "would be at rest even without the gate" if measured.gating.drift_is_smaller else "are held by the gate"
        )
        section.paragraphs.append(
            f"On the set the median components of the gate are {gate} (norm {measured.gating.gate_norm:.2g}) and the median "
            f"of |-h + F| is {measured.gating.drift_norm:.2g}: the states {at_rest}."
        )
    verdict = "is" if measured.is_continuous_attractor else "is not"
    section.paragraphs.append(f"By the definition below, with these tolerances, it {verdict} a continuous attractor.")
    section.header = ("item", "condition", "measured", "tolerance", "holds")
    section.rows = [
        (
            check.item,
            check.statement,
            ", ".join(f"{_words(name)} {value:.3g}" for name, value in check.measured.items()),
            f"{check.tolerance:.3g}",
            "yes" if check.holds else "no",
        )
        for check in measured.definition
    ]
    return section


def _memory(measured: Attractor | None, by_amplitude: Sequence[AmplitudeError]) -> Section:
    section = Section("Memory")
    memory = None if measured is None else measured.memory
    if memory is None:
        section.nothing = "None found: without a slow set there is no lifetime to measure."
    else:
        lasts = f"{memory.median:.3g} s" if np.isfinite(memory.median) else f"longer than {memory.horizon:.3g} s"
        section.paragraphs.append(
            f"Half of the memories last {lasts} before the output is off by {memory.tolerance:g}; {memory.surviving:.0%} "
            f"outlast the simulated {memory.horizon:.3g} s."
        )
    if by_amplitude:
        section.paragraphs.append("The error on new trials by the amplitude of the pulses:")
        section.header = ("amplitude", "mean square error", "upper quartile", "trials")
        section.rows = [
            (f"{error.low:g} to {error.high:g}", f"{error.mean_square:.4f}", f"{error.upper_quartile:.4f}", error.count)
            for error in by_amplitude
        ]
    return section


def _dynamics(found: Findings) -> Section:
    section = Section("Trajectories")
    if np.any(found.components.explained):
        needed = found.components.needed(0.9)
        verb = "explains" if needed == 1 else "explain"
        counted = plural(needed, "principal component")
        section.paragraphs.append(f"{counted} {verb} 90% of the variance of the visited states.")
    else:
        section.paragraphs.append("The visited states do not vary.")
    if found.driven is not None:
        section.paragraphs.append(_exponents(found.driven))
    return section


def _exponents(driven: LyapunovExponents) -> str:
    if driven.status != "finished":
        return "The driven trajectory diverges, so it has no Lyapunov exponents."
    values = ", ".join(f"{a:.2f} ± {b:.2f}" for a, b in zip(driven.exponents, driven.standard_error))
    verdict = "forgets small perturbations" if driven.exponents[0] < 0 else "amplifies small perturbations"
    return f"Under the task's input the largest Lyapunov exponents are {values} per second: the network {verdict}."


def _flow_caption(found: Findings) -> str:
    text = "The flow without input. Colour: speed; white lines: streamlines; black lines: nullclines."
    if found.field is not None and found.field.share_leaving > 1e-6:
        text += f" {found.field.share_leaving:.0%} of the squared speed leaves this plane and is not shown."
    return text


def _words(name: str) -> str:
    return str(name).replace("_", " ")
