"""Newton and Levenberg-Marquardt steps with the full Jacobian, batched over states (compiled)."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

NEWTON_LENGTHS = (1.0, 0.5, 0.25)  # a direction that only helps over a shorter step is a poor one
DAMPED_LENGTHS = (1.0, 0.5, 0.25, 0.0625, 0.0039)
MAX_AMPLIFICATION = 100.0  # J counts as singular along r if |p| |J| / |r| exceeds this
LEAST_DECREASE, GOOD_DECREASE = 0.01, 0.1  # relative decrease of |r| for a step to be taken, and not to count as weak


@eqx.filter_jit
def norms_at(residual: Callable, context: Any, points: Array, damping: Array) -> tuple[Array]:
    """Returns |r| at every point."""
    return (jax.vmap(lambda h: jnp.linalg.norm(residual(context, h)))(points),)


@eqx.filter_jit
def newton_step(residual: Callable, context: Any, points: Array, damping: Array) -> tuple[Array, Array, Array]:
    """Returns the best point along Newton's direction, |r| there (infinite where J is singular), and the step length."""
    r, J = _linearise(residual, context, points)
    factors, pivots = jax.scipy.linalg.lu_factor(J)
    p = -jax.vmap(lambda LU, order, r: jax.scipy.linalg.lu_solve((LU, order), r))(factors, pivots, r)
    size = jnp.linalg.norm(J, axis=(1, 2)) / np.sqrt(J.shape[-1])
    diagonal = jnp.abs(jnp.diagonal(factors, axis1=1, axis2=2))
    # If a pivot is zero up to rounding, the step along the null direction consists of rounding errors.
    is_singular = jnp.min(diagonal, axis=1) < jnp.sqrt(jnp.finfo(J.dtype).eps) * size
    is_singular |= jnp.linalg.norm(p, axis=-1) * size > MAX_AMPLIFICATION * jnp.linalg.norm(r, axis=-1)
    return _best_along(residual, context, points, jnp.where(is_singular[:, None], jnp.nan, p), NEWTON_LENGTHS)


@eqx.filter_jit
def damped_step(residual: Callable, context: Any, points: Array, damping: Array) -> tuple[Array, Array, Array]:
    """Returns the best point along the Levenberg-Marquardt direction, |r| there, and the step length."""
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
    """Returns the best of h + t p over the step lengths t: the point, |r| there, and t.

    A residual that is not finite counts as infinite.
    """
    lengths = jnp.asarray(step_lengths, dtype=points.dtype)
    trials = points[None] + lengths[:, None, None] * p[None]
    norms = jax.vmap(jax.vmap(lambda h: jnp.linalg.norm(residual(context, h))))(trials)
    norms = jnp.where(jnp.isfinite(norms), norms, jnp.inf)
    best = jnp.argmin(norms, axis=0)
    chosen = jnp.take_along_axis(trials, best[None, :, None], axis=0)[0]
    return chosen, jnp.min(norms, axis=0), lengths[best]
