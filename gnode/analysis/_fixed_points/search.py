"""The search for fixed points by Newton's method from many starts: certified in float64, labelled, and merged."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Array, Float

from gnode import errors
from gnode.analysis._fixed_points.merging import merge, nearest_distance
from gnode.analysis._fixed_points.newton import NOT_FINITE, Newton, Problem, Solution, solve
from gnode.analysis._fixed_points.result import (
    CLOSED_GATE,
    EQUILIBRIUM,
    FOUND,
    NOT_CONVERGED,
    OUTSIDE,
    PRESETS,
    SLOW,
    FixedPoints,
    SearchSettings,
)
from gnode.analysis._stability import DEFAULT_MARGIN, stability
from gnode.analysis._system import Field, System, in_chunks, last_axis, outputs_of, states_of, system
from gnode.arguments import checked
from gnode.cells import Cell
from gnode.network import AbstractNetwork
from gnode.types import Key, numpy_generator

SHUT = 1e-3  # a gate is closed if all of its components are below this
SAME = 1e-6  # equilibria within this distance are one where new ones are counted
_MOST_EQUILIBRIA = 64  # with more of them, there are too many midpoints
_MOST_VISITED = 10_000  # distances are measured to at most this many visited states


@checked
def fixed_points(
    source: AbstractNetwork | Cell | Field | System,
    starts: Any,
    *,
    x: Any = None,
    dt: float | None = None,
    preset: str | SearchSettings = "tight",
    visited: Any = None,
    most_starts: int = 10_000,
    margin: float = DEFAULT_MARGIN,
    chunk: int = 64,
    key: Key | int = 0,
    **changes: Any,
) -> FixedPoints:
    """Searches for fixed points of dh/dt = f(h, x) at a constant input, from many starts.

    For a gated cell the search solves -h + F(h, x) = 0, for any other f(h, x) = 0, by batched Newton steps with a
    Levenberg-Marquardt fallback (see docs/analysis.md). Points closer than `merge_radius` are merged; the points of a
    continuum differ and are kept.

    **Arguments:**

    - `source`: a network, a cell, or a function f(h, x).
    - `starts`: states (any array whose last axis is the state), usually those of trajectories; `box_starts` draws them
      from a box.
    - `x`: the constant input, zero by default.
    - `dt`: the length of a bin in seconds, for the stability of the map.
    - `preset`: "tight", "paper", or `SearchSettings`; further keywords change single settings.
    - `visited`: the visited states, for the distances and for `keep`; the starts by default.
    - `most_starts`: if there are more starts than this, that many are drawn with `key`.
    - `margin`: the margin of marginal directions, see `stability`.
    - `chunk`: the number of states in memory at a time.

    **Returns:** a `FixedPoints`.

    >>> fixed_points(lambda h, x: h - h**3, [[-2.0], [0.1], [3.0]]).points.round(6).ravel() + 0.0
    array([-1.,  0.,  1.])
    """
    of = system(source, x=x, dt=dt, state=last_axis(starts, "starts"))
    settings, chunk = _settings(preset, changes), errors.whole("chunk", chunk)
    errors.not_negative("margin", margin)
    states = states_of(starts, of.size, "starts")
    seen = states if visited is None else states_of(visited, of.size, "visited")
    most_starts = errors.whole("most_starts", most_starts)
    if len(states) > most_starts:
        chosen = numpy_generator(key).choice(len(states), most_starts, replace=False)
        states = states[np.sort(chosen)]
    search = _from_starts(of, settings, states, seen, chunk)
    if settings.midpoints:
        search = _from_midpoints(of, settings, search, chunk)
    return _collect(of, settings, search, margin, chunk)


@checked
def box_starts(low: Any, high: Any, count: int, key: Key | int) -> Float[np.ndarray, "count state"]:
    """Draws `count` states uniformly from the box between `low` and `high`, which hold one bound per dimension.

    >>> box_starts([-1, -1], [1, 1], 5, key=0).shape
    (5, 2)
    """
    bounds = errors.array("low", low), errors.array("high", high)
    shapes = {bound.shape for bound in bounds} - {()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise errors.ArgumentError(
            f"low and high have shapes {bounds[0].shape} and {bounds[1].shape}, but must hold one bound per dimension."
        )
    low, high = np.broadcast_arrays(*bounds)
    if low.size == 0 or not np.all((low < high) & np.isfinite(high - low)):
        raise errors.ArgumentError("low and high must hold one bound per dimension, low < high.")
    errors.affordable("count", count, 8.0 * errors.whole("count", count) * low.size)
    return numpy_generator(key).uniform(low, high, (int(count), low.size))


@dataclasses.dataclass
class _Measured:
    """|F(h) - h|, |dh/dt|, and the largest component of the gate at each state."""

    residual: np.ndarray
    speed: np.ndarray
    gate: np.ndarray


def _settings(preset: str | SearchSettings, changes: dict[str, Any]) -> SearchSettings:
    base = preset if isinstance(preset, SearchSettings) else PRESETS[errors.one_of("preset", preset, PRESETS)]
    names = [field.name for field in dataclasses.fields(SearchSettings)]
    for name in changes:
        errors.one_of("setting", name, names)
    return dataclasses.replace(base, **changes)


def _from_starts(of: System, settings: SearchSettings, states: np.ndarray, seen: np.ndarray, chunk: int) -> "_Search":
    """Searches from every state, and measures and labels where it ended."""
    solution = _search(of, states, settings, chunk)
    values = _measure(of, solution.points, chunk)
    outcomes = _label(of, settings, solution, values)
    _stay_at_closed_gates(of, settings, states, solution, values, outcomes, chunk)
    outcomes[np.isin(outcomes, FOUND) & ~_is_kept(settings.keep, solution.points, seen)] = OUTSIDE
    return _Search(solution, values, outcomes, seen)


def _from_midpoints(of: System, settings: SearchSettings, search: "_Search", chunk: int) -> "_Search":
    """Adds searches from the midpoints of equilibria, of each pair once, as long as they find new equilibria."""
    known = np.zeros((0, of.size))
    while True:
        which = np.flatnonzero(search.outcomes == EQUILIBRIUM)
        points = search.solution.points[which]
        points = points[merge(points, search.values.residual[which], max(settings.merge_radius, SAME))[0]]
        is_new = nearest_distance(points, known) > SAME if len(known) else np.ones(len(points), bool)
        if len(points) > _MOST_EQUILIBRIA or not is_new.any():
            return search
        first, second = np.triu_indices(len(points), 1)
        pairs = is_new[first] | is_new[second]
        if not pairs.any():
            return search
        states = (points[first[pairs]] + points[second[pairs]]) / 2
        search, known = search.with_more(_from_starts(of, settings, states, search.visited, chunk)), points


def _search(of: System, states: np.ndarray, settings: SearchSettings, chunk: int) -> Solution:
    equation = System.residual if settings.equation == "drift" else System.scaled_flow
    tolerance = settings.tolerance
    if settings.stop_when_slow:
        tolerance = settings.slow_speed / float(of.rate)
        equation = System.scaled_flow
    return solve(Problem(equation, of), states, Newton(tolerance, settings.max_iterations, chunk))


def _measure(of: System, states: np.ndarray, chunk: int) -> _Measured:
    displacement, flow, gate = in_chunks(_at_state, of, states, chunk)
    return _Measured(np.linalg.norm(displacement, axis=1), np.linalg.norm(flow, axis=1), np.max(gate, axis=1))


def _at_state(of: System, h: Array) -> tuple[Array, Array, Array]:
    flow = of.flow(h)
    if of.is_gated:
        return of.drift(h), flow, of.gate(h)
    displacement = of.step(h) - h if of.dt is not None else flow * np.nan
    return displacement, flow, flow * 0 + 1


def _label(of: System, settings: SearchSettings, solution: Solution, values: _Measured) -> np.ndarray:
    is_slow = values.speed <= settings.slow_speed
    is_root = (
        values.residual <= settings.tolerance if of.is_gated else values.speed <= settings.tolerance * float(of.rate)
    )
    openness = values.speed / float(of.rate) / np.maximum(values.residual, np.finfo(float).tiny)
    is_shut = (values.gate < SHUT) | (~is_root & (openness < SHUT))
    rules = [solution.outcomes == NOT_FINITE, is_slow & is_shut & of.is_gated, is_root, is_slow]
    return np.select(rules, [NOT_FINITE, CLOSED_GATE, EQUILIBRIUM, SLOW], NOT_CONVERGED).astype("U16")


def _stay_at_closed_gates(
    of: System,
    settings: SearchSettings,
    starts: np.ndarray,
    solution: Solution,
    values: _Measured,
    outcomes: np.ndarray,
    chunk: int,
) -> None:
    """Labels a start that did not converge as a closed-gate point itself if its gate is shut."""
    lost = np.flatnonzero(outcomes == NOT_CONVERGED)
    if not of.is_gated or lost.size == 0:
        return
    here = _measure(of, starts[lost], chunk)
    at_starts = Solution(starts[lost], here.residual, solution.iterations[lost], outcomes[lost])
    stays = _label(of, settings, at_starts, here) == CLOSED_GATE
    solution.points[lost[stays]] = starts[lost[stays]]
    outcomes[lost[stays]] = CLOSED_GATE
    for name in ("residual", "speed", "gate"):
        getattr(values, name)[lost[stays]] = getattr(here, name)[stays]


def _is_kept(keep: str, points: np.ndarray, visited: np.ndarray) -> np.ndarray:
    if keep == "box":
        return np.all((points > 2 * visited.min()) & (points < 2 * visited.max()), axis=1)
    if keep == "near":
        return nearest_distance(points, _thinned(visited)) < 1
    return np.ones(len(points), bool)


@dataclasses.dataclass
class _Search:
    """The result of a search: the end of every start, the values measured there, its label, and the visited states."""

    solution: Solution
    values: _Measured
    outcomes: np.ndarray
    visited: np.ndarray

    def with_more(self, other: "_Search") -> "_Search":
        """Returns the results of both searches, those of the other one last."""

        def both(mine: Any, theirs: Any) -> Any:
            names = [field.name for field in dataclasses.fields(mine)]
            joined = {name: np.concatenate([getattr(mine, name), getattr(theirs, name)]) for name in names}
            return type(mine)(**joined)

        outcomes = np.concatenate([self.outcomes, other.outcomes])
        return _Search(both(self.solution, other.solution), both(self.values, other.values), outcomes, self.visited)


def _collect(of: System, settings: SearchSettings, search: _Search, margin: float, chunk: int) -> FixedPoints:
    """Merges the points that were found and computes the properties of each."""
    solution, values, outcomes = search.solution, search.values, search.outcomes
    successful = np.flatnonzero(np.isin(outcomes, FOUND))
    kept, owner = _merged(
        solution.points[successful], outcomes[successful], values.residual[successful], settings.merge_radius
    )
    which = successful[kept]
    ends = np.full(len(outcomes), -1)
    ends[successful] = owner
    points = solution.points[which]
    outputs = in_chunks(outputs_of, of, points, chunk) if len(points) else np.zeros((0, of.size))
    return FixedPoints(
        points=points,
        outputs=outputs,
        status=outcomes[which],
        residual=values.residual[which],
        speed=values.speed[which],
        gate=values.gate[which],
        iterations=solution.iterations[which],
        distance=nearest_distance(points, _thinned(search.visited)),
        multiplicity=np.bincount(owner, minlength=len(kept)),
        stability=stability(of, points, margin=margin, chunk=chunk),
        outcomes=outcomes,
        ends=ends,
        settings=settings,
        visited_range=np.stack([search.visited.min(axis=0), search.visited.max(axis=0)]),
    )


def _merged(
    points: np.ndarray, status: np.ndarray, residual: np.ndarray, radius: float
) -> tuple[np.ndarray, np.ndarray]:
    """Merges points of the same status, so that an equilibrium never absorbs a closed-gate point.

    The result is sorted by the first component of the state.
    """
    kept: list[int] = []
    owner = np.full(len(points), -1)
    for name in FOUND:
        group = np.flatnonzero(status == name)
        if group.size == 0:
            continue
        representatives, members = merge(points[group], np.nan_to_num(residual[group]), radius)
        owner[group] = members + len(kept)
        kept.extend(group[representatives].tolist())
    order = np.lexsort(points[kept].round(6).T[::-1]) if kept else np.zeros(0, dtype=int)
    position = np.argsort(order)
    return np.asarray(kept, dtype=int)[order], position[owner] if kept else owner


def _thinned(visited: np.ndarray) -> np.ndarray:
    return visited[:: max(1, -(-len(visited) // _MOST_VISITED))]
