"""Newton and Levenberg-Marquardt steps without a Jacobian, from a few products J v.

The Krylov space of a residual r and its Jacobian J is spanned by r, J r, J^2 r, ... Arnoldi's method computes an
orthonormal basis V of its first K directions and a small matrix H with J V = [V, v] H, so that for p = V y

    |r + J p| = | |r| e_1 + H y |,    |p| = |y|:

Newton's step and the damped steps of every damping are least-squares problems in K unknowns. If the Jacobian is the
identity plus a matrix of low rank, as in trained networks, few directions suffice: at N = 100 a step costs less than
half of one with the Jacobian and its LU factors. Where the space does not contain the step, the caller must use the
Jacobian.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode.analysis._fixed_points.newton_steps import MAX_AMPLIFICATION

DIRECTIONS = 16  # K
PAYS_FROM = 4 * DIRECTIONS  # smallest N for which K products are much cheaper than a Jacobian
MOST_MISSED = 0.01  # share of |r| that the best step in the space may leave; with more, roots differ from Newton's
NEWTON_LENGTHS = (1.0, 0.5, 0.25, 0.125)
# Relative decrease of |r| below which a damped step is taken. It decreases |r| more, but ends in more local minima.
NEWTON_DECREASE = 0.05
DAMPINGS = (1e-5, 1e-3, 1e-2, 1e-1, 1.0)  # in units of the mean square of J on the space

Vector = Float[Array, " state"]


@eqx.filter_jit
def krylov_step(residual: Callable, context: Any, points: Array, damping: Array) -> tuple[Array, Array, Array]:
    """Takes the best step along Newton's direction from each point if it reduces |r| enough, else the best damped step.

    **Returns:** the new points, |r| there, and whether the Krylov space contains Newton's step. Where it does not, the
    new point must be discarded.
    """

    def step(h: Vector) -> tuple[Array, Array, Array]:
        return _step(lambda state: residual(context, state), h)

    return jax.vmap(step)(points)


def _step(residual: Callable[[Vector], Vector], h: Vector) -> tuple[Vector, Array, Array]:
    r, apply = jax.linearize(residual, h)
    size = jnp.linalg.norm(r)
    V, H = arnoldi(apply, r)
    y, missed = least_squares(H, size)
    typical = jnp.sum(H**2) / H.shape[1]
    newton = jnp.asarray(NEWTON_LENGTHS, dtype=h.dtype)[:, None] * (y @ V[:-1])
    damped = _damped(H, size, typical) @ V[:-1]
    trials = h + jnp.concatenate([newton, damped])
    norms = jax.vmap(lambda state: jnp.linalg.norm(residual(state)))(trials)
    norms = jnp.where(jnp.isfinite(norms), norms, jnp.inf)
    along, other = norms[: len(newton)], norms[len(newton) :]
    is_bounded = jnp.linalg.norm(y) * jnp.sqrt(typical) <= MAX_AMPLIFICATION * size
    is_good = is_bounded & (jnp.min(along) <= (1 - NEWTON_DECREASE) * size)
    best = jnp.where(is_good, jnp.argmin(along), len(newton) + jnp.argmin(other))
    return trials[best], norms[best], missed <= MOST_MISSED * size


def arnoldi(
    apply: Callable[[Vector], Vector], r: Vector, count: int = DIRECTIONS
) -> tuple[Float[Array, "rows state"], Float[Array, "rows directions"]]:
    """Returns V (as rows) and H of the Krylov space of r. Rows and columns beyond the end of the space are zero."""
    eps = jnp.finfo(r.dtype).eps

    def extend(V: Array, k: Array) -> tuple[Array, Array]:
        image = apply(V[k])
        w, overlap = image, jnp.zeros(count + 1, dtype=r.dtype)
        for _ in range(2):  # one pass leaves rounding errors along V
            part = V @ w
            w, overlap = w - part @ V, overlap + part
        rest = jnp.linalg.norm(w)
        is_new = rest > 10 * eps * jnp.linalg.norm(image)
        rest = jnp.where(is_new, rest, 0.0)
        V = V.at[k + 1].set(jnp.where(is_new, w / rest, 0.0))
        return V, overlap.at[k + 1].set(rest)

    first = r / jnp.maximum(jnp.linalg.norm(r), jnp.finfo(r.dtype).tiny)
    V = jnp.zeros((count + 1, r.shape[0]), dtype=r.dtype).at[0].set(first)
    V, columns = jax.lax.scan(extend, V, jnp.arange(count))
    return V, columns.T


def least_squares(
    H: Float[Array, "rows directions"], size: Float[Array, ""]
) -> tuple[Float[Array, " directions"], Float[Array, ""]]:
    """Returns the y that minimises |size e_1 + H y|, and the minimum, by Givens rotations."""
    count = H.shape[1]
    tiny = jnp.finfo(H.dtype).tiny

    def rotate(k: Array, system: Array) -> Array:
        upper, lower = system[k], system[k + 1]
        a, b = upper[k], lower[k]
        length = jnp.maximum(jnp.sqrt(a**2 + b**2), tiny)
        c, s = jnp.where(length > tiny, a / length, 1.0), b / length
        return system.at[k].set(c * upper + s * lower).at[k + 1].set(c * lower - s * upper)

    first = jnp.zeros(count + 1, dtype=H.dtype).at[0].set(-size)
    system = jax.lax.fori_loop(0, count, rotate, jnp.concatenate([H, first[:, None]], axis=1))
    R, g = system[:, :count], system[:, count]
    enough = 10 * jnp.finfo(H.dtype).eps * jnp.max(jnp.abs(R))

    def substitute(step: Array, y: Array) -> Array:
        k = count - 1 - step
        pivot = R[k, k]
        is_there = jnp.abs(pivot) > enough  # else J vanishes along this direction, or the space ended before it
        return y.at[k].set(jnp.where(is_there, (g[k] - R[k] @ y) / jnp.where(is_there, pivot, 1.0), 0.0))

    y = jax.lax.fori_loop(0, count, substitute, jnp.zeros(count, dtype=H.dtype))
    return y, jnp.linalg.norm(first - H @ y)


def _damped(H: Array, size: Array, typical: Array) -> Float[Array, "dampings directions"]:
    """Returns the Levenberg-Marquardt solution y for every damping, from the normal equations."""
    gram = H.T @ H
    eye = jnp.eye(len(gram), dtype=H.dtype)
    shift = typical * jnp.asarray(DAMPINGS, dtype=H.dtype) + jnp.finfo(H.dtype).eps * jnp.trace(gram)
    return jax.vmap(lambda own: _eliminate(gram + own * eye, -size * H[0]))(shift)


def _eliminate(A: Float[Array, "n n"], b: Float[Array, " n"]) -> Float[Array, " n"]:
    """Solves A y = b for a small positive definite A; in a batch this is much faster than LAPACK."""

    def clear_column(k: Array, system: Array) -> Array:
        row = system[k] / system[k, k]
        return (system - system[:, k, None] * row).at[k].set(row)

    return jax.lax.fori_loop(0, len(b), clear_column, jnp.concatenate([A, b[:, None]], axis=1))[:, -1]
