"""GRU-ODE-Bayes: a continuous GRU that is corrected by sporadic observations (De Brouwer et al. 2019)."""

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
from gnode.cells._gru_ode import GRUODE
from gnode.cells._stack import Stack
from gnode.cells._timescale import Timescale, timescale
from gnode.init import Initialiser, initialiser
from gnode.types import Key, as_key

FIRST_BIAS, FIRST_OBSERVED_BIAS = 0.05, 0.1
"""Where the biases of all maps, and those of the observed variables, begin for its authors."""
PREDICTION_WIDTH, OBSERVATION_WIDTH = 25, 10
"""The hidden units of the prediction, and the features of each observed variable, for its authors."""


@checked_class
class GRUODEBayes(Cell):
    """The GRU-ODE-Bayes of De Brouwer et al.: a flow between observations, which corrects itself when one arrives.

    The state h holds a belief about the D' observed variables, with the means mu and the logarithms of the variances s:

        (mu, s) = C relu(C_1 h + d_1) + d.

    Between observations it follows the continuous GRU without an input, tau dh/dt = g * (-h + n), or with the input
    (mu, s), its own prediction (`impute`). When values x arrive, of which a mask m tells the observed ones,

        e   = (x - mu) / exp(s / 2)
        q_i = m_i relu([x_i, mu_i, s_i, e_i] P_i + p_i)          for each variable i
        h   <- GRU([q_1; ...; q_D'], h),

    the discrete GRU. With `masked` the input of the cell is (m, x), D = 2 D'; otherwise all of it counts as observed. The
    fixed points are those of the map of one bin, a jump and a flow.

    | symbol     | field        | shape                                             |
    |------------|--------------|---------------------------------------------------|
    | g, n       | `flow`       | a `GRUODE` cell; its input is (mu, s) or nothing  |
    | C_1, C     | `prediction` | a `Stack` from R^N to R^(2 D')                    |
    | P          | `P`          | D' x 4 x prep                                     |
    | p          | `p`          | D' x prep                                         |
    | GRU: reset, update, candidate | `W`, `U`, `b` | 3N x N, 3N x D' prep, 3N, and `b_n` inside the candidate |

    >>> gru_ode_bayes(2, 5, key=0)
    GRUODEBayes(2 inputs, 5 units, tau=1, 899 parameters)
    """

    flow: GRUODE
    prediction: Stack
    P: Float[Array, "observed 4 features"]
    p: Float[Array, "observed features"]
    W: Float[Array, "rows units"]
    U: Float[Array, "rows columns"]
    b: Float[Array, " rows"]
    b_n: Float[Array, " units"]
    masked: bool = eqx.field(static=True)
    impute: bool = eqx.field(static=True)
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def __check_init__(self):
        N, D = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        observed, features = D // (2 if self.masked else 1), self.p.shape[-1]
        check_shapes(
            P=(self.P, (observed, 4, features)),
            p=(self.p, (observed, features)),
            W=(self.W, (3 * N, N)),
            U=(self.U, (3 * N, observed * features)),
            b=(self.b, (3 * N,)),
            b_n=(self.b_n, (N,)),
        )
        if self.flow.units != N or self.flow.inputs != 2 * observed:
            raise errors.ArgumentError(f"flow is {self.flow}, but must have {N} units and {2 * observed} inputs.")

    @property
    def timescale(self) -> Timescale:
        return self.flow.timescale

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.flow.timescale()

    @property
    def observed(self) -> int:
        """D', the number of observed variables."""
        return self.p.shape[0]

    def predicted(self, h: Float[Array, "*time state"]) -> tuple[Array, Array]:
        """Returns what the state predicts of the observed variables: the means, and the logarithms of the variances."""
        flat = h.reshape(-1, h.shape[-1])
        both = jax.vmap(lambda h: self.prediction(h, jnp.zeros(0, h.dtype)))(flat)
        mean, logarithm = jnp.split(both.reshape(*h.shape[:-1], -1), 2, axis=-1)
        return mean, logarithm

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        own = jnp.concatenate(self.predicted(h)) if self.impute else jnp.zeros(2 * self.observed, h.dtype)
        return self.flow.vector_field(h, own)

    def jump(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        values = x[-self.observed :]
        mask = x[: self.observed] if self.masked else jnp.ones_like(values)
        mean, logarithm = self.predicted(h)
        values = jnp.where(mask > 0, values, 0.0)
        error = (values - mean) * jnp.exp(-logarithm / 2)
        given = jnp.stack([values, mean, logarithm, error], axis=-1)
        q = mask[:, None] * jax.nn.relu(jnp.einsum("ia,iab->ib", given, self.P) + self.p)
        after = self._gru(h, q.ravel())
        return jnp.where(jnp.any(mask > 0), after, h)

    def _gru(self, h: Array, q: Array) -> Array:
        N = self.units
        of_h, of_q = h @ self.W.T, q @ self.U.T + self.b
        r, z = jnp.split(jax.nn.sigmoid(of_h[: 2 * N] + of_q[: 2 * N]), 2)
        n = jnp.tanh(of_q[2 * N :] + r * (of_h[2 * N :] + self.b_n))
        return (1 - z) * n + z * h


@checked
def gru_ode_bayes(
    inputs: int,
    state: int,
    *,
    minimal: bool = False,
    masked: bool = False,
    impute: bool = False,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "glorot_uniform",
    bias_std: float | None = None,
    key: Key | int,
) -> GRUODEBayes:
    """Draws a GRU-ODE-Bayes of N = `state` units at random.

    Arguments as in `gated`; `minimal` as in `gru_ode`; `masked` is whether the first half of the inputs is the mask of the
    second, as the option `masks` of tasks has it; `impute` is whether the flow between observations gets its own prediction.
    Its authors draw the GRU of the jump by PyTorch's rule and all else by Glorot's, with small positive biases, as here.

    **Returns:** a `GRUODEBayes` cell.

    >>> gru_ode_bayes(4, 5, masked=True, key=0).observed
    2
    """
    inputs, state = check_sizes(inputs, state)
    check_mask(masked, inputs)
    observed = inputs // 2 if masked else inputs
    rule, own = initialiser(init, bias_std), timescale(tau, learn_tau, state)
    key_flow, key_prediction, key_P, key_W, key_U, key_b, key_n = jax.random.split(as_key(key), 7)
    bound = 1 / jnp.sqrt(state)

    def uniform(key: Key, *shape: int) -> Array:
        return jax.random.uniform(key, shape, minval=-bound, maxval=bound)

    spread = jnp.sqrt(2 / (4 + OBSERVATION_WIDTH))
    first = FIRST_BIAS if bias_std is None else 0.0
    return GRUODEBayes(
        flow=_drawn_flow(rule, first, own, (observed, state), bool(minimal), bool(impute), key_flow),
        prediction=_drawn_prediction(rule, first, (observed, state), key_prediction),
        P=spread * jax.random.normal(key_P, (observed, 4, OBSERVATION_WIDTH)),
        p=jnp.full((observed, OBSERVATION_WIDTH), FIRST_OBSERVED_BIAS),
        W=uniform(key_W, 3 * state, state),
        U=uniform(key_U, 3 * state, observed * OBSERVATION_WIDTH),
        b=uniform(key_b, 3 * state),
        b_n=uniform(key_n, state),
        masked=bool(masked),
        impute=bool(impute),
        inputs=inputs,
        units=state,
    )


def _drawn_flow(
    rule: Initialiser, first: float, tau: Timescale, sizes: tuple[int, int], minimal: bool, impute: bool, key: Key
) -> GRUODE:
    """Draws the flow between observations; its input is the prediction, or nothing."""
    observed, state = sizes
    parts = 2 if minimal else 3
    W = blocks(rule, key, parts, (state, state))
    U = blocks(rule, jax.random.fold_in(key, 1), parts, (state, 2 * observed))
    return GRUODE(
        W=W,
        U=U if impute else jnp.zeros_like(U),
        b=jnp.full(len(W), first if impute else 0.0),
        timescale=tau,
        minimal=minimal,
        inputs=2 * observed,
        units=state,
    )


def _drawn_prediction(rule: Initialiser, first: float, sizes: tuple[int, int], key: Key) -> Stack:
    observed, state = sizes
    key_1, key_2 = jax.random.split(key)
    return Stack(
        W=(rule.weight(key_1, (PREDICTION_WIDTH, state)), rule.weight(key_2, (2 * observed, PREDICTION_WIDTH))),
        U=jnp.zeros((PREDICTION_WIDTH, 0)),
        b=(jnp.full(PREDICTION_WIDTH, first), jnp.full(2 * observed, first)),
        hidden="relu",
        final="identity",
    )
