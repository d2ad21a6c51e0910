"""The long short-term memory cell in continuous time."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import Cell, check_shapes, check_sizes
from gnode.cells._gru import blocks
from gnode.cells._timescale import Timescale, check_timescale, timescale
from gnode.init import Initialiser, initialiser
from gnode.types import Key, as_key


@checked_class
class LSTM(Cell):
    """The LSTM of Hochreiter and Schmidhuber in continuous time. Its state is (h, c), each of size N:

        i, f, o   = sigmoid(W h + U x + b), each with its own rows
        g         = tanh(W_g h + U_g x + b_g)
        tau dc/dt = -c + (f * c + i * g)
        tau dh/dt = -h + o * tanh(f * c + i * g).

    The target of c is f * c + i * g. Because h is read from this target rather than from c, one Euler step with dt = tau is
    exactly the standard discrete cell.

    | symbol                | field | shape  | rows          |
    |-----------------------|-------|--------|---------------|
    | W_i, W_f, W_g, W_o    | `W`   | 4N x N | in this order |
    | U_i, U_f, U_g, U_o    | `U`   | 4N x D | in this order |
    | b_i, b_f, b_g, b_o    | `b`   | 4N     | in this order |

    >>> lstm(2, 5, tau=0.5, key=0)
    LSTM(2 inputs, 5 units, tau=0.5, 160 parameters)
    """

    W: Float[Array, "rows units"]
    U: Float[Array, "rows inputs"]
    b: Float[Array, " rows"]
    timescale: Timescale
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def __check_init__(self):
        N, D = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        check_shapes(W=(self.W, (4 * N, N)), U=(self.U, (4 * N, D)), b=(self.b, (4 * N,)))
        check_timescale(self.timescale, N)

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    @property
    def state_size(self) -> int:
        return 2 * self.units

    def visible(self, h: Float[Array, "*time state"]) -> Float[Array, "*time units"]:
        return h[..., : self.units]

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        h, c = jnp.split(h, 2)
        i, f, g, o = jnp.split(h @ self.W.T + x @ self.U.T + self.b, 4)
        target = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        tau = self.timescale()
        return jnp.concatenate([(jax.nn.sigmoid(o) * jnp.tanh(target) - h) / tau, (target - c) / tau])


@checked
def lstm(
    inputs: int,
    state: int,
    *,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "glorot_uniform",
    bias_std: float | None = None,
    forget_bias: float = 0.0,
    key: Key | int,
) -> LSTM:
    """Draws a long short-term memory cell of N = `state` units, a flow of (h, c) in 2 N dimensions, at random.

    Arguments as in `gated`; `forget_bias` is added to b_f. With 1 the cell remembers from the first update on, which helps
    on long trials.

    **Returns:** an `LSTM` cell.

    >>> lstm(2, 5, key=0).state_size
    10
    """
    inputs, state = check_sizes(inputs, state)
    rule, forget_bias = initialiser(init, bias_std), errors.finite("forget_bias", forget_bias)
    key_W, key_U, key_b = jax.random.split(as_key(key), 3)
    return LSTM(
        W=blocks(rule, key_W, 4, (state, state)),
        U=blocks(rule, key_U, 4, (state, inputs)),
        b=rule.bias(key_b, 4 * state).at[state : 2 * state].add(forget_bias),
        timescale=timescale(tau, learn_tau, state),
        inputs=inputs,
        units=state,
    )
