"""Linear recurrences d_t = A_t d_(t-1) + b_t for all t at once, by an associative scan of affine maps.

Two affine maps applied in turn are one affine map, so that all partial compositions cost log T rounds of products instead
of T steps. The matrices are dense (..., state, state) or diagonal (..., state). Everything is linear in b, and the
transpose of the recurrence, which a gradient needs, is the same recurrence backwards in time:

    l_t = A_(t+1)^T l_(t+1) + c_t.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

DOUBLED = {"cpu": 0, "gpu": 16}
"""Up to this size all maps are composed in every round, one program for all rounds; beyond, each only where needed. A GPU
computes the additional products in the same time, and compiles far less."""
SMALL = 12
"""Up to this size products of matrices are written as sums, which the compiler fuses: batches of tiny products are slow."""

ROUNDING = 1
"""What counts as rounding, in units of it relative to the largest value."""

Maps = tuple[Array, Array]
"""Affine maps d -> A d + b: the matrices, or their diagonals, and the offsets."""


def solve_recurrence(
    A: Float[Array, "time ..."], b: Float[Array, "time *trials state"]
) -> Float[Array, "time *trials state"]:
    """Solves d_t = A_t d_(t-1) + b_t with d before the first bin equal to zero.

    `A` has one axis more than `b`, or holds diagonals in the shape of `b`. It can be differentiated in every mode; in
    reverse mode the transposed recurrence is solved by one scan backwards.
    """

    def apply(d: Array) -> Array:
        return d - times(A, shifted(d))

    def solve(_: object, b: Array) -> Array:
        return _scanned(A, b)

    def solve_transposed(_: object, c: Array) -> Array:
        return solve_backwards(A, c)

    return jax.lax.custom_linear_solve(apply, b, solve, solve_transposed)


def refined(
    apply: Callable[[Array], Array],
    solve: Callable[[Array], Array],
    b: Array,
    most: int,
    otherwise: Callable[[Array], Array],
) -> Array:
    """Solves apply(d) = b by `solve`, which need not be exact, again and again until what is missing is rounding.

    If it still is not after `most` times, `otherwise` solves it.
    """
    tolerance = ROUNDING * float(jnp.finfo(b.dtype).eps)

    def missing(d: Array) -> Array:
        return b - apply(d)

    def is_missing(now: tuple[Array, Array, Array]) -> Array:
        d, residual, _ = now
        largest = jnp.maximum(jnp.max(jnp.abs(d)), jnp.max(jnp.abs(b)))
        return ~jnp.all(
            jnp.abs(residual) <= tolerance * largest
        )  # one by one: a maximum may overlook what is no number

    def improve(now: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        d = now[0] + solve(now[1])
        return d, missing(d), now[2] + 1

    first = solve(b)
    start = first, missing(first), jnp.int32(0)
    found = jax.lax.while_loop(lambda now: is_missing(now) & (now[2] < most), improve, start)
    # A loop of at most one turn, since along an axis of networks both branches of a condition would run.
    last = (found[0], is_missing(found))
    return jax.lax.while_loop(lambda now: now[1], lambda now: (otherwise(b), jnp.bool_(False)), last)[0]


def solve_backwards(
    A: Float[Array, "time ..."], c: Float[Array, "time *trials state"]
) -> Float[Array, "time *trials state"]:
    """Solves the transpose, l_t = A_(t+1)^T l_(t+1) + c_t with l after the last bin equal to zero."""
    later = jnp.concatenate([A[1:], jnp.zeros_like(A[:1])])
    return _scanned(later if A.ndim == c.ndim else jnp.swapaxes(later, -1, -2), c, reverse=True)


def times(A: Array, d: Array) -> Array:
    """Computes A d for dense matrices or diagonals."""
    return A * d if A.ndim == d.ndim else _matrix_vector(A, d)


def _scanned(A: Array, b: Array, reverse: bool = False) -> Array:
    is_diagonal = A.ndim == b.ndim
    product, apply = (_elementwise, _elementwise) if is_diagonal else (_matrix_matrix, _matrix_vector)

    def join(first: Maps, then: Maps) -> Maps:
        return product(then[0], first[0]), apply(then[0], first[1]) + then[1]

    if b.shape[-1] > DOUBLED.get(jax.default_backend(), 0):
        return jax.lax.associative_scan(join, (A, b), reverse=reverse)[1]
    return _doubled(join, (A, b), reverse)


def _doubled(join: Callable[[Maps, Maps], Maps], maps: Maps, reverse: bool) -> Array:
    """Composes each map with the one 1, 2, 4, ... bins before it (or after it, in reverse); returns the last offsets.

    It takes more products than `jax.lax.associative_scan`, but is one loop, where that is a program of its own for each of
    its rounds: dozens of kernels to compile.
    """
    time = maps[1].shape[0]

    def double(round: Array, maps: Maps) -> Maps:
        distance = jnp.left_shift(1, round)

        def moved(values: Array) -> Array:
            nothing = jnp.zeros_like(values)
            both = jnp.concatenate([values, nothing] if reverse else [nothing, values])
            return jax.lax.dynamic_slice_in_dim(both, distance if reverse else time - distance, time)

        # Beyond the end there is the map to zero, from where the recurrence begins. No map is beyond it.
        return join((moved(maps[0]), moved(maps[1])), maps)

    return jax.lax.fori_loop(0, max(time - 1, 0).bit_length(), double, maps)[1]


def shifted(d: Array) -> Array:
    """Returns the values before each bin, zero before the first."""
    return jnp.concatenate([jnp.zeros_like(d[:1]), d[:-1]])


def _elementwise(A: Array, B: Array) -> Array:
    return A * B


def _matrix_vector(A: Array, d: Array) -> Array:
    if A.shape[-1] <= SMALL:
        return jnp.sum(A * d[..., None, :], axis=-1)
    return jnp.einsum("...ij,...j->...i", A, d, precision=jax.lax.Precision.HIGHEST)


def _matrix_matrix(A: Array, B: Array) -> Array:
    if A.shape[-1] <= SMALL:
        return jnp.sum(A[..., :, :, None] * B[..., None, :, :], axis=-2)
    return jnp.einsum("...ij,...jk->...ik", A, B, precision=jax.lax.Precision.HIGHEST)
