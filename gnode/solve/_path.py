"""The path of the input: its value and its rate of change within a bin, between samples that may be far apart.

| interpolation | within the bin that begins with x_t                    | causal |
|---------------|--------------------------------------------------------|--------|
| `hold`        | x_t; the step from x_(t-1) to x_t happens at its start | yes    |
| `linear`      | the straight line from x_t to x_(t+1)                  | no     |
| `hermite`     | a cubic with the slopes of the lines into x_t, x_(t+1) | no     |
| `natural`     | the natural cubic spline through all samples           | no     |

After the last sample, and before padding, the path is constant. A cell with a `control` feels changes of the path: with
`hold` the path is the one that is called rectilinear, time and input in turn.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode.cells import Cell
from gnode.solve._solver import Solver

Input = Float[Array, "*time inputs"]


class Bin(NamedTuple):
    """One bin of the input, or all of a trial (then time is the first axis).

    - `start`: the sample at its start.
    - `end`: the value at its end, None if the input is held.
    - `length`: in seconds.
    - `before`: the sample before it, for a cell that feels the step from there; None otherwise.
    - `bends`: for a cubic, p and q of  x(s) = line(s) + s (1 - s) ((1 - s) p + s q),  s from 0 to 1.
    """

    start: Input
    end: Input | None
    length: Float[Array, "*time"] | float
    before: Input | None = None
    bends: tuple[Input, Input] | None = None


def bins_of(
    cell: Cell, xs: Float[Array, "time inputs"], dt: Float[Array, " time"], solver: Solver, first: Array | None = None
) -> Bin:
    """Returns the bins of one trial. `first` is the input before the first sample, the first sample itself by default."""
    if solver.interpolation == "hold":
        before = None
        if cell.has("control"):
            before = jnp.concatenate([xs[:1] if first is None else first[None], xs[:-1]])
            before = jnp.where(dt[:, None] > 0, before, xs)
        return Bin(xs, None, dt, before)
    # The next sample, where there is one.
    is_followed = jnp.concatenate([dt[1:] > 0, jnp.zeros(1, bool)]) & (dt > 0)
    ends = jnp.where(is_followed[:, None], jnp.concatenate([xs[1:], xs[-1:]]), xs)
    if solver.interpolation == "linear":
        return Bin(xs, ends, dt)
    lines = ends - xs
    safe = jnp.where(dt > 0, dt, 1.0)
    slopes = lines / safe[:, None]
    if solver.interpolation == "natural":
        knots = _natural_slopes(slopes, jnp.where(is_followed, 1 / safe, 0.0))
    else:
        knots = jnp.concatenate([slopes[:1], slopes])
    bends = (knots[:-1] * dt[:, None] - lines, lines - knots[1:] * dt[:, None])
    p, q = (jnp.where(is_followed[:, None], bend, 0.0) for bend in bends)
    return Bin(xs, ends, dt, None, (p, q))


def _natural_slopes(D: Float[Array, "time inputs"], g: Float[Array, " time"]) -> Float[Array, "knots inputs"]:
    """Solves for the slopes k at all knots: the second derivative is continuous, and zero at both ends.

        g_(i-1) k_(i-1) + 2 (g_(i-1) + g_i) k_i + g_i k_(i+1) = 3 (D_(i-1) g_(i-1) + D_i g_i)

    with g = 1 / length, zero for a piece that is not there.
    """
    nothing, flat = jnp.zeros(1, g.dtype), jnp.zeros((1, D.shape[1]), D.dtype)
    left, right = jnp.concatenate([nothing, g]), jnp.concatenate([g, nothing])
    weighted = D * g[:, None]
    sums = 3 * (jnp.concatenate([flat, weighted]) + jnp.concatenate([weighted, flat]))
    diagonal = 2 * (left + right)
    diagonal = jnp.where(diagonal > 0, diagonal, 1.0)
    return jax.lax.linalg.tridiagonal_solve(left, diagonal, right, sums)


def input_at(bin: Bin, share: Array | float) -> Float[Array, " inputs"]:
    """Returns the input at a fraction `share` of the bin, from 0 to 1."""
    if bin.end is None:
        return bin.start
    x = bin.start + share * (bin.end - bin.start)
    if bin.bends is None:
        return x
    p, q = bin.bends
    return x + share * (1 - share) * ((1 - share) * p + share * q)


def slope_at(bin: Bin, share: Array | float) -> Float[Array, " inputs"]:
    """Returns the derivative of the input by the fraction of the bin."""
    if bin.end is None:
        return jnp.zeros_like(bin.start)
    slope = bin.end - bin.start
    if bin.bends is None:
        return slope
    p, q = bin.bends
    return slope + (1 - 2 * share) * ((1 - share) * p + share * q) + share * (1 - share) * (q - p)
