"""A rate network of excitatory and inhibitory units (Dale's law), with a mask of connections."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.activations import activation
from gnode.arguments import checked, checked_class
from gnode.cells._base import Cell, check_shapes, check_sizes
from gnode.cells._options import RATES
from gnode.cells._timescale import Timescale, check_timescale, timescale
from gnode.init import Initialiser, empirical_gain, initialiser
from gnode.init.structured import balanced_ensemble, balanced_strength, draw_balanced
from gnode.trained import untrained
from gnode.types import Key, as_key


@checked_class
class Dale(Cell):
    """A rate network whose units excite or inhibit, and never change from one to the other:

        tau dh/dt = -h + W r + U x + b,     r = phi(h) >= 0,     W_ij = mask_ij |A_ij| s_j.

    A is trained and free, so the signs of W and its missing connections hold after every update, whatever the optimiser
    does. The absolute value keeps weight decay what it is elsewhere (a softplus would decay to 0.69, not to 0), and no
    weight is lost for good, as it is where a rectified one has become negative. The readout sees the rates r.

    | symbol | field       | shape | trained |
    |--------|-------------|-------|---------|
    | A      | `A`         | N x N | yes     |
    | U      | `U`         | N x D | yes     |
    | b      | `b`         | N     | yes     |
    | mask   | `mask`      | N x N | no      |
    | s      | `signs`     | N     | no      |
    | phi    | `hidden`    |       |         |

    >>> dale(2, 10, key=0)
    Dale(2 inputs, 10 units, tau=1, 130 parameters)
    """

    A: Float[Array, "units units"]
    U: Float[Array, "units inputs"]
    b: Float[Array, " units"]
    timescale: Timescale
    hidden: str = eqx.field(static=True)
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)
    mask: Float[Array, "units units"] = untrained()
    signs: Float[Array, " units"] = untrained()

    def __check_init__(self):
        N, D = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        check_shapes(A=(self.A, (N, N)), mask=(self.mask, (N, N)), U=(self.U, (N, D)), b=(self.b, (N,)))
        check_shapes(signs=(self.signs, (N,)))
        errors.one_of("hidden", self.hidden, RATES)
        check_timescale(self.timescale, N)
        for name, allowed in (("mask", (0, 1)), ("signs", (-1, 1))):
            values = getattr(self, name)
            if not isinstance(values, Tracer) and not np.all(np.isin(np.asarray(values), allowed)):
                raise errors.ArgumentError(f"{name} holds other numbers than {allowed[0]} and {allowed[1]}.")

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    @property
    def recurrent(self) -> Float[Array, "units units"]:
        """W, the weights with their signs and without the missing ones."""
        return self.mask * jnp.abs(self.A) * self.signs

    def visible(self, h: Float[Array, "*time state"]) -> Float[Array, "*time units"]:
        """Computes the rates r = phi(h), which are not negative."""
        return activation(self.hidden)(h)

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return (self.visible(h) @ self.recurrent.T + x @ self.U.T + self.b - h) / self.timescale()


@checked
def dale(
    inputs: int,
    state: int,
    *,
    excitatory: float = 0.8,
    density: float = 1.0,
    self_connections: bool = True,
    hidden: str = "relu",
    baseline: float | None = None,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "glorot_uniform",
    bias_std: float | None = None,
    key: Key | int,
) -> Dale:
    """Draws a rate network that obeys Dale's law, tau dh/dt = -h + W phi(h) + U x + b, balanced and at random.

    In every row excitation and inhibition cancel, so that the signs leave no outlier in the spectrum of W, and h = b is a
    fixed point: see `gnode.theory.BalancedNetwork`, which also says how the weights are drawn.

    **Arguments:**

    - `inputs`, `state`, `tau`, `learn_tau`, `bias_std`, `key`: as in `gated`.
    - `excitatory`: the share of excitatory units, which come first.
    - `density`: the share of connections that exist: the same number for each unit, from units chosen at random.
    - `self_connections`: whether a unit may connect to itself.
    - `hidden`: phi, one of "relu", "softplus" and "sigmoid", so that rates are not negative.
    - `baseline`: the initial bias of every unit, by default 1 for ReLU (where all units are active) and 0 otherwise.
    - `init`: "critical" puts the spectral radius of phi'(b) W at 1; any other rule gives W the radius sqrt(N var) that it
      has without signs, and draws U.

    **Returns:** a `Dale` cell.

    **Raises:** `ArgumentError` for a value that is not allowed, or if a network is too small to be critical.

    >>> cell = dale(2, 50, density=0.2, key=0)
    >>> bool(jnp.all(cell.recurrent[:, :40] >= 0)), round(abs(float(cell.recurrent.sum(1).max())), 4)
    (True, 0.0)
    """
    inputs, state = check_sizes(inputs, state)
    errors.one_of("hidden", hidden, RATES)
    rest = (1.0 if hidden == "relu" else 0.0) if baseline is None else float(errors.finite("baseline", baseline))
    network = balanced_ensemble(state, excitatory, density, self_connections)
    rule = initialiser(init, bias_std)
    key_A, key_U, key_b = jax.random.split(as_key(key), 3)
    A, mask, signs = draw_balanced(key_A, network)
    A = balanced_strength(rule, network, hidden, rest) * A
    if rule.critical == "empirical":
        A = A * empirical_gain(A * signs * jax.grad(activation(hidden))(rest), 1)
    return Dale(
        A=A,
        U=rule.weight(key_U, (state, inputs)),
        b=rest + rule.bias(key_b, state),
        mask=mask,
        signs=signs,
        timescale=timescale(tau, learn_tau, state),
        hidden=hidden,
        inputs=inputs,
        units=state,
    )
