"""UnICORNN: undamped, independently controlled oscillators (Rusch and Mishra 2021)."""

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import SecondOrderCell, check_shapes, check_sizes
from gnode.cells._timescale import Timescale, check_timescale, timescale
from gnode.init import Initialiser, initialiser
from gnode.trained import untrained
from gnode.types import Key, as_key

ONE_EIGHTH = 1 / 8
"""Its authors' scale of V, U(-k, k) with k^2 = 6 / ((1 + 8^2) D)."""


@checked_class
class UnICORNN(SecondOrderCell):
    """One layer of UnICORNN, undamped oscillators that do not see each other, with a state (y, z) of size 2 N:

        tau dy/dt =  sigmoid(c) * z
        tau dz/dt = -sigmoid(c) * (tanh(w * y + V x + b) + alpha y).

    Units are coupled through the layers on top of it (`--layers`). Without input its energy is constant; forward-backward
    Euler, which takes z first, is symplectic and keeps it within bounds for ever.

    | symbol | field   | shape |
    |--------|---------|-------|
    | w      | `w`     | N     |
    | V      | `V`     | N x D |
    | b      | `b`     | N     |
    | c      | `c`     | N, which sets the time constant of each unit |
    | alpha  | `alpha` | a number, not trained |

    >>> unicornn(2, 5, alpha=1.0, key=0)
    UnICORNN(2 inputs, 5 units, tau=1, 25 parameters)
    """

    w: Float[Array, " units"]
    V: Float[Array, "units inputs"]
    b: Float[Array, " units"]
    c: Float[Array, " units"]
    timescale: Timescale
    alpha: Float[Array, ""] = untrained()
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def __check_init__(self):
        N, D = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        check_shapes(w=(self.w, (N,)), V=(self.V, (N, D)), b=(self.b, (N,)), c=(self.c, (N,)))
        check_timescale(self.timescale, N)

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    def fields_of_blocks(
        self, h: Float[Array, " state"], x: Float[Array, " inputs"]
    ) -> tuple[Array, Callable[[Array], Array]]:
        y = h[: self.units]
        pace = jax.nn.sigmoid(self.c) / self.timescale()
        force = jnp.tanh(self.w * y + x @ self.V.T + self.b) + self.alpha * y
        return -pace * force, lambda z: pace * z


@checked
def unicornn(
    inputs: int,
    state: int,
    *,
    alpha: float = 1.0,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "pytorch",
    bias_std: float | None = None,
    key: Key | int,
) -> UnICORNN:
    """Draws one layer of UnICORNN of N = `state` units, a flow of (y, z) in 2 N dimensions, at random.

    Arguments as in `gated`, and `alpha`, the stiffness. With the default rule V, w and c are drawn as its authors do: w from
    0 to 1, c close to 0, biases zero. Another rule draws V and the biases.

    **Returns:** a `UnICORNN` cell.

    >>> unicornn(2, 5, key=0).b.tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0]
    """
    inputs, state = check_sizes(inputs, state)
    alpha = errors.not_negative("alpha", alpha)
    key_V, key_w, key_c, key_b = jax.random.split(as_key(key), 4)
    if init == "pytorch" and bias_std is None:
        bound = jnp.sqrt(6 / ((1 + 1 / ONE_EIGHTH**2) * inputs))
        V, b = jax.random.uniform(key_V, (state, inputs), minval=-bound, maxval=bound), jnp.zeros(state)
    else:
        rule = initialiser(init, bias_std)
        V, b = rule.weight(key_V, (state, inputs)), rule.bias(key_b, state)
    return UnICORNN(
        w=jax.random.uniform(key_w, (state,)),
        V=V,
        b=b,
        c=jax.random.uniform(key_c, (state,), minval=-0.1, maxval=0.1),
        timescale=timescale(tau, learn_tau, state),
        alpha=jnp.asarray(float(alpha)),
        inputs=inputs,
        units=state,
    )
