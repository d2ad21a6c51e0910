"""Liquid time-constant networks (Hasani et al. 2021)."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import Cell, check_shapes, check_sizes
from gnode.cells._timescale import Timescale, check_timescale, timescale
from gnode.types import Key, as_key

TINY = 1e-8
"""What its authors add to the denominator of a step."""


@checked_class
class LTC(Cell):
    """A liquid time-constant network: neurons with a leak and synapses of graded conductance. For unit i,

        S_ji(u)         = sigmoid(sigma_ji (u_j - mu_ji))
        c_i tau dh_i/dt = g_i (v_i - h_i) + sum_j w_ji S_ji(h) (E_ji - h_i) + sum_j w'_ji S'_ji(a * x + d) (E'_ji - h_i),

    where primes mark the synapses of the inputs. c, g, w and w' are the softplus of what is trained. The total conductance,
    and with it the time constant of a unit, depends on state and input.

    Its own step is semi-implicit: h on the right of each bracket is that at the end of the step, S that at its start. Its
    authors take six such steps in a bin (`substeps=6`).

    | symbol           | field                                  | shape       |
    |------------------|----------------------------------------|-------------|
    | c, g, v          | `capacitance`, `leak`, `resting`       | N           |
    | w, E, mu, sigma  | `w`, `E`, `mu`, `sigma`                | N x N, [from, to] |
    | w', E', mu', sigma' | `w_in`, `E_in`, `mu_in`, `sigma_in` | D x N       |
    | a, d             | `a`, `d`                               | D           |

    >>> ltc(2, 5, key=0)
    LTC(2 inputs, 5 units, tau=1, 159 parameters)
    """

    capacitance: Float[Array, " units"]
    leak: Float[Array, " units"]
    resting: Float[Array, " units"]
    w: Float[Array, "units units"]
    E: Float[Array, "units units"]
    mu: Float[Array, "units units"]
    sigma: Float[Array, "units units"]
    w_in: Float[Array, "inputs units"]
    E_in: Float[Array, "inputs units"]
    mu_in: Float[Array, "inputs units"]
    sigma_in: Float[Array, "inputs units"]
    a: Float[Array, " inputs"]
    d: Float[Array, " inputs"]
    timescale: Timescale
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def __check_init__(self):
        N, D = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        shapes = dict.fromkeys(("capacitance", "leak", "resting"), (N,))
        shapes |= dict.fromkeys(("w", "E", "mu", "sigma"), (N, N))
        shapes |= dict.fromkeys(("w_in", "E_in", "mu_in", "sigma_in"), (D, N)) | {"a": (D,), "d": (D,)}
        check_shapes(**{name: (getattr(self, name), shape) for name, shape in shapes.items()})
        check_timescale(self.timescale, N)

    @property
    def default_method(self) -> str:
        return "own"

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        source, conductance = self._source_and_conductance(h, x)
        return (source - conductance * h) / (jax.nn.softplus(self.capacitance) * self.timescale())

    def own_step(
        self, h: Float[Array, " state"], x: Float[Array, " inputs"], dt: Float[Array, ""] | float
    ) -> Float[Array, " state"]:
        source, conductance = self._source_and_conductance(h, x)
        inert, step = jax.nn.softplus(self.capacitance), dt / self.timescale()
        return (inert * h + step * source) / (inert + step * (conductance + TINY))

    def _source_and_conductance(self, h: Array, x: Array) -> tuple[Array, Array]:
        """What drives the units, and their total conductance: tau c dh/dt = source - conductance * h."""
        S = jax.nn.softplus(self.w) * jax.nn.sigmoid(self.sigma * (h[:, None] - self.mu))
        u = self.a * x + self.d
        S_in = jax.nn.softplus(self.w_in) * jax.nn.sigmoid(self.sigma_in * (u[:, None] - self.mu_in))
        g = jax.nn.softplus(self.leak)
        source = g * self.resting + jnp.sum(S * self.E, 0) + jnp.sum(S_in * self.E_in, 0)
        return source, g + jnp.sum(S, 0) + jnp.sum(S_in, 0)


@checked
def ltc(
    inputs: int,
    state: int,
    *,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    key: Key | int,
) -> LTC:
    """Draws a liquid time-constant network of N = `state` units, all connected, at random as its authors do.

    Arguments as in `gated`.

    **Returns:** an `LTC` cell.

    >>> ltc(2, 5, key=0).a.tolist()
    [1.0, 1.0]
    """
    inputs, state = check_sizes(inputs, state)
    keys = iter(jax.random.split(as_key(key), 11))

    def uniform(low: float, high: float, *shape: int) -> Array:
        return jax.random.uniform(next(keys), shape, minval=low, maxval=high)

    def potential(*shape: int) -> Array:
        return jnp.where(jax.random.bernoulli(next(keys), 1 / 3, shape), -1.0, 1.0)

    return LTC(
        leak=uniform(0.001, 1.0, state),
        resting=uniform(-0.2, 0.2, state),
        capacitance=uniform(0.4, 0.6, state),
        w=uniform(0.001, 1.0, state, state),
        w_in=uniform(0.001, 1.0, inputs, state),
        sigma=uniform(3.0, 8.0, state, state),
        sigma_in=uniform(3.0, 8.0, inputs, state),
        mu=uniform(0.3, 0.8, state, state),
        mu_in=uniform(0.3, 0.8, inputs, state),
        E=potential(state, state),
        E_in=potential(inputs, state),
        a=jnp.ones(inputs),
        d=jnp.zeros(inputs),
        timescale=timescale(tau, learn_tau, state),
        inputs=inputs,
        units=state,
    )
