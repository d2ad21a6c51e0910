"""The findings about a network as text and tables."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gnode import errors
from gnode.analysis import STATUSES, Findings, FixedPoints, LyapunovExponents
from gnode.arguments import checked
from gnode.explorer.verdict import held_at
from gnode.report._page import Section
from gnode.wording import plural

SMALLEST_SHARE = 1e-6
"""Of the flow that leaves a plane: less is rounding."""


@checked
def sections(found: Findings, figures: Mapping[str, Figure], outputs: Sequence[str] | None = None) -> list[Section]:
    """Describes findings in text and tables.

    **Arguments:**

    - `found`: the findings.
    - `figures`: by name, any of "flow", "components", "eigenvalues", "attractor" and "variance".

    **Returns:** the sections of a report: words and figures first, then the tables, which are folded.

    No example: the findings of a network take several seconds; see `study`.
    """
    in_order = [
        _fixed_points(found.fixed_points),
        _stability(found),
        _attractor(found, outputs),
        _memory(found),
        _dynamics(found),
    ]
    captions = {
        "flow": (0, flow_caption(found)),
        "components": (0, "Trajectories (grey) and fixed points along the principal components of the visited states."),
        "eigenvalues": (1, "Eigenvalues at the fixed points: of the flow, and of the map that the solver iterates."),
        "attractor": (
            2,
            f"The slow set in output coordinates; its eigenvalues; the drift of outputs {held_at(found)}.",
        ),
        "variance": (4, "The variance of the visited states explained by the first principal components."),
    }
    for name, figure in figures.items():
        place, caption = captions[errors.one_of("figure", name, captions)]
        in_order[place].figures.append((figure, caption))
    return in_order + tables(found)


def flow_caption(found: Findings) -> str:
    """Returns the caption of the flow field."""
    text = f"The flow {held_at(found)}. Colour: speed; white lines: streamlines; black lines: nullclines."
    if found.field is not None and found.field.share_leaving > SMALLEST_SHARE:
        text += f" {found.field.share_leaving:.0%} of the squared speed leaves this plane and is not shown."
    return text


def _fixed_points(points: FixedPoints) -> Section:
    section, starts = Section("Search for fixed points"), len(points.outcomes)
    if not len(points):
        section.nothing = f"None found: no start of {starts} led to a fixed point, a slow point or a closed gate."
        section.paragraphs.append(_outcomes(points))
        return section
    exact, marginal = points.select(status="equilibrium"), int(np.sum(points.on_continuum))
    if not len(exact):
        section.nothing = "No equilibrium was found: every point below moves slowly or has a closed gate."
    section.paragraphs.append(_counted(points, exact, starts))
    section.paragraphs.append(
        f"{marginal} of the {len(points)} points have a marginal direction: they look like samples of a continuum of "
        f"resting states, of which a search with more starts would find more, not {marginal} separate memories."
        if marginal
        else "No point has a marginal direction: all of them are isolated."
    )
    return section


def _counted(points: FixedPoints, exact: FixedPoints, starts: int) -> str:
    """Says in a sentence what the numbers of points mean."""
    kinds = ", ".join(f"{int(np.sum(exact.kind == kind))} {kind}" for kind in np.unique(exact.kind))
    rest = (
        [f"{len(exact)} {'equilibrium' if len(exact) == 1 else 'equilibria'} ({kinds}), at rest"] if len(exact) else []
    )
    for status, meaning in (("slow", "where the state nearly rests"), ("closed_gate", "held by a shut gate alone")):
        if number := int(np.sum(points.status == status)):
            named = {"slow": "slow point", "closed_gate": "closed-gate point"}[status]
            rest.append(f"{plural(number, named)}, {meaning}")
    ended = f"ended at {plural(len(points), 'distinct point')}"
    return f"A search from {plural(starts, 'visited state')} {ended}: {'; '.join(rest)}."


def _outcomes(points: FixedPoints) -> str:
    counts = ", ".join(f"{count} {_words(status)}" for status, count in points.counts.items())
    return f"The search started at {len(points.outcomes)} states, with these outcomes: {counts}."


def tables(found: Findings) -> list[Section]:
    """Returns the numbers behind the words, for those who look for them."""
    made = [_point_table(found.fixed_points), _stability_table(found), *_item_tables(found)]
    return [dataclasses.replace(table, folded=True) for table in made if table.rows]


def _point_table(points: FixedPoints) -> Section:
    order = np.argsort(-points.multiplicity, kind="stable")[:20]
    shown = "The table shows the 20 points at which most starts ended. " if len(points) > len(order) else ""
    exact, radius = points.select(status="equilibrium"), points.settings.merge_radius
    text = f"{shown}{_outcomes(points)}"
    if len(exact):
        text += (
            f" The equilibria's largest residual |F(h) - h| is {exact.residual.max():.1e} and their largest speed "
            f"{exact.speed.max():.1e} per second, in double precision; points closer than {radius:g} count as one."
        )
    used = [name for name in STATUSES if np.any(points.outcomes == name)]
    meaning = " ".join(f"{_words(name).capitalize()}: {STATUSES[name]}." for name in used)
    section = Section("Table: points by number of starts", [text, meaning])
    section.header = ("point", "status", "class", "|dh/dt| (1/s)", "starts", "distance to visited", "output")
    section.rows = [_point_row(points, int(index)) for index in order]
    return section


def _point_row(points: FixedPoints, index: int) -> tuple[Any, ...]:
    output = ", ".join(f"{value:.3f}" for value in points.outputs[index][:4])
    return (
        index + 1,
        _words(points.status[index]),
        points.kind[index],
        "at rest" if points.status[index] == "equilibrium" else f"{points.speed[index]:.1e}",
        int(points.multiplicity[index]),
        f"{points.distance[index]:.3f}",
        output,
    )


def _stability(found: Findings) -> Section:
    section = Section("Stability")
    disagrees = found.fixed_points.stability.disagrees
    if not len(found.fixed_points) and not len(found.paper_points):
        section.paragraphs.append("There is nothing to judge: none found.")
        return section
    section.paragraphs.append(
        "The spectral abscissa is the largest growth rate of perturbations near a point: if it is negative, small "
        f"perturbations decay. The network is trained as a map with steps of {found.dt:g} s; that map is stable where its "
        "spectral radius is below 1."
    )
    if not found.fixed_points.stability.is_flow:
        section.paragraphs.append(
            "The cell is that map alone, and no flow: growth rates are those of the map, ln|mu| / dt, and the flow that is "
            "drawn is the mean velocity of a step."
        )
    elif disagrees.any():
        section.paragraphs.append(
            f"At {int(disagrees.sum())} of {len(disagrees)} points flow and map differ in class; there the network behaves "
            f"like the map."
        )
    elif len(disagrees):
        section.paragraphs.append("Flow and map agree on the class of every point.")
    return section


def _stability_table(found: Findings) -> Section:
    section = Section("Table: stability")
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
    section.rows = rows if any(row[1] for row in rows) else ()
    return section


def _attractor(found: Findings, outputs: Sequence[str] | None) -> Section:
    measured, section = found.attractor, Section("Continuous attractor")
    held = held_at(found)
    section.paragraphs.append(
        f"{held[0].upper()}{held[1:]}, {found.slow_count} of {found.visited_count} visited states settle where they hardly "
        f"move."
    )
    if measured is None:
        section.nothing = "None found: too few states settle for a slow set to be measured."
        return section
    low, high = measured.shape.low, measured.shape.high
    names = [f"output {number + 1}" for number in range(len(low))] if outputs is None else outputs
    ranges = "; ".join(f"{name} from {a:.2f} to {b:.2f}" for name, a, b in zip(names, low, high))
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
    failing = [check.item for check in measured.definition if not check.holds]
    verdict = "is" if measured.is_continuous_attractor else "is not"
    which = f" (it fails in {plural(len(failing), 'condition')}: {', '.join(failing)})" if failing else ""
    section.paragraphs.append(
        f"By the paper's definition, with the tolerances in the table below, it {verdict} a continuous attractor{which}."
    )
    return section


def _item_tables(found: Findings) -> list[Section]:
    """The conditions of the definition, and the errors by amplitude."""
    checks = () if found.attractor is None else found.attractor.definition
    rows = [
        (
            check.item,
            check.statement,
            ", ".join(f"{_words(name)} {value:.3g}" for name, value in check.measured.items()),
            f"{check.tolerance:.3g}",
            "yes" if check.holds else "no",
        )
        for check in checks
    ]
    header = ("item", "condition", "measured", "tolerance", "holds")
    conditions = Section("Table: the definition of a continuous attractor", header=header, rows=rows)
    amplitudes = Section("Table: error on new trials by the amplitude of the pulses")
    amplitudes.header = ("amplitude", "mean square error", "upper quartile", "trials")
    amplitudes.rows = [
        (f"{error.low:g} to {error.high:g}", f"{error.mean_square:.4f}", f"{error.upper_quartile:.4f}", error.count)
        for error in found.errors_by_amplitude
    ]
    return [conditions, amplitudes]


def _memory(found: Findings) -> Section:
    section = Section("Memory")
    memory = None if found.attractor is None else found.attractor.memory
    if memory is None:
        section.nothing = "None found: without a slow set there is no lifetime to measure."
    else:
        lasts = f"{memory.median:.3g} s" if np.isfinite(memory.median) else f"longer than {memory.horizon:.3g} s"
        section.paragraphs.append(
            f"Half of the memories last {lasts} before the output is off by {memory.tolerance:g}; {memory.surviving:.0%} "
            f"outlast the simulated {memory.horizon:.3g} s."
        )
    if found.errors_by_amplitude:
        parts = [f"{one.mean_square:.2g} from {one.low:g} to {one.high:g}" for one in found.errors_by_amplitude]
        section.paragraphs.append(
            f"The mean square error on new trials by the amplitude of pulses: {', '.join(parts)}."
        )
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


def _words(name: str) -> str:
    return str(name).replace("_", " ")
