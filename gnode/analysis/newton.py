"""Roots of r(h) = 0 from many starts at once: damped Newton, with Levenberg-Marquardt where the Jacobian is
singular.

Every start has its own step length, its own damping and its own mode, and leaves the batch when it is done,
so the work is the sum over starts of what each of them needs. One pass over the active starts is one
iteration:

    Newton                 p = -J^(-1) r
    Levenberg-Marquardt    p = -(J^T J + mu |r| I)^(-1) J^T r

and h moves to the best of h + t p over a few step lengths t. Near an isolated root Newton's step is
quadratic. On a continuum of roots J is singular, Newton's step is arbitrary along the continuum, and the
damped step goes to (nearly) the closest root, still faster than linearly since its damping vanishes with |r|.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gnode import errors
from gnode.precision import double, to_dtype

CONVERGED, STALLED, TOO_MANY, NOT_FINITE = "converged", "stalled", "max_iterations", "not_finite"
OUTCOMES: dict[str, str] = {
    CONVERGED: "|r| is below the tolerance",
    STALLED: "no damped step reduces |r| any more: a local minimum of |r| that is not a root",
    TOO_MANY: "still improving when the iterations ran out",
    NOT_FINITE: "r is NaN or infinite at the start",
}
"""How a start can end."""

NEWTON_LENGTHS = (1.0, 0.5, 0.25)  # a Newton direction that only helps over a shorter step is a poor one
DAMPED_LENGTHS = (1.0, 0.5, 0.25, 0.0625, 0.0039)
MAX_AMPLIFICATION = 100.0  # |p| |J| / |r| above this: J is nearly singular along r
LEAST_DECREASE, GOOD_DECREASE = 0.01, 0.1  # relative, of |r|: for a step to be taken, and not to be weak
MOST_WEAK_STEPS = 2  # in a row, after which a damped start is stalled
FIRST_DAMPING = 1e-2
DAMPING_FACTOR = 4.0
DAMPING_BOUNDS = (1e-8, 1e8)
SINGLE_PRECISION_FLOOR = 1e-4  # float32 hands a start over to float64 below this |r|
SINGLE_PRECISION_PAYS = 2_000_000  # starts x N^2 from which a first pass in float32 saves time


@dataclasses.dataclass(frozen=True)
class Problem:
    """r(h) = 0: `residual(context, h)` for one state, with what it depends on in `context` (a tree of
    arrays).
    """

    residual: Callable[[Any, Array], Array]
    context: Any


@dataclasses.dataclass(frozen=True)
class Newton:
    """The method's settings: stop at |r| <= `tolerance` or after `max_iterations`; `chunk` states in memory
    at a time.
    """

    tolerance: float = 1e-9
    max_iterations: int = 100
    chunk: int = 64  # at N = 100 the Jacobians of so many states stay in the processor's cache

    def __post_init__(self):
        errors.positive("tolerance", self.tolerance)
        errors.whole("max_iterations", self.max_iterations, at_least=0)
        errors.whole("chunk", self.chunk)


@dataclasses.dataclass
class Solution:
    """Where each start ended: `points`, |r| there, `iterations` spent, and an `outcome` from `OUTCOMES`."""

    points: Float[np.ndarray, "starts state"]
    residuals: Float[np.ndarray, " starts"]
    iterations: np.ndarray
    outcomes: np.ndarray


def solve(problem: Problem, starts: Float[np.ndarray, "starts state"], method: Newton = Newton()) -> Solution:  # noqa: B008
    """Solves r(h) = 0 from every start, in float64; large jobs go most of the way in float32.

    **Returns:** a `Solution`, one entry per start.

    >>> root = solve(Problem(lambda c, h: h**2 - c, np.float64(2.0)), np.array([[1.0], [-3.0]]))
    >>> root.points[:, 0].round(6).tolist()
    [1.414214, -1.414214]
    """
    starts = np.asarray(starts, dtype=np.float64)
    run = _Run.begin(starts)
    if starts.shape[0] * starts.shape[1] ** 2 > SINGLE_PRECISION_PAYS:
        rough = dataclasses.replace(method, tolerance=max(method.tolerance, SINGLE_PRECISION_FLOOR))
        _iterate(problem, rough, run, jnp.float32)
        run.hand_over()
    with double():
        _iterate(problem, method, run, jnp.float64)
    run.outcomes[run.is_active] = TOO_MANY
    return Solution(run.points, run.residuals, run.iterations, run.outcomes)


@dataclasses.dataclass
class _Run:
    """What is carried along for every start."""

    points: np.ndarray
    residuals: np.ndarray
    damping: np.ndarray
    weak_steps: np.ndarray
    is_damped: np.ndarray  # this start has left Newton for Levenberg-Marquardt
    iterations: np.ndarray
    outcomes: np.ndarray
    is_active: np.ndarray

    @classmethod
    def begin(cls, starts: np.ndarray) -> "_Run":
        count = len(starts)
        return cls(
            points=starts.copy(),
            residuals=np.full(count, np.inf),
            damping=np.full(count, FIRST_DAMPING),
            weak_steps=np.zeros(count, int),
            is_damped=np.zeros(count, bool),
            iterations=np.zeros(count, int),
            outcomes=np.full(count, TOO_MANY, dtype="U16"),
            is_active=np.ones(count, bool),
        )

    def finish(self, which: np.ndarray, outcome: str) -> None:
        self.outcomes[which] = outcome
        self.is_active[which] = False

    def hand_over(self) -> None:
        """Prepares for a pass in higher precision: those that are near a root go on, with Newton again."""
        going_on = self.outcomes == CONVERGED
        self.is_active = going_on
        self.is_damped[going_on] = False
        self.damping[going_on] = FIRST_DAMPING
        self.weak_steps[going_on] = 0


def _iterate(problem: Problem, method: Newton, run: _Run, dtype: Any) -> None:
    """Iterates all active starts until each is converged, stalled, or out of iterations."""
    context = to_dtype(problem.context, dtype)

    def call(step: Callable, block: np.ndarray) -> tuple[np.ndarray, ...]:
        return _padded_call(step, problem.residual, context, run, block, method.chunk, dtype)

    for block in _blocks(run.is_active, method.chunk):
        run.residuals[block] = call(_norms, block)[0]
    run.finish(run.is_active & ~np.isfinite(run.residuals), NOT_FINITE)
    _retire(run, method)
    while run.is_active.any():
        for is_damped, step in ((False, _newton_step), (True, _damped_step)):
            for block in _blocks(run.is_active & (run.is_damped == is_damped), method.chunk):
                _take(run, block, is_damped, *call(step, block))
        _retire(run, method)


def _retire(run: _Run, method: Newton) -> None:
    run.finish(run.is_active & (run.residuals <= method.tolerance), CONVERGED)
    run.finish(run.is_active & (run.iterations >= method.max_iterations), TOO_MANY)


def _take(run: _Run, block: np.ndarray, is_damped: bool, points: np.ndarray, norms: np.ndarray, lengths: np.ndarray):
    """Moves the starts that made progress; one without progress is damped, or stalled if it already is."""
    before = run.residuals[block]
    improved = norms < (1 - LEAST_DECREASE) * before
    is_weak = norms > (1 - GOOD_DECREASE) * before
    moved = block[improved]
    run.points[moved] = points[improved]
    run.residuals[moved] = norms[improved]
    run.iterations[block] += 1
    if not is_damped:
        run.is_damped[block[is_weak]] = True
        return
    full_step = lengths[improved] == DAMPED_LENGTHS[0]
    factor = np.where(full_step, 1 / DAMPING_FACTOR, DAMPING_FACTOR)
    run.damping[moved] = np.clip(run.damping[moved] * factor, *DAMPING_BOUNDS)
    run.weak_steps[block] = np.where(is_weak, run.weak_steps[block] + 1, 0)
    run.finish(block[~improved | (run.weak_steps[block] >= MOST_WEAK_STEPS)], STALLED)


def _blocks(which: np.ndarray, chunk: int) -> list[np.ndarray]:
    chosen = np.flatnonzero(which)
    return [chosen[start : start + chunk] for start in range(0, len(chosen), chunk)]


def _padded_call(
    step: Callable, residual: Callable, context: Any, run: _Run, block: np.ndarray, chunk: int, dtype: Any
) -> tuple[np.ndarray, ...]:
    """Calls a compiled step on a block, padded to one of two sizes so that it is compiled at most twice."""
    small = max(1, chunk // 8)
    size = small if len(block) <= small else chunk
    padded = np.pad(block, (0, size - len(block)), mode="edge")
    points, damping = (jnp.asarray(array[padded], dtype=dtype) for array in (run.points, run.damping))
    values = step(residual, context, points, damping)
    return tuple(np.asarray(value, dtype=np.float64)[: len(block)] for value in values)


@eqx.filter_jit
def _norms(residual: Callable, context: Any, points: Array, damping: Array) -> tuple[Array]:
    return (jax.vmap(lambda h: jnp.linalg.norm(residual(context, h)))(points),)


@eqx.filter_jit
def _newton_step(residual: Callable, context: Any, points: Array, damping: Array) -> tuple[Array, Array, Array]:
    r, J = _linearise(residual, context, points)
    factors, pivots = jax.scipy.linalg.lu_factor(J)
    p = -jax.vmap(lambda LU, order, r: jax.scipy.linalg.lu_solve((LU, order), r))(factors, pivots, r)
    size = jnp.linalg.norm(J, axis=(1, 2)) / np.sqrt(J.shape[-1])
    diagonal = jnp.abs(jnp.diagonal(factors, axis1=1, axis2=2))
    # With a pivot that is zero but for rounding, the step along the null direction is rounding error.
    is_singular = jnp.min(diagonal, axis=1) < jnp.sqrt(jnp.finfo(J.dtype).eps) * size
    is_singular |= jnp.linalg.norm(p, axis=-1) * size > MAX_AMPLIFICATION * jnp.linalg.norm(r, axis=-1)
    return _best_along(residual, context, points, jnp.where(is_singular[:, None], jnp.nan, p), NEWTON_LENGTHS)


@eqx.filter_jit
def _damped_step(residual: Callable, context: Any, points: Array, damping: Array) -> tuple[Array, Array, Array]:
    r, J = _linearise(residual, context, points)
    transposed = jnp.swapaxes(J, 1, 2)
    # A floor in units of |J|^2 keeps the Cholesky factor finite when J^T J is singular to working precision.
    floor = jnp.finfo(J.dtype).eps * jnp.sum(J**2, axis=(1, 2))
    shift = damping * jnp.linalg.norm(r, axis=-1) + floor
    normal = transposed @ J + shift[:, None, None] * jnp.eye(J.shape[-1], dtype=J.dtype)
    factor = jnp.linalg.cholesky(normal)
    gradient = (transposed @ r[..., None])[..., 0]
    p = -jax.vmap(lambda L, g: jax.scipy.linalg.cho_solve((L, True), g))(factor, gradient)
    return _best_along(residual, context, points, p, DAMPED_LENGTHS)


def _linearise(residual: Callable, context: Any, points: Array) -> tuple[Array, Array]:
    def value(h: Array) -> Array:
        return residual(context, h)

    return jax.vmap(value)(points), jax.vmap(jax.jacfwd(value))(points)


def _best_along(
    residual: Callable, context: Any, points: Array, p: Array, step_lengths: tuple[float, ...]
) -> tuple[Array, Array, Array]:
    """The best of h + t p over the step lengths t: the point, |r| there, and t.

    Not finite counts as infinitely bad.
    """
    lengths = jnp.asarray(step_lengths, dtype=points.dtype)
    trials = points[None] + lengths[:, None, None] * p[None]
    norms = jax.vmap(jax.vmap(lambda h: jnp.linalg.norm(residual(context, h))))(trials)
    norms = jnp.where(jnp.isfinite(norms), norms, jnp.inf)
    best = jnp.argmin(norms, axis=0)
    chosen = jnp.take_along_axis(trials, best[None, :, None], axis=0)[0]
    return chosen, jnp.min(norms, axis=0), lengths[best]
