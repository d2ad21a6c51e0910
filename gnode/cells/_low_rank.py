"""A rate network whose recurrent matrix has a low rank."""

from collections.abc import Sequence

import equinox as eqx
import jax
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.activations import activation
from gnode.arguments import checked, checked_class
from gnode.cells._base import Cell, check_shapes, check_sizes
from gnode.cells._timescale import Timescale, check_timescale, timescale
from gnode.init import Initialiser, initialiser
from gnode.init.structured import draw_low_rank, low_rank_overlap
from gnode.types import Key, as_key


@checked_class
class LowRank(Cell):
    """A rate network of N units with a recurrent matrix of rank R, which is trained in its factors:

        tau dh/dt = -h + W phi(h) + U x + b,     W = M N^T / N_units.

    The recurrence reads R numbers, kappa = N^T phi(h) / N_units, and moves the state along the R columns of M only. A state
    that starts at 0 therefore stays in the span of M, U and b. The entries of M and N are of order one at any N_units.

    | symbol | field    | shape |
    |--------|----------|-------|
    | M      | `M`      | N x R |
    | N      | `N`      | N x R |
    | U      | `U`      | N x D |
    | b      | `b`      | N     |
    | phi    | `hidden` |       |

    >>> lowrank(2, 100, rank=2, key=0)
    LowRank(2 inputs, 100 units, tau=1, 700 parameters)
    """

    M: Float[Array, "units rank"]
    N: Float[Array, "units rank"]
    U: Float[Array, "units inputs"]
    b: Float[Array, " units"]
    timescale: Timescale
    hidden: str = eqx.field(static=True)
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def __check_init__(self):
        units, inputs = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        if self.M.ndim != 2 or self.M.size == 0:
            raise errors.ArgumentError(f"M has shape {self.M.shape}, but must have shape ({units}, rank).")
        shape = (units, self.M.shape[1])
        check_shapes(M=(self.M, shape), N=(self.N, shape), U=(self.U, (units, inputs)), b=(self.b, (units,)))
        activation(self.hidden)
        check_timescale(self.timescale, units)

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    @property
    def recurrent(self) -> Float[Array, "units units"]:
        """W = M N^T / N_units."""
        return self.M @ self.N.T / self.units

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        kappa = activation(self.hidden)(h) @ self.N / self.units
        return (kappa @ self.M.T + x @ self.U.T + self.b - h) / self.timescale()


@checked
def lowrank(
    inputs: int,
    state: int,
    *,
    rank: int = 1,
    hidden: str = "tanh",
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "glorot_uniform",
    bias_std: float | None = None,
    key: Key | int,
) -> LowRank:
    """Draws a rate network of low rank, tau dh/dt = -h + M N^T phi(h) / N_units + U x + b, at random.

    The columns of M are orthogonal, and N overlaps with M so that all R eigenvalues of W that are not zero are equal: with
    independent M and N they would be of order 1 / sqrt(N_units), and the recurrence would add nothing to the leak.

    **Arguments:**

    - `inputs`, `state`, `tau`, `learn_tau`, `bias_std`, `key`: as in `gated`.
    - `rank`: R, at most the number of units.
    - `hidden`: phi.
    - `init`: "critical" sets the eigenvalues of W to 1 / phi'(0), so that the R directions are marginal at rest (without
      bias); any other rule sets them to the spectral radius of its matrices of full rank, and draws U.

    **Returns:** a `LowRank` cell.

    **Raises:** `ArgumentError` for a value that is not allowed.

    >>> lowrank(2, 100, rank=3, key=0).M.shape
    (100, 3)
    """
    inputs, state = check_sizes(inputs, state)
    if errors.whole("rank", rank) > state:
        raise errors.ArgumentError(f"rank is {rank}, but must be at most the number of units, which is {state}.")
    activation(hidden)
    rule = initialiser(init, bias_std)
    key_W, key_U, key_b = jax.random.split(as_key(key), 3)
    M, N = draw_low_rank(key_W, state, int(rank), low_rank_overlap(rule, hidden))
    return LowRank(
        M=M,
        N=N,
        U=rule.weight(key_U, (state, inputs)),
        b=rule.bias(key_b, state),
        timescale=timescale(tau, learn_tau, state),
        hidden=hidden,
        inputs=inputs,
        units=state,
    )
