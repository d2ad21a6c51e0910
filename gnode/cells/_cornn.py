"""Coupled oscillatory recurrent network (Rusch and Mishra 2021)."""

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
from gnode.trained import untrained
from gnode.types import Key, as_key


@checked_class
class CoRNN(SecondOrderCell):
    """The coupled oscillators of Rusch and Mishra: damped and driven, with a state (y, z) of size 2 N, z the velocity:

        tau dy/dt = z
        tau dz/dt = tanh(W y + V z + U x + b) - gamma y - epsilon z.

    The published update is forward-backward Euler: z first, then y from the new z, with the step dt / tau. Its authors call
    V z "W' y'", and their step 0.01 to 0.1, so that tau is 10 to 100 bins.

    | symbol          | field              | shape |
    |-----------------|--------------------|-------|
    | W, V            | `W`, `V`           | N x N |
    | U               | `U`                | N x D |
    | b               | `b`                | N     |
    | gamma, epsilon  | `gamma`, `epsilon` | numbers that are not trained: the stiffness and the damping |

    >>> cornn(2, 5, tau=0.5, key=0)
    CoRNN(2 inputs, 5 units, tau=0.5, 65 parameters)
    """

    W: Float[Array, "units units"]
    V: Float[Array, "units units"]
    U: Float[Array, "units inputs"]
    b: Float[Array, " units"]
    timescale: Timescale
    gamma: Float[Array, ""] = untrained()
    epsilon: Float[Array, ""] = untrained()
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def __check_init__(self):
        N, D = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        check_shapes(W=(self.W, (N, N)), V=(self.V, (N, N)), U=(self.U, (N, D)), b=(self.b, (N,)))
        check_timescale(self.timescale, N)

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    def fields_of_blocks(
        self, h: Float[Array, " state"], x: Float[Array, " inputs"]
    ) -> tuple[Array, Callable[[Array], Array]]:
        y, z = jnp.split(h, 2)
        force = jnp.tanh(y @ self.W.T + z @ self.V.T + x @ self.U.T + self.b) - self.gamma * y - self.epsilon * z
        return force / self.timescale(), lambda z: z / self.timescale()


@checked
def cornn(
    inputs: int,
    state: int,
    *,
    gamma: float = 1.0,
    epsilon: float = 1.0,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "pytorch",
    bias_std: float | None = None,
    key: Key | int,
) -> CoRNN:
    """Draws a coupled oscillatory network of N = `state` units, a flow of (y, z) in 2 N dimensions, at random.

    **Arguments:**

    - `inputs`, `state`, `tau`, `learn_tau`, `bias_std`, `key`: as in `gated`.
    - `gamma`, `epsilon`: the stiffness and the damping, not negative. Large ones need a large tau: with forward-backward
      Euler a step is stable up to about dt / tau = min(2 / sqrt(gamma), 2 / epsilon).
    - `init`: as in `gated`; the default is that of its authors, for whom W, V and U are one matrix of N x (D + 2 N).

    **Returns:** a `CoRNN` cell.

    >>> cornn(2, 5, key=0).state_size
    10
    """
    inputs, state = check_sizes(inputs, state)
    rule = initialiser(init, bias_std)
    key_A, key_b = jax.random.split(as_key(key))
    A = blocks(rule, key_A, 1, (state, inputs + 2 * state))
    return CoRNN(
        W=A[:, inputs + state :],
        V=A[:, inputs : inputs + state],
        U=A[:, :inputs],
        b=rule.bias(key_b, state),
        timescale=timescale(tau, learn_tau, state),
        gamma=jnp.asarray(errors.not_negative("gamma", gamma), float),
        epsilon=jnp.asarray(errors.not_negative("epsilon", epsilon), float),
        inputs=inputs,
        units=state,
    )
