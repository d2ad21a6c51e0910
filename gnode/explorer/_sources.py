"""What the explorer shows of each kind of source: a run, a network, a cell, a function."""

import dataclasses
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from gnode import errors
from gnode.analysis import (
    FEWEST_SLOW_STATES,
    Attractor,
    FixedPoints,
    attractor,
    box_starts,
    fixed_points,
    slow_states,
    system,
)
from gnode.cells import Cell
from gnode.explorer._document import Subject, network_document
from gnode.explorer._explore import Found
from gnode.explorer._film import frames_of
from gnode.explorer._functions import check_is_flow
from gnode.explorer._trials import shown_trials
from gnode.explorer.verdict import judge, verdict
from gnode.network import AbstractNetwork, Network
from gnode.solve import Solver, advance
from gnode.sweeps import is_sweep
from gnode.train import Run, load
from gnode.types import numpy_generator

DRAWN, DRAWN_BINS = 40, 100
"""The number of trajectories that are computed for a source without trials, and their bins."""
MOST_VISITED = 200
"""The number of validation trials whose states are looked at."""
UNEQUAL = "The bins of the trials differ in length; the page plays all of them as {:g} s long, so its outputs differ."
FRAME_SHARE = 0.1
"""The share of states and trials that a frame of a film holds."""
FEWER_STARTS = 5
"""A frame of a film is searched for fixed points from the number of starts divided by this."""

MOST_SCATTERED = 12
"""Starts are scattered in state spaces of up to so many dimensions: in a larger one a box is nearly all corners."""
BEYOND = 0.5
"""How far they reach beyond the visited states, as a share of the extent of these."""


@dataclasses.dataclass(frozen=True)
class Seen:
    """What a verdict is made of."""

    fixed_points: FixedPoints
    attractor: Attractor | None
    x: np.ndarray
    slow: np.ndarray


def networks(source: Any, name: str | None, film: bool, options: dict[str, Any]) -> Found:
    """Returns the title, the verdict and the documents of the networks of a source."""
    if isinstance(source, str | Path):
        source = _loaded(Path(source), options["trust"])
    if isinstance(source, Run):
        return _of_run(source, name, film, options)
    if not callable(source) and not isinstance(source, AbstractNetwork | Cell):
        raise errors.ArgumentError(
            f"source is {errors.shown(source)}, but must be a run, a network, a cell, a function f(h, x), a run's folder or "
            f"the name of a network that comes with gnode."
        )
    if film:
        raise errors.ArgumentError("film is asked for, but only a run that was trained with gnode.train.Film has one.")
    return _of_flow(source, name, options)


def _loaded(folder: Path, trust: bool) -> Run:
    if is_sweep(folder):
        raise errors.ArgumentError(
            f"{folder} is a sweep; pass one of its members, such as {folder / 'members' / '0000'}."
        )
    return load(folder, trust=trust)


def _of_run(run: Run, name: str | None, film: bool, options: dict[str, Any]) -> Found:
    if not isinstance(run.net, Network):
        raise errors.ArgumentError(
            f"the network, a {type(run.net).__name__}, is not a cell that runs at a constant input: it has no flow to show."
        )
    check_is_flow(run.net.cell)
    named = name or (run.task.name if run.folder is None else run.folder.resolve().name)
    frames = frames_of(run) if film else {}
    subject = run_subject(run, run.net, named, options["x"], run.best_epoch if film else None)
    subject = dataclasses.replace(subject, share=options["share"])
    seen = _seen(subject, options)
    options["progress"]("verdict")
    said = verdict(run, judge(run), seen)
    # A verdict is about where the network goes in its task; points beside that are for the page only.
    points = _points(subject, options, scattered=True) if options.get("scattered") else seen.fixed_points
    own = network_document(subject, points, seen.slow)
    fewer = options | {"starts": max(1, options["starts"] // FEWER_STARTS)}
    return named, said, [own, *(_frame(run, net, named, epoch, fewer) for epoch, net in frames.items())]


def _frame(run: Run, net: Network, name: str, epoch: int, options: dict[str, Any]) -> dict[str, Any]:
    options["progress"](f"epoch {epoch}")
    subject = dataclasses.replace(run_subject(run, net, name, options["x"], epoch), share=FRAME_SHARE)
    points, slow = _searched(subject, options | {"progress": lambda part: None})
    return network_document(subject, points, slow)


def run_subject(run: Run, net: Network, name: str, x: Any = None, epoch: int | None = None) -> Subject:
    """Returns what is shown of a network that was trained in a run: the best one, or one of its film."""
    task = run.task
    trials = task.validation.take(slice(0, MOST_VISITED))
    lasting = np.arange(trials.bins) < trials.lengths[:, None]
    went = net.run(trials.inputs, dt=np.where(lasting, trials.dt, 0.0))
    states = np.asarray(went.states, np.float64)
    if not np.all(np.isfinite(states)):
        raise errors.ArgumentError("run has a network whose states are not finite on the validation trials.")
    return Subject(
        source=net,
        name=name,
        dt=run.dt,
        solver=net.solver,
        states=states,
        trials=shown_trials(task, trials, np.asarray(went.outputs)),
        x=None if x is None else errors.array("x", x, (net.inputs,)),
        input_names=task.input_names or (),
        output_names=task.classes or task.output_names or (),
        classes=task.classes if task.loss == "cross_entropy" else None,
        epoch=epoch,
        notes=(UNEQUAL.format(run.dt),) if np.ptp(np.broadcast_to(trials.dt, lasting.shape)[lasting]) > 0 else (),
    )


def _of_flow(source: Any, name: str | None, options: dict[str, Any]) -> Found:
    """A network, a cell or a function, without trials."""
    of = system(source, x=options["x"], state=options["state"])
    check_is_flow(of.cell)
    kept = source if isinstance(source, Network) else of.cell
    dt = errors.positive("dt", 0.1 / float(of.rate) if options["dt"] is None else options["dt"])
    is_function = not isinstance(source, AbstractNetwork | Cell)
    subject = Subject(
        source=kept,
        name=name or "",
        dt=dt,
        solver=of.solver,
        states=_trajectories(of.cell, of.solver, np.asarray(of.x), dt, options),
        x=None if options["x"] is None else np.asarray(of.x),
        trained=False,
        label="a function" if is_function else None,
        equation="dh/dt = f(h, x)" if is_function else None,
    )
    subject = dataclasses.replace(subject, name=name or ("f(h, x)" if is_function else subject.words[0]))
    seen = _seen(subject, options, scattered=True)
    return subject.name, None, [network_document(subject, seen.fixed_points, seen.slow)]


def _trajectories(cell: Cell, solver: Solver, x: np.ndarray, dt: float, options: dict[str, Any]) -> np.ndarray:
    """Returns the states of interest: those given, or those that states given or drawn at random lead to."""
    size, given = cell.state_size, options["states"]
    drawn = numpy_generator(options["seed"], "seed").normal(size=(DRAWN, size))
    starts = drawn if given is None else errors.array("states", given)
    if starts.ndim not in (2, 3) or starts.shape[-1] != size or starts.size == 0:
        raise errors.ArgumentError(
            f"states has shape {starts.shape}, but must be (trials, time, {size}) or (count, {size})."
        )
    if starts.ndim == 3:
        return starts

    def step(h: Any, _: Any) -> tuple[Any, Any]:
        held = jnp.asarray(x, h.dtype)
        return (after := advance(cell, h, (held, held, jnp.asarray(dt, h.dtype)), solver)), after

    run = jax.jit(jax.vmap(lambda h: jax.lax.scan(step, h, None, length=DRAWN_BINS)[1]))
    states = np.asarray(run(jnp.asarray(starts, jnp.float32)), np.float64)
    states = states[np.all(np.isfinite(states), axis=(1, 2))]
    if not len(states):
        raise errors.ArgumentError("states lead to values that are not finite; pass others, or a smaller dt.")
    return states


def _seen(subject: Subject, options: dict[str, Any], scattered: bool = False) -> Seen:
    """Searches for fixed points and slow states, and measures the slow set of a network."""
    points, slow = _searched(subject, options, scattered)
    of = system(subject.source, x=subject.x, dt=subject.dt, method=subject.solver)
    measured = None
    if len(slow) >= FEWEST_SLOW_STATES and isinstance(subject.source, Network):
        options["progress"]("slow set")
        measured = attractor(of, slow)
    return Seen(points, measured, np.asarray(of.x), slow)


def _searched(subject: Subject, options: dict[str, Any], scattered: bool = False) -> tuple[FixedPoints, np.ndarray]:
    assert subject.states is not None
    starts, progress = errors.whole("starts", options["starts"]), options["progress"]
    progress("fixed points")
    points = _points(subject, options, scattered)
    of = system(subject.source, x=subject.x, dt=subject.dt, method=subject.solver)
    visited = subject.states.reshape(-1, of.size)
    progress("slow states")
    return points, slow_states(of, visited[:: max(1, -(-len(visited) // starts))], dt=subject.dt)


def _points(subject: Subject, options: dict[str, Any], scattered: bool) -> FixedPoints:
    """Searches from visited states, and if asked to from as many that are scattered around them."""
    assert subject.states is not None
    starts, seed = errors.whole("starts", options["starts"]), options["seed"]
    of = system(subject.source, x=subject.x, dt=subject.dt, method=subject.solver)
    visited = subject.states.reshape(-1, of.size)
    if not scattered or of.size > MOST_SCATTERED:
        return fixed_points(of, visited, most_starts=starts, key=seed)
    low, high = visited.min(axis=0), visited.max(axis=0)
    extent = np.maximum(high - low, 0.1 * np.max(high - low))
    beyond = BEYOND * np.where(extent > 0, extent, 1.0)  # all visited states may be one
    chosen = visited[np.linspace(0, len(visited) - 1, min(starts, len(visited))).round().astype(int)]
    around = box_starts(low - beyond, high + beyond, starts, key=seed)
    return fixed_points(of, np.concatenate([chosen, around]), visited=visited, most_starts=2 * starts)
