"""ODE-LSTM: an LSTM at samples and a flow between them (Lechner and Hasani 2020)."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import Cell, check_mask, check_shapes, check_sizes
from gnode.cells._gru import blocks
from gnode.cells._stack import Stack, draw_stack
from gnode.cells._timescale import Timescale, check_timescale, timescale
from gnode.init import Initialiser, initialiser
from gnode.types import Key, as_key


@checked_class
class ODELSTM(Cell):
    """The ODE-LSTM of Lechner and Hasani. Its state is (h, c), each of size N. When a sample arrives,

        i, f, o = sigmoid(W h + U x + b), each with its own rows,     g = tanh(W_g h + U_g x + b_g)
        c <- f * c + i * g,     h <- o * tanh(c),

    and until the next one

        tau dh/dt = F(h),     dc/dt = 0.

    The flow knows neither the input nor c. With `masked` the input is (m, x), a mask m and the values that it tells of, and
    the LSTM sees both (D is their number); where m is all zeros no sample arrives, and the flow goes on. Fixed points are
    those of the map of one bin, a jump and a flow.

    | symbol             | field | shape                    |
    |--------------------|-------|--------------------------|
    | W_i, W_f, W_g, W_o | `W`   | 4N x N, in this order    |
    | U_i, U_f, U_g, U_o | `U`   | 4N x D                   |
    | b_i, b_f, b_g, b_o | `b`   | 4N                       |
    | F                  | `F`   | a `Stack` from R^N to R^N |

    >>> ode_lstm(2, 5, widths=(5,), key=0)
    ODELSTM(2 inputs, 5 units, F=5-5-5, tau=1, 220 parameters)
    """

    W: Float[Array, "rows units"]
    U: Float[Array, "rows inputs"]
    b: Float[Array, " rows"]
    F: Stack
    timescale: Timescale
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)
    masked: bool = eqx.field(static=True, default=False)

    def __check_init__(self):
        N, D = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        check_mask(self.masked, D)
        check_shapes(W=(self.W, (4 * N, N)), U=(self.U, (4 * N, D)), b=(self.b, (4 * N,)))
        if (self.F.W[0].shape[1], self.F.W[-1].shape[0], self.F.U.shape[1]) != (N, N, 0):
            raise errors.ArgumentError(f"F is {self.F}, but must map {N} units, and no inputs, to {N} units.")
        check_timescale(self.timescale, N)

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    @property
    def state_size(self) -> int:
        return 2 * self.units

    def visible(self, h: Float[Array, "*time state"]) -> Float[Array, "*time units"]:
        return h[..., : self.units]

    def jump(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        if not self.masked:
            return self._updated(h, x)
        mask = x[: self.inputs // 2]
        return jnp.where(jnp.any(mask > 0), self._updated(h, x), h)

    def _updated(self, h: Array, x: Array) -> Array:
        h, c = jnp.split(h, 2)
        i, f, g, o = jnp.split(h @ self.W.T + x @ self.U.T + self.b, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return jnp.concatenate([jax.nn.sigmoid(o) * jnp.tanh(c), c])

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        h, c = jnp.split(h, 2)
        return jnp.concatenate([self.F(h, jnp.zeros(0, h.dtype)) / self.timescale(), jnp.zeros_like(c)])


@checked
def ode_lstm(
    inputs: int,
    state: int,
    *,
    widths: Sequence[int] = (100,),
    hidden: str = "tanh",
    final: str = "identity",
    masked: bool = False,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "pytorch",
    bias_std: float | None = None,
    key: Key | int,
) -> ODELSTM:
    """Draws an ODE-LSTM of N = `state` units, whose state has 2 N dimensions, at random.

    Arguments as in `gated`; F has one hidden layer of tanh in its authors' code (of N units there). `masked` is whether the
    first half of the inputs is the mask of the second, as the option `masks` of tasks has it: a bin in which nothing was
    observed is then no sample.

    **Returns:** an `ODELSTM` cell.

    >>> ode_lstm(2, 5, key=0).is_flow
    False
    """
    widths = errors.wholes("widths", widths)
    inputs, state = check_sizes(inputs, state, widths)
    check_mask(masked, inputs)
    rule = initialiser(init, bias_std)
    key_W, key_U, key_b, key_F = jax.random.split(as_key(key), 4)
    # PyTorch draws all four arrays of an LSTM by its number of units, and adds two biases.
    is_own = init == "pytorch" and bias_std is None
    bound = 1 / jnp.sqrt(state)

    def uniform(key: Key, shape: tuple[int, ...]) -> Array:
        return jax.random.uniform(key, shape, minval=-bound, maxval=bound)

    key_b1, key_b2 = jax.random.split(key_b)
    return ODELSTM(
        W=uniform(key_W, (4 * state, state)) if is_own else blocks(rule, key_W, 4, (state, state)),
        U=uniform(key_U, (4 * state, inputs)) if is_own else blocks(rule, key_U, 4, (state, inputs)),
        b=uniform(key_b1, (4 * state,)) + uniform(key_b2, (4 * state,)) if is_own else rule.bias(key_b, 4 * state),
        F=draw_stack(key_F, 0, state, widths, rule, rule, hidden=hidden, final=final),
        timescale=timescale(tau, learn_tau, state),
        inputs=inputs,
        units=state,
        masked=bool(masked),
    )
