"""The gated recurrent unit in continuous time."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import GatedCell, check_shapes, check_sizes
from gnode.cells._timescale import Timescale, check_timescale, timescale
from gnode.init import Initialiser, initialiser
from gnode.types import Key, as_key


@checked_class
class GRU(GatedCell):
    """The GRU of Cho et al. in continuous time:

        r         = sigmoid(W_r h + U_r x + b_r)
        g         = sigmoid(W_g h + U_g x + b_g)
        n         = tanh(U_n x + b_n + r * (W_n h + c_n))
        tau dh/dt = g * (-h + n).

    With dt = tau, one Euler step is the standard discrete cell h' = (1 - z) n + z h, where z = 1 - g.

    | symbol           | field | shape  | rows         |
    |------------------|-------|--------|--------------|
    | W_r, W_g, W_n    | `W`   | 3N x N | in this order|
    | U_r, U_g, U_n    | `U`   | 3N x D | in this order|
    | b_r, b_g, b_n    | `b`   | 3N     | in this order|
    | c_n              | `c`   | N      |              |

    >>> gru(2, 5, tau=0.5, key=0)
    GRU(2 inputs, 5 units, tau=0.5, 125 parameters)
    """

    W: Float[Array, "rows units"]
    U: Float[Array, "rows inputs"]
    b: Float[Array, " rows"]
    c: Float[Array, " units"]
    timescale: Timescale
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def __check_init__(self):
        N, D = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        check_shapes(W=(self.W, (3 * N, N)), U=(self.U, (3 * N, D)), b=(self.b, (3 * N,)), c=(self.c, (N,)))
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
        from_state = jnp.split(h @ self.W.T, 3)
        from_input = jnp.split(x @ self.U.T + self.b, 3)
        r = jax.nn.sigmoid(from_state[0] + from_input[0])
        g = jax.nn.sigmoid(from_state[1] + from_input[1])
        n = jnp.tanh(from_input[2] + r * (from_state[2] + self.c))
        return g, n - h


@checked
def gru(
    inputs: int,
    state: int,
    *,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "glorot_uniform",
    bias_std: float | None = None,
    key: Key | int,
) -> GRU:
    """Draws a gated recurrent unit, tau dh/dt = g * (-h + n), at random.

    Each N x N block of the weights is drawn separately. Arguments as in `gated`.

    **Returns:** a `GRU` cell.

    >>> gru(2, 5, key=0).W.shape
    (15, 5)
    """
    inputs, state = check_sizes(inputs, state)
    rule = initialiser(init, bias_std)
    key_W, key_U, key_b, key_c = jax.random.split(as_key(key), 4)
    return GRU(
        W=blocks(rule, key_W, 3, (state, state)),
        U=blocks(rule, key_U, 3, (state, inputs)),
        b=rule.bias(key_b, 3 * state),
        c=rule.bias(key_c, state),
        timescale=timescale(tau, learn_tau, state),
        inputs=inputs,
        units=state,
    )


def blocks(rule: Initialiser, key: Key, count: int, shape: tuple[int, int]) -> Float[Array, "rows columns"]:
    """Draws `count` matrices of one shape, each with the fan-in and fan-out of that shape, and stacks their rows."""
    if rule.critical != "no":
        raise errors.ArgumentError(
            "init is critical, but that scale is known for F of the gated family only (gnODE, nODE, mGRU, RNN); for GRU, "
            "LSTM and LEM choose another rule, such as init='glorot_normal'."
        )
    return jnp.concatenate([rule.weight(part, shape) for part in jax.random.split(key, count)])
