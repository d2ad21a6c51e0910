"""The drift of GRU-ODE (De Brouwer et al. 2019)."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import GatedCell, check_shapes, check_sizes
from gnode.cells._gru import blocks
from gnode.cells._timescale import Timescale, check_timescale, timescale
from gnode.init import Initialiser, initialiser
from gnode.types import Key, as_key


@checked_class
class GRUODE(GatedCell):
    """The continuous GRU of De Brouwer et al.:

        r         = sigmoid(W_r h + U_r x + b_r)
        g         = sigmoid(W_g h + U_g x + b_g)
        n         = tanh(W_n (r * h) + U_n x + b_n)
        tau dh/dt = g * (-h + n).

    It differs from the cell `gru` in where the reset gate acts: on h, before the product with W_n. In the minimal one r is
    1 - g. Its authors' update gate is z = 1 - g.

    | symbol        | field | shape  | rows |
    |---------------|-------|--------|------|
    | W_r, W_g, W_n | `W`   | 3N x N | in this order; in the minimal one 2N, without W_r |
    | U_r, U_g, U_n | `U`   | 3N x D | likewise |
    | b_r, b_g, b_n | `b`   | 3N     | likewise |

    >>> gru_ode(2, 5, tau=0.5, key=0)
    GRUODE(2 inputs, 5 units, tau=0.5, 120 parameters)
    """

    W: Float[Array, "rows units"]
    U: Float[Array, "rows inputs"]
    b: Float[Array, " rows"]
    timescale: Timescale
    minimal: bool = eqx.field(static=True)
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def __check_init__(self):
        N, D = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        rows = (2 if self.minimal else 3) * N
        check_shapes(W=(self.W, (rows, N)), U=(self.U, (rows, D)), b=(self.b, (rows,)))
        check_timescale(self.timescale, N)

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    def drift(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Computes -h + n, which is zero at a fixed point for any value of g."""
        return self._gate_and_drift(h, x)[1]

    def gate(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Computes g; each component is between 0 (closed) and 1 (open)."""
        return self._gate_and_drift(h, x)[0]

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        gate, drift = self._gate_and_drift(h, x)
        return gate * drift / self.timescale()

    def _gate_and_drift(self, h: Array, x: Array) -> tuple[Array, Array]:
        N = self.units
        from_input = x @ self.U.T + self.b
        gates = jax.nn.sigmoid(h @ self.W[:-N].T + from_input[:-N])
        g = gates[-N:]
        r = 1 - g if self.minimal else gates[:N]
        n = jnp.tanh((r * h) @ self.W[-N:].T + from_input[-N:])
        return g, n - h


@checked
def gru_ode(
    inputs: int,
    state: int,
    *,
    minimal: bool = False,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "glorot_uniform",
    bias_std: float | None = None,
    key: Key | int,
) -> GRUODE:
    """Draws a continuous GRU whose reset gate acts on h, tau dh/dt = g * (-h + n), at random.

    Each N x N block of the weights is drawn separately. Arguments as in `gated`; `minimal` is whether the reset gate is
    1 - g instead of one of its own.

    **Returns:** a `GRUODE` cell.

    >>> gru_ode(2, 5, minimal=True, key=0).W.shape
    (10, 5)
    """
    inputs, state = check_sizes(inputs, state)
    rule = initialiser(init, bias_std)
    key_W, key_U, key_b = jax.random.split(as_key(key), 3)
    count = 2 if minimal else 3
    return GRUODE(
        W=blocks(rule, key_W, count, (state, state)),
        U=blocks(rule, key_U, count, (state, inputs)),
        b=rule.bias(key_b, count * state),
        timescale=timescale(tau, learn_tau, state),
        minimal=bool(minimal),
        inputs=inputs,
        units=state,
    )
