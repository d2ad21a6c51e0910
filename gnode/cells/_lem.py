"""Long expressive memory (Rusch et al.), with and without its gates."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import SecondOrderCell, check_shapes, check_sizes
from gnode.cells._gru import blocks
from gnode.cells._timescale import Timescale, check_timescale, timescale
from gnode.init import Initialiser, initialiser
from gnode.types import Key, as_key


@checked_class
class LEM(SecondOrderCell):
    """Long expressive memory of Rusch et al. Its state is (y, z), each of size N:

        tau dz/dt = sigmoid(W_1 y + U_1 x + b_1) * (-z + tanh(W_z y + U_z x + b_z))
        tau dy/dt = sigmoid(W_2 y + U_2 x + b_2) * (-y + tanh(W_y z + U_y x + b_y)).

    Without gates both sigmoids are 1. The published update is forward-backward Euler: z is updated first, then y from the
    new z; both gates depend on the old y. As a flow it is an mGRU of size 2 N whose gate does not depend on z and whose W_h
    is block anti-diagonal.

    | symbol               | field    | shape  | rows          |
    |----------------------|----------|--------|---------------|
    | W_z, W_y             | `W`      | 2N x N | in this order |
    | U_z, U_y             | `U`      | 2N x D | in this order |
    | b_z, b_y             | `b`      | 2N     | in this order |
    | W_1, W_2 (gates)     | `W_gate` | 2N x N | in this order; None without gates |
    | U_1, U_2, b_1, b_2   | `U_gate`, `b_gate` | | likewise |

    >>> lem(2, 5, tau=0.5, key=0)
    LEM(2 inputs, 5 units, tau=0.5, 160 parameters)
    """

    W: Float[Array, "rows units"]
    U: Float[Array, "rows inputs"]
    b: Float[Array, " rows"]
    W_gate: Float[Array, "rows units"] | None
    U_gate: Float[Array, "rows inputs"] | None
    b_gate: Float[Array, " rows"] | None
    timescale: Timescale
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def __check_init__(self):
        N, D = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        check_shapes(W=(self.W, (2 * N, N)), U=(self.U, (2 * N, D)), b=(self.b, (2 * N,)))
        check_shapes(W_gate=(self.W_gate, (2 * N, N)), U_gate=(self.U_gate, (2 * N, D)), b_gate=(self.b_gate, (2 * N,)))
        if len({gate is None for gate in (self.W_gate, self.U_gate, self.b_gate)}) > 1:
            raise errors.ArgumentError("W_gate, U_gate and b_gate must be all arrays or all None.")
        check_timescale(self.timescale, N)

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    def fields_of_blocks(
        self, h: Float[Array, " state"], x: Float[Array, " inputs"]
    ) -> tuple[Array, Callable[[Array], Array]]:
        y, z = jnp.split(h, 2)
        W_z, W_y = jnp.split(self.W, 2)
        input_z, input_y = jnp.split(x @ self.U.T + self.b, 2)
        gate_z, gate_y, tau = 1.0, 1.0, self.timescale()
        if self.W_gate is not None and self.U_gate is not None and self.b_gate is not None:
            gates = jax.nn.sigmoid(y @ self.W_gate.T + x @ self.U_gate.T + self.b_gate)
            gate_z, gate_y = jnp.split(gates, 2)
        speed_z = gate_z * (jnp.tanh(y @ W_z.T + input_z) - z) / tau
        return speed_z, lambda z: gate_y * (jnp.tanh(z @ W_y.T + input_y) - y) / tau


@checked
def lem(
    inputs: int,
    state: int,
    *,
    gate: bool = True,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "glorot_uniform",
    bias_std: float | None = None,
    key: Key | int,
) -> LEM:
    """Draws a long expressive memory of N = `state` units, a flow of (y, z) in 2 N dimensions, at random.

    Arguments as in `gated`; `gate` is whether the two sigmoid gates are present.

    **Returns:** a `LEM` cell.

    >>> lem(2, 5, key=0).state_size
    10
    """
    inputs, state = check_sizes(inputs, state)
    rule = initialiser(init, bias_std)
    keys = jax.random.split(as_key(key), 6)
    return LEM(
        W=blocks(rule, keys[0], 2, (state, state)),
        U=blocks(rule, keys[1], 2, (state, inputs)),
        b=rule.bias(keys[2], 2 * state),
        W_gate=blocks(rule, keys[3], 2, (state, state)) if gate else None,
        U_gate=blocks(rule, keys[4], 2, (state, inputs)) if gate else None,
        b_gate=rule.bias(keys[5], 2 * state) if gate else None,
        timescale=timescale(tau, learn_tau, state),
        inputs=inputs,
        units=state,
    )
