"""Roots of r(h) = 0 from many starts at once: damped Newton steps, Levenberg-Marquardt steps where J is singular.

Every start has its own step length, damping and mode, and leaves the batch when it has ended, so that the total work is
the sum of what each start needs. One pass over the active starts is one iteration:

    Newton                 p = -J^(-1) r
    Levenberg-Marquardt    p = -(J^T J + mu |r| I)^(-1) J^T r

and h moves to the best of h + t p over a few step lengths t. Near an isolated root Newton's method converges
quadratically. On a continuum of roots J is singular and Newton's step is arbitrary along the continuum; the damped step
goes to nearly the closest root, and still converges faster than linearly because its damping vanishes with |r|.

Large problems in many dimensions compute both steps from a few products J v instead (`krylov`), as long as the Krylov
space contains Newton's step; otherwise the start continues with its Jacobian.
"""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gnode import errors
from gnode.analysis._fixed_points.krylov import DIRECTIONS, PAYS_FROM, krylov_step
from gnode.analysis._fixed_points.newton_steps import (
    DAMPED_LENGTHS,
    GOOD_DECREASE,
    LEAST_DECREASE,
    damped_step,
    newton_step,
    norms_at,
)
from gnode.analysis._threads import in_threads, threads_for
from gnode.precision import double, to_dtype

CONVERGED, STALLED, TOO_MANY, NOT_FINITE = "converged", "stalled", "max_iterations", "not_finite"
OUTCOMES: dict[str, str] = {
    CONVERGED: "|r| is below the tolerance",
    STALLED: "no damped step reduces |r| any further: a local minimum of |r| that is not a root",
    TOO_MANY: "|r| was still decreasing at the last iteration",
    NOT_FINITE: "r is NaN or infinite at the start",
}
"""The possible outcomes of a start."""

FIRST_DAMPING = 1e-2
DAMPING_FACTOR = 4.0
DAMPING_BOUNDS = (1e-8, 1e8)
SINGLE_PRECISION_FLOOR = 1e-4  # |r| below which a start continues in float64
SINGLE_PRECISION_PAYS = 2_000_000  # starts x N^2 above which a first pass in float32 saves time
KRYLOV_PAYS = 20_000_000  # starts x N^2 above which Krylov steps save more than their compilation costs
ONE_SIZE_PAYS = 100_000  # chunk x N^2 below which steps of a smaller block save less than their compilation costs

KRYLOV, NEWTON, DAMPED = 0, 1, 2
STEPS: dict[int, Callable] = {KRYLOV: krylov_step, NEWTON: newton_step, DAMPED: damped_step}
"""The modes of a start and the step of each. A start only ever changes to a later mode."""
MOST_WEAK_STEPS = {KRYLOV: 3, DAMPED: 2}  # consecutive ones, after which a start has stalled


@dataclasses.dataclass(frozen=True)
class Problem:
    """The equation `residual(context, h)` = 0 for one state h; `context` is a tree of arrays."""

    residual: Callable[[Any, Array], Array]
    context: Any


@dataclasses.dataclass(frozen=True)
class Newton:
    """The settings of the method.

    - `tolerance`: a start has converged at |r| <= `tolerance`.
    - `max_iterations`: the largest number of iterations of a start.
    - `chunk`: the number of Jacobians in memory at a time.
    """

    tolerance: float = 1e-9
    max_iterations: int = 100
    chunk: int = 64  # at N = 100 this many Jacobians fit in the processor's cache

    def __post_init__(self):
        errors.positive("tolerance", self.tolerance)
        errors.whole("max_iterations", self.max_iterations, at_least=0)
        errors.whole("chunk", self.chunk)

    def sizes(self, mode: int, state: int) -> tuple[int, ...]:
        """Returns the block sizes of a mode in ascending order; a step is compiled once for each of them."""
        if mode == KRYLOV:
            return (max(1, self.chunk * state // (2 * DIRECTIONS)),)  # at most the memory of `chunk` Jacobians
        if self.chunk * state**2 <= ONE_SIZE_PAYS:
            return (self.chunk,)
        return max(1, self.chunk // 8), self.chunk


@dataclasses.dataclass
class Solution:
    """The end of each start: `points`, |r| there (`residuals`), `iterations` used, and `outcomes` (see `OUTCOMES`)."""

    points: Float[np.ndarray, "starts state"]
    residuals: Float[np.ndarray, " starts"]
    iterations: np.ndarray
    outcomes: np.ndarray


def solve(problem: Problem, starts: Float[np.ndarray, "starts state"], method: Newton = Newton()) -> Solution:
    """Solves r(h) = 0 from every start in float64; large problems begin in float32.

    **Returns:** a `Solution` with one entry per start.

    >>> root = solve(Problem(lambda c, h: h**2 - c, np.float64(2.0)), np.array([[1.0], [-3.0]]))
    >>> root.points[:, 0].round(6).tolist()
    [1.414214, -1.414214]
    """
    starts = np.asarray(starts, dtype=np.float64)
    count, size = starts.shape
    work = count * size**2
    run = _Run.begin(starts, KRYLOV if work > KRYLOV_PAYS and size >= PAYS_FROM else NEWTON)
    if work > SINGLE_PRECISION_PAYS:
        rough = dataclasses.replace(method, tolerance=max(method.tolerance, SINGLE_PRECISION_FLOOR))
        _iterate(problem, rough, run, jnp.float32)
        run.hand_over()
    with double():
        _iterate(problem, method, run, jnp.float64)
    run.outcomes[run.is_active] = TOO_MANY
    return Solution(run.points, run.residuals, run.iterations, run.outcomes)


@dataclasses.dataclass
class _Run:
    """The state of the iteration for every start."""

    points: np.ndarray
    residuals: np.ndarray
    damping: np.ndarray
    weak_steps: np.ndarray
    mode: np.ndarray
    iterations: np.ndarray
    outcomes: np.ndarray
    is_active: np.ndarray
    first_mode: int
    is_near: bool = False  # whether every active start is near a root, and must not be given up

    @classmethod
    def begin(cls, starts: np.ndarray, first_mode: int) -> "_Run":
        count = len(starts)
        return cls(
            points=starts.copy(),
            residuals=np.full(count, np.inf),
            damping=np.full(count, FIRST_DAMPING),
            weak_steps=np.zeros(count, int),
            mode=np.full(count, first_mode),
            iterations=np.zeros(count, int),
            outcomes=np.full(count, TOO_MANY, dtype="U16"),
            is_active=np.ones(count, bool),
            first_mode=first_mode,
        )

    def finish(self, which: np.ndarray, outcome: str) -> None:
        self.outcomes[which] = outcome
        self.is_active[which] = False

    def change(self, which: np.ndarray, mode: int) -> None:
        self.mode[which] = mode
        self.weak_steps[which] = 0

    def hand_over(self) -> None:
        """Prepares a pass in higher precision: the converged starts become active again, in the first mode."""
        self.is_active = self.outcomes == CONVERGED
        self.change(self.is_active, self.first_mode)
        self.damping[self.is_active] = FIRST_DAMPING
        self.is_near = True


def _iterate(problem: Problem, method: Newton, run: _Run, dtype: Any) -> None:
    """Iterates all active starts until each has converged, stalled, or used up its iterations."""
    context = to_dtype(problem.context, dtype)
    threads = threads_for(problem.residual, context, jnp.zeros(run.points.shape[1], dtype=dtype))

    def each(step: Callable, mode: int) -> Iterator[tuple[np.ndarray, tuple[np.ndarray, ...]]]:
        sizes = method.sizes(mode, run.points.shape[1])
        blocks = _blocks(run.is_active & (run.mode == mode), sizes[-1])

        def call(block: np.ndarray) -> tuple[np.ndarray, ...]:
            with double() if dtype == jnp.float64 else nullcontext():  # the setting is local to a thread
                return _padded_call(step, problem.residual, context, run, block, sizes, dtype)

        return zip(blocks, in_threads(call, blocks, threads if mode == KRYLOV else 1))

    for block, values in each(norms_at, run.first_mode):
        run.residuals[block] = values[0]
    run.finish(run.is_active & ~np.isfinite(run.residuals), NOT_FINITE)
    _retire(run, method)
    while run.is_active.any():
        for mode, step in STEPS.items():
            for block, values in each(step, mode):
                _take(run, block, mode, *values)
        _retire(run, method)


def _retire(run: _Run, method: Newton) -> None:
    run.finish(run.is_active & (run.residuals <= method.tolerance), CONVERGED)
    run.finish(run.is_active & (run.iterations >= method.max_iterations), TOO_MANY)


def _take(run: _Run, block: np.ndarray, mode: int, points: np.ndarray, norms: np.ndarray, extra: np.ndarray) -> None:
    """Moves the starts that made progress; a start without progress changes its mode, or stalls in the last one.

    `extra` is the step length; in the Krylov mode, whether the step may be used at all.
    """
    if mode == KRYLOV:
        is_held = extra > 0
        run.change(block[~is_held], NEWTON)
        block, points, norms = block[is_held], points[is_held], norms[is_held]
    before = run.residuals[block]
    improved = norms < (1 - LEAST_DECREASE) * before
    is_weak = norms > (1 - GOOD_DECREASE) * before
    moved = block[improved]
    run.points[moved] = points[improved]
    run.residuals[moved] = norms[improved]
    run.iterations[block] += 1
    if mode == NEWTON:
        run.change(block[is_weak], DAMPED)
        return
    if mode == DAMPED:
        factor = np.where(extra[improved] == DAMPED_LENGTHS[0], 1 / DAMPING_FACTOR, DAMPING_FACTOR)
        run.damping[moved] = np.clip(run.damping[moved] * factor, *DAMPING_BOUNDS)
    run.weak_steps[block] = np.where(is_weak, run.weak_steps[block] + 1, 0)
    stuck = block[~improved | (run.weak_steps[block] >= MOST_WEAK_STEPS[mode])]
    if mode == KRYLOV and run.is_near:
        run.change(stuck, NEWTON)
    else:
        run.finish(stuck, STALLED)


def _blocks(which: np.ndarray, chunk: int) -> list[np.ndarray]:
    chosen = np.flatnonzero(which)
    return [chosen[start : start + chunk] for start in range(0, len(chosen), chunk)]


def _padded_call(
    step: Callable, residual: Callable, context: Any, run: _Run, block: np.ndarray, sizes: tuple[int, ...], dtype: Any
) -> tuple[np.ndarray, ...]:
    """Calls a compiled step on a block that is padded to one of `sizes`, to limit the number of compilations."""
    size = next(size for size in sizes if size >= len(block))
    padded = np.pad(block, (0, size - len(block)), mode="edge")
    # Not by jnp.asarray, which compiles a program for every shape.
    points, damping = (jax.device_put(array[padded].astype(dtype)) for array in (run.points, run.damping))
    values = step(residual, context, points, damping)
    return tuple(np.asarray(value, dtype=np.float64)[: len(block)] for value in values)
