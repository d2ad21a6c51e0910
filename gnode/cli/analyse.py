"""gnode analyse: fixed points, stability, attractors and flow of a trained network, as a report."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from gnode import errors, report, tasks, train
from gnode.analysis import PAPER_RANGES, AmplitudeError, Attractor, Findings, study, trial_error
from gnode.plots import analysis as draw
from gnode.plots.style import save
from gnode.train import Run, member, store
from gnode.train.swept import SPEC, Sweep

console = Console()
FOLDER = "analysis"
PULSE_BINS, PULSE_WATCHED = 2, 30  # the pulse whose effect is drawn, and for how many bins
FORMATS = ("png", "pdf")


def analyse(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or a folder of such folders to compare.")],
    out: Annotated[Path | None, typer.Option(help="Where to write; by default RUN/analysis.")] = None,
    starts: Annotated[
        int, typer.Option(help="How many visited states the search for fixed points begins at.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(help="Of the choice of those states.")] = 0,
) -> None:
    """Look inside a trained network: report.html, its figures, and analysis.json.

    Example: gnode analyse runs/flipflop-square-gnode-2
    """
    folders = members(run)
    target = run / FOLDER if out is None else out
    findings: dict[str, Findings] = {}
    with Progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=console) as bar:
        for name, folder in folders.items():
            task = bar.add_task(name)

            def tell(part: str, task: Any = task, name: str = name) -> None:
                bar.update(task, description=f"{name}: {part}")

            here = target if len(folders) == 1 else target / name
            findings[name] = _one(train.load(folder), name, here, starts, seed, tell)
            bar.update(task, description=f"{name}: done", total=1, completed=1)
    if len(folders) > 1:
        _compare(findings, target)
    _print(findings)
    console.print(f"Report: {target / 'report.html'}", soft_wrap=True)


def members(folder: Path) -> dict[str, Path]:
    """By name: the run in a folder, the best run of each model of a sweep, or the runs in its subfolders."""
    if not folder.is_dir():
        raise errors.StoreError(f"{folder} is not a folder; pass the folder of a run, such as runs/square.")
    if (folder / store.CONFIG).exists():
        return {folder.resolve().name: folder}
    found = _best_of_sweep(folder) if (folder / SPEC).exists() else {}
    found = found or {path.parent.name: path.parent for path in sorted(folder.glob(f"*/{store.CONFIG}"))}
    if not found:
        raise errors.StoreError(f"{folder} holds no run (no {store.CONFIG} in it or in its subfolders).")
    return found


def _best_of_sweep(folder: Path) -> dict[str, Path]:
    """As in the paper: of each model and state size, the member with the least validation loss."""
    best: dict[str, tuple[float, Path]] = {}
    for row in Sweep(folder).counting_rows():
        name = f"{row.get('model', 'network')}-{row.get('state', 'N')}"
        loss = float(row["best_loss"])
        if np.isfinite(loss) and loss < best.get(name, (np.inf, folder))[0]:
            best[name] = (loss, member.folder_of(folder, row["member"]))
    return {name: path for name, (_, path) in best.items()}


def _one(run: Run, name: str, target: Path, starts: int, seed: int, progress: Any) -> Findings:
    """Analyses one run and writes its report."""
    states = np.asarray(run.states, dtype=np.float64)
    amplitudes = _errors_by_amplitude(run)
    inputs = run.task.validation.inputs
    found = study(
        run.net,
        states,
        dt=run.dt,
        inputs=inputs,
        errors_by_amplitude=amplitudes,
        starts=starts,
        key=seed,
        progress=progress,
    )
    progress("figures")
    figures = _figures(run, found, states)
    for title, figure in figures.items():
        save(figure, target / title, FORMATS)
    introduction = (
        f"A {type(run.net.cell).__name__} cell with a state of {run.net.cell.state_size} dimensions, trained "
        "on "
        f"{run.task.name}; best validation loss {run.best_loss:.4g}. All that follows is at zero input "
        "unless it says so."
    )
    report.write(target / "report.html", f"Inside {name}", introduction, report.sections(found, figures))
    report.write_json(target / "analysis.json", {"run": name, "best_loss": run.best_loss} | found.summary())
    return found


def _errors_by_amplitude(run: Run) -> list[AmplitudeError]:
    """Of flip-flop networks: the error on new trials with pulses of other sizes than those of training."""
    if not run.task.name.startswith("flipflop") or run.task.options is None:
        return []
    found = []
    for span in PAPER_RANGES:
        trials = tasks.new_trials(run.task, 200, span=span)
        found.append(trial_error(run.net, trials.inputs, trials.targets, dt=run.dt, span=span))
    return found


def _figures(run: Run, found: Findings, states: np.ndarray) -> dict[str, Figure]:
    """Every figure that there is something to show in."""
    figures: dict[str, Figure] = {"variance": draw.explained_variance({"visited states": found.components})}
    points = found.fixed_points
    if found.field is not None:
        pulse = _pulse(run, found)
        figures["flow"] = draw.flow_field(found.field, points, trajectories=states[:10], pulse=pulse)
    if run.net.cell.state_size > 2:
        figures["components"] = draw.principal_components(states, points, found=found.components)
    if len(points):
        figures["eigenvalues"] = draw.eigenvalues(points.stability)
    if found.attractor is not None:
        figures["attractor"] = draw.attractor(found.attractor)
    return figures


def _pulse(run: Run, found: Findings) -> np.ndarray | None:
    """What a pulse in each channel does to a state at rest."""
    rest = found.fixed_points.select(kind="stable").points
    if len(rest) == 0 and found.attractor is not None:
        rest = found.attractor.points
    if len(rest) == 0:
        return None
    channels = run.net.cell.inputs
    xs = np.zeros((channels, PULSE_WATCHED, channels), dtype=np.float32)
    for channel in range(channels):
        xs[channel, :PULSE_BINS, channel] = np.abs(run.task.validation.inputs).max()
    start = np.asarray(rest[0], dtype=np.float32)
    after = np.asarray(run.net.run(xs, dt=run.dt, h0=start).states)
    return np.concatenate([np.broadcast_to(start, (channels, 1, start.size)), after], axis=1)


def _compare(findings: dict[str, Findings], target: Path) -> None:
    """Writes a page that shows all networks side by side."""
    strips = draw.abscissa_strips({name: found.paper_points.stability for name, found in findings.items()})
    variance = draw.explained_variance({name: found.components for name, found in findings.items()})
    save(strips, target / "abscissas", FORMATS)
    save(variance, target / "variance", FORMATS)
    section = report.Section(
        "Side by side", header=("network", *_COLUMNS), rows=[_row(*item) for item in findings.items()]
    )
    section.figures = [
        (strips, "Spectral abscissa at every point found with the paper's settings; bars are medians."),
        (variance, "Variance of the visited states explained by their first principal components."),
    ]
    introduction = f"{len(findings)} networks; each has its own report in the folder of its name."
    report.write(target / "report.html", "Comparison", introduction, [section])
    report.write_json(target / "analysis.json", {name: found.summary() for name, found in findings.items()})


_COLUMNS = ("equilibria", "stable", "median abscissa (1/s)", "slow set", "median memory (s)")


def _row(name: str, found: Findings) -> tuple[str, ...]:
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
    """Its shape, with its size in the outputs: a set of any shape that is tiny beside the targets remembers nothing."""
    shape = measured.shape
    size = " x ".join(f"{high - low:.2g}" for low, high in zip(shape.low, shape.high))
    return f"{shape.name} of {size}, dimension {measured.dimension}"


def _print(findings: dict[str, Findings]) -> None:
    table = Table("network", *_COLUMNS)
    for item in findings.items():
        table.add_row(*_row(*item))
    console.print(table)
