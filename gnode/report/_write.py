"""Analyses a run and writes its report: report.html, the figures, and analysis.json."""

import html
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gnode import errors, files, tasks
from gnode.analysis import PAPER_RANGES, AmplitudeError, Attractor, Findings, study, trial_error
from gnode.arguments import check_takes, checked
from gnode.explorer.run_page import NotExportable, run_page
from gnode.explorer.verdict import Judged, held_at, judge, verdict
from gnode.network import Network
from gnode.os_errors import as_path
from gnode.plots import analysis as draw
from gnode.plots import save
from gnode.report._classes import ENDS, class_figures, class_numbers, class_section, class_table
from gnode.report._page import Section, section_html, write_page
from gnode.report._sections import SMALLEST_SHARE, flow_caption, sections
from gnode.report._training import training_figures, training_sections
from gnode.train import Run
from gnode.types import as_key
from gnode.wording import plural

FOLDER = "analysis"
"""The default subfolder of a run for its report."""
REPORT = "report.html"
NUMBERS = "analysis.json"
"""The file with the numbers of a report."""
FORMATS = ("png", "pdf")
PULSE_BINS, PULSE_WATCHED = 2, 30
"""The length of the pulse whose effect is drawn, and of the drawn trajectory, in bins."""
MOST_PULSES = 8
"""With more inputs than this the effects of pulses are not drawn: they would hide the flow."""
NEW_TRIALS = 200
"""The number of trials per range of amplitudes."""

INSIDE = ("flow", "components", "eigenvalues", "attractor", "variance")
"""The figures of what was found inside a network."""
MOVING = ("flow", "components", "trial")
"""The figures whose subject the explorer shows, and shows moving: they stay files beside the page."""
NO_FLOW = (
    "The network, a {}, is not a cell that runs at a constant input, so it has no flow: fixed points, stability, attractors "
    "and flow fields are left out."
)

COLUMNS = ("equilibria", "stable", "median abscissa (1/s)", "slow set", "median memory (s)")
"""The columns of `summary_row`, after the name."""


@checked
def write_report(
    run: Run,
    out: str | Path | None = None,
    *,
    name: str | None = None,
    x: Any = None,
    starts: int = 10_000,
    seed: int = 0,
    progress: Callable[[str], None] = lambda part: None,
) -> Findings | None:
    """Analyses the best network of a run and writes report.html, the figures and analysis.json.

    **Arguments:**

    - `run`: a run of any network on any task, from `gnode.fit` or `gnode.load`.
    - `out`: the folder to write to; by default `analysis` in the run's folder.
    - `name`: the name in the heading; by default that of the run's folder, or of its task.
    - `x`: the constant input at which the network is analysed, one number per input; zero by default.
    - `starts`: the number of visited states at which the search for fixed points starts.
    - `seed`: the seed of their choice.
    - `progress`: called with the name of each analysis before it starts.

    **Returns:** the `Findings` in the report; None for a network that is not a `gnode.Network`, which has no flow.

    **Raises:** `ArgumentError` if there is no folder to write to.

    No example: it needs a trained run.
    """
    check_takes("progress", progress)
    as_key(seed, "seed")
    errors.whole("starts", starts)
    if out is None and run.folder is None:
        raise errors.ArgumentError("out is missing: the run has no folder, so pass one, such as out='report'.")
    target = files.inside(run.folder, FOLDER) if out is None and run.folder is not None else as_path("out", str(out))
    if name is None:
        name = run.task.name if run.folder is None else run.folder.resolve().name
    states = np.asarray(run.states, dtype=np.float64)
    if not np.all(np.isfinite(states)):
        raise errors.ArgumentError("run has a network whose states are not finite on the validation trials.")
    found = _study(run, states, x, {"starts": starts, "key": seed, "progress": progress})
    progress("figures")
    judged = judge(run)
    figures = _figures(run, judged, found, states)
    for title, figure in figures.items():
        save(figure, target / title, FORMATS)
    said = verdict(run, judged, found)
    _write_page(target / REPORT, name, said, run, judged, found, figures)
    numbers = {"run": name, "best_loss": run.best_loss, "verdict": said} | _numbers(run, judged)
    files.write_json(target / NUMBERS, _in_words(numbers | ({} if found is None else found.summary())))
    return found


def _numbers(run: Run, judged: Judged) -> dict[str, Any]:
    scores = {"scores": {"part": judged.part, **judged.scores.scores()}}
    return scores | ({} if judged.scores.confusion is None else {"classes": class_numbers(run, judged)})


def _study(run: Run, states: np.ndarray, x: Any, how: dict[str, Any]) -> Findings | None:
    """Analyses the flow of a network, if it has one."""
    if not isinstance(run.net, Network):
        if x is not None:
            raise errors.ArgumentError(f"x is given, but a {type(run.net).__name__} has no flow at a constant input.")
        return None
    held = None if x is None else errors.array("x", x, (run.net.inputs,))
    amplitudes = _errors_by_amplitude(run, run.net)
    inputs = run.task.validation.inputs
    return study(run.net, states, dt=run.dt, x=held, inputs=inputs, errors_by_amplitude=amplitudes, **how)


@checked
def write_comparison(findings: Mapping[str, Findings | None], out: str | Path) -> None:
    """Writes a page that compares several networks, and analysis.json with their numbers.

    **Arguments:**

    - `findings`: the findings by the name of the network, from `write_report`; those that are None are counted alone.
    - `out`: the folder to write to.

    No example: it needs several trained runs.
    """
    target = as_path("out", out)
    if not findings:
        raise errors.ArgumentError("findings is empty: there is nothing to compare.")
    flows = {name: found for name, found in findings.items() if found is not None}
    section = Section(
        "Side by side", header=("network", *COLUMNS), rows=[summary_row(*item) for item in findings.items()]
    )
    if flows:
        strips = draw.abscissa_strips({name: found.paper_points.stability for name, found in flows.items()})
        variance = draw.explained_variance({name: found.components for name, found in flows.items()})
        save(strips, target / "abscissas", FORMATS)
        save(variance, target / "variance", FORMATS)
        section.figures = [
            (strips, "The spectral abscissa at every point found with the paper's settings; bars are medians."),
            (variance, "The variance of the visited states explained by their first principal components."),
        ]
    introduction = f"{len(findings)} networks; the report of each is in the folder of the same name."
    write_page(target / REPORT, "Comparison", introduction, [section])
    numbers = {name: None if found is None else found.summary() for name, found in findings.items()}
    files.write_json(target / NUMBERS, _in_words(numbers))


@checked
def summary_row(name: str, found: Findings | None) -> tuple[str, ...]:
    """Returns a row of a table about a network: its name, then `COLUMNS`.

    No example: it needs the findings of a network, from `write_report`.
    """
    if found is None:
        return (name, "no flow", *[""] * (len(COLUMNS) - 1))
    exact = found.fixed_points.select(status="equilibrium")
    abscissa = found.paper_points.stability.summary().get("abscissa")
    measured = found.attractor
    memory = None if measured is None else measured.memory
    lasts = "none found" if memory is None else f"{memory.median:.3g}"
    if memory is not None and np.isinf(memory.median):
        lasts = f"> {memory.horizon:g}"
    return (
        name,
        str(len(exact)) if len(exact) else "none found",
        str(int(np.sum(exact.kind == "stable"))),
        "none found" if abscissa is None else f"{abscissa['median']:.3f}",
        "none found" if measured is None else _described(measured),
        lasts,
    )


def _described(measured: Attractor) -> str:
    """Returns the shape with its size in the outputs: a set that is small compared with the targets stores nothing."""
    shape = measured.shape
    size = " x ".join(f"{high - low:.2g}" for low, high in zip(shape.low, shape.high))
    return f"{shape.name} of {size}, dimension {measured.dimension}"


def _write_page(
    path: Path, name: str, said: str, run: Run, judged: Judged, found: Findings | None, figures: dict[str, Figure]
) -> None:
    """Writes the page: the verdict and the explorer, training, classes, what was found inside, and the tables last.

    A network that has no flow, or whose flow the explorer's page cannot compute, has a picture in the explorer's place.
    """
    title, notes = f"Inside {name}", list[str]()
    if found is not None and isinstance(run.net, Network):
        try:
            shown = {each: figure for each, figure in figures.items() if each not in MOVING}
            below = _introduction(run, found) + "".join(map(section_html, _parts(run, judged, found, shown)))
            page = run_page(run, run.net, name=name, title=title, verdict=said, found=found, below=below)
        except NotExportable as problem:
            notes.append(f"{str(problem)[0].upper()}{str(problem)[1:]}")
        else:
            with files.writing(path.parent):
                files.write_text(path, page)
            return
    first = next(each for each in ("classes", "flow", "trial", "losses", *figures) if each in figures)
    captions = {"classes": ENDS, "flow": "" if found is None else flow_caption(found)}
    caption = captions.get(first, "An example trial: input, target and the network's output.")
    others = {each: figure for each, figure in figures.items() if each != first}
    introduction = " ".join([_about(run, found), *notes])
    parts = _parts(run, judged, found, others)
    write_page(path, title, introduction, parts, verdict=said, picture=(figures[first], caption))


def _about(run: Run, found: Findings | None) -> str:
    where = "" if found is None else f" Fixed points, stability and memory are those {held_at(found)}."
    return (
        f"A {type(run.net.cell).__name__} cell with a state of {plural(run.net.cell.state_size, 'dimension')}, trained on "
        f"{run.task.name}; best validation loss {run.best_loss:.4g}.{where}"
    )


def _introduction(run: Run, found: Findings) -> str:
    text = [_about(run, found), "The figures of this report are also beside it, as PNG and PDF."]
    if found.field is not None:
        leaving = found.field.share_leaving
        share = f"; {leaving:.0%} of the squared speed leaves its plane" if leaving > SMALLEST_SHARE else ""
        text.append(f"There flow.png shows the flow {held_at(found)}{share}.")
    return f"<p>{html.escape(' '.join(text))}</p>\n"


def _parts(run: Run, judged: Judged, found: Findings | None, figures: dict[str, Figure]) -> list[Section]:
    """Returns the sections below the verdict, with those figures that are there."""
    parts, folded = list[Section](), list[Section]()
    for part in training_sections(run, figures):
        (folded if part.folded else parts).append(part)
    if judged.scores.confusion is not None:
        parts.append(class_section(run, judged, found, figures))
        folded.append(class_table(run, judged))
    if found is None:
        parts.append(Section("Dynamics", nothing=NO_FLOW.format(type(run.net).__name__)))
    else:
        inside = {each: figures[each] for each in INSIDE if each in figures}
        for part in sections(found, inside, run.task.classes or run.task.output_names):
            (folded if part.folded else parts).append(part)
    return parts + folded


def _errors_by_amplitude(run: Run, net: Network) -> list[AmplitudeError]:
    """Measures a flip-flop network's error on new trials with pulses of several amplitudes; empty for other tasks."""
    is_flip_flop = run.task.name.startswith("flipflop") and run.task.name in tasks.TASKS
    if not is_flip_flop or run.task.options is None:
        return []
    by_range = []
    for span in PAPER_RANGES:
        trials = tasks.new_trials(run.task, NEW_TRIALS, span=span)
        by_range.append(trial_error(net, trials.inputs, trials.targets, dt=run.dt, span=span))
    return by_range


def _figures(run: Run, judged: Judged, found: Findings | None, states: np.ndarray) -> dict[str, Figure]:
    """Draws the figures of training, of classes and of what was found inside."""
    figures = training_figures(run)
    if judged.scores.confusion is not None:
        figures |= class_figures(run, judged, found)
    return figures if found is None else figures | _figures_inside(run, found, states)


def _figures_inside(run: Run, found: Findings, states: np.ndarray) -> dict[str, Figure]:
    """Draws the figures for which there are results."""
    figures, points = dict[str, Figure](), found.fixed_points
    if found.field is not None:
        pulse = _pulse(run, found)
        figures["flow"] = draw.flow_field(found.field, points, trajectories=states[:10], pulse=pulse)
    if run.net.cell.state_size > 2:
        figures["components"] = draw.principal_components(states, points, found=found.components)
        figures["variance"] = draw.explained_variance({"visited states": found.components})
    if len(points):
        figures["eigenvalues"] = draw.eigenvalues(points.stability)
    if found.attractor is not None:
        figures["attractor"] = draw.attractor(found.attractor, names=run.task.classes or run.task.output_names)
    return figures


def _pulse(run: Run, found: Findings) -> np.ndarray | None:
    """Returns the states after a pulse in each input channel, from a state at rest."""
    rest = found.fixed_points.select(kind="stable").points
    if run.net.inputs > MOST_PULSES:
        return None
    if len(rest) == 0 and found.attractor is not None:
        rest = found.attractor.points
    if len(rest) == 0:
        return None
    channels = run.net.inputs
    xs = np.zeros((channels, 1 + PULSE_WATCHED, channels), dtype=np.float32) + np.float32(found.x)
    for channel in range(channels):  # after a bin at rest: some cells feel the step of the input to the pulse
        xs[channel, 1 : 1 + PULSE_BINS, channel] += np.abs(run.task.validation.inputs).max()
    start = np.asarray(rest[0], dtype=np.float32)
    return np.asarray(run.net.run(xs, dt=run.dt, h0=start).states)


def _in_words(values: Any) -> Any:
    """Converts values to JSON: infinite numbers become the word "infinite", missing ones null."""
    if isinstance(values, Mapping):
        return {str(name): _in_words(value) for name, value in values.items()}
    if isinstance(values, list | tuple | np.ndarray):
        return [_in_words(value) for value in values]
    if isinstance(values, np.generic):
        values = values.item()
    if isinstance(values, float) and not math.isfinite(values):
        return None if math.isnan(values) else "infinite" if values > 0 else "minus infinite"
    return values
