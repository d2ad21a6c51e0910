"""The findings about a network in words and tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gnode import errors
from gnode.analysis import STATUSES, AmplitudeError, Attractor, Findings, FixedPoints, LyapunovExponents
from gnode.report._page import Section


def sections(found: Findings, figures: Mapping[str, Figure]) -> list[Section]:
    """The findings in words and tables. `figures` by name: flow, components, eigenvalues, attractor,
    variance.
    """
    made = [
        _fixed_points(found.fixed_points),
        _stability(found),
        _attractor(found.attractor, found.slow_count, found.visited_count),
        _memory(found.attractor, found.errors_by_amplitude),
        _dynamics(found),
    ]
    captions = {
        "flow": (0, _flow_caption(found)),
        "components": (
            0,
            "Trajectories (grey) and fixed points along the principal components of the visited states.",
        ),
        "eigenvalues": (
            1,
            "Eigenvalues at the fixed points: of the flow, and of the map that the solver iterates.",
        ),
        "attractor": (
            2,
            "The slow set in output coordinates; its eigenvalues; how far outputs drift without input.",
        ),
        "variance": (
            4,
            "How much of the variance of the visited states the first principal components explain.",
        ),
    }
    for name, figure in figures.items():
        place, caption = captions[errors.one_of("figure", name, captions)]
        made[place].figures.append((figure, caption))
    return made


def _fixed_points(points: FixedPoints) -> Section:
    starts = len(points.outcomes)
    counts = ", ".join(f"{count} {_words(status)}" for status, count in points.counts.items())
    section = Section("Fixed points", [f"The search began at {starts} states and ended as follows: {counts}."])
    if not len(points):
        section.nothing = f"None found: no start of {starts} led to a fixed point, a slow point or a closed gate."
        return section
    exact = points.select(status="equilibrium")
    kinds = ", ".join(f"{int(np.sum(exact.kind == kind))} {kind}" for kind in np.unique(exact.kind))
    if len(exact):
        section.paragraphs.append(
            f"{len(exact)} different equilibria were found ({kinds}). At the worst of them |F(h) - h| is "
            f"{exact.residual.max():.1e} and |dh/dt| is {exact.speed.max():.1e} per second, in double "
            "precision; "
            f"points closer than {points.settings.merge_radius:g} to each other count as one."
        )
    else:
        section.nothing = "No equilibrium was found: every point below only moves slowly, or is held by a shut gate."
    alone = int(np.sum(points.on_continuum))
    section.paragraphs.append(
        f"{alone} of the {len(points)} points have a direction along which nothing pulls or pushes, as on a continuum."
        if alone
        else "No point has a direction along which nothing pulls or pushes: all of them are isolated."
    )
    section.header = (
        "point",
        "status",
        "class",
        "|F(h) - h|",
        "|dh/dt| (1/s)",
        "starts",
        "distance to visited",
        "output",
    )
    order = np.argsort(-points.multiplicity, kind="stable")[:20]
    section.rows = [_point_row(points, int(index)) for index in order]
    if len(points) > len(order):
        section.paragraphs.append(f"The table shows the {len(order)} that most starts led to.")
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
    clash = found.fixed_points.stability.disagrees
    section.paragraphs.append(
        "The spectral abscissa is the fastest rate of growth near a point: below zero small disturbances "
        "die out. The "
        f"network is trained as a map with steps of {found.dt:g} s; that map is stable where its radius is "
        "below 1."
    )
    if clash.any():
        section.paragraphs.append(
            f"At {int(clash.sum())} of {len(clash)} points flow and map do not have the same class; there "
            "the network "
            f"behaves as the map says."
        )
    elif len(clash):
        section.paragraphs.append("Flow and map agree on the class of every point.")
    return section


def _attractor(measured: Attractor | None, settled: int, visited: int) -> Section:
    section = Section("Continuous attractor")
    section.paragraphs.append(
        f"Left without input, {settled} of {visited} visited states settle where they hardly move."
    )
    if measured is None:
        section.nothing = "None found: too few states settle for a set of memories to be measured."
        return section
    low, high = measured.shape.low, measured.shape.high
    ranges = "; ".join(f"output {i + 1} from {a:.2f} to {b:.2f}" for i, (a, b) in enumerate(zip(low, high)))
    section.paragraphs.append(
        f"They lie on a set of dimension {measured.dimension} (local principal components; "
        f"{measured.geometry.agreement:.0%} "
        f"of its points agree; by eigenvalues it is {measured.spectral_dimension}). In output coordinates "
        "its shape is "
        f"closest to: {measured.shape.name}; {ranges}."
    )
    gap = measured.gap
    if gap is not None:
        section.paragraphs.append(
            f"Along the set the fastest rate is {measured.tangent_rate:.3g} per second, across it the "
            "slowest is "
            f"{measured.normal_rate:.3g}: a ratio of {gap:.3g}."
        )
    if measured.gating is not None:
        gate = ", ".join(f"{value:.2f}" for value in measured.gating.components[:6])
        section.paragraphs.append(
            f"On it the gate's components are typically {gate} (norm {measured.gating.gate_norm:.2g}) and "
            "|-h + F| is "
            f"{measured.gating.drift_norm:.2g}: "
            + (
                "the states would rest even without the gate."
                if measured.gating.drift_is_smaller
                else "the gate holds them."
            )
        )
    verdict = "is" if measured.is_continuous_attractor else "is not"
    section.paragraphs.append(f"By the definition below, to the tolerances given, it {verdict} a continuous attractor.")
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
        section.nothing = "None found: without a set of slow states there is no lifetime to measure."
    else:
        lasts = f"{memory.median:.3g} s" if np.isfinite(memory.median) else f"longer than {memory.horizon:.3g} s"
        section.paragraphs.append(
            f"Half of the memories last {lasts} before the output is off by {memory.tolerance:g}; "
            f"{memory.surviving:.0%} "
            f"outlast the {memory.horizon:.3g} s that were simulated."
        )
    if by_amplitude:
        section.paragraphs.append("Error on new trials, by the size of the pulses to be remembered:")
        section.header = ("pulse size", "mean square error", "upper quartile", "trials")
        section.rows = [
            (f"{one.low:g} to {one.high:g}", f"{one.mean_square:.4f}", f"{one.upper_quartile:.4f}", one.count)
            for one in by_amplitude
        ]
    return section


def _dynamics(found: Findings) -> Section:
    section = Section("Trajectories")
    needed = found.components.needed(0.9)
    section.paragraphs.append(
        f"{needed} principal component{'s' if needed > 1 else ''} explain 90% of the variance of the visited states."
    )
    if found.driven is not None:
        section.paragraphs.append(_exponents(found.driven))
    return section


def _exponents(driven: LyapunovExponents) -> str:
    if driven.status != "finished":
        return "The driven trajectory did not stay finite, so it has no Lyapunov exponents."
    values = ", ".join(f"{a:.2f} ± {b:.2f}" for a, b in zip(driven.exponents, driven.standard_error))
    verdict = "forgets small disturbances" if driven.exponents[0] < 0 else "amplifies small disturbances"
    return f"Under the task's input the largest Lyapunov exponents are {values} per second: it {verdict}."


def _flow_caption(found: Findings) -> str:
    text = "The flow without input. Colour: speed; white lines: direction; black lines: one coordinate rests."
    if found.field is not None and found.field.share_leaving > 1e-6:
        text += f" {found.field.share_leaving:.0%} of the squared speed leaves this plane and is not seen here."
    return text


def _words(name: str) -> str:
    return str(name).replace("_", " ")
