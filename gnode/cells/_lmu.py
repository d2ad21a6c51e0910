"""Legendre memory units (Voelker et al. 2019), with a gate or without."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells._base import Cell, check_shapes, check_sizes
from gnode.cells._options import GATINGS
from gnode.cells._stack import Stack
from gnode.cells._timescale import Timescale, check_timescale, timescale
from gnode.init import Initialiser, initialiser
from gnode.trained import untrained
from gnode.types import Key, as_key

HIGHEST_ORDER = 256
LONGEST_BIN = 16.0
"""In units of theta; after that much time nothing is left of what was before, and a longer bin changes nothing more."""
TERMS, SMALL = 12, 0.5
"""Of the series of exp, whose rest is below 1e-13 for matrices that are so small."""


def hippo(order: int) -> tuple[Float[np.ndarray, "order order"], Float[np.ndarray, " order"]]:
    """Returns A and B of theta m' = A m + B u, which holds the last theta seconds of u as Legendre coefficients."""
    i, j = np.arange(order)[:, None], np.arange(order)[None]
    A = (2 * i + 1) * np.where(i < j, -1.0, (-1.0) ** (i - j + 1))
    return A, (2 * i[:, 0] + 1) * (-1.0) ** i[:, 0]


@checked_class
class LMU(Cell):
    """The Legendre memory unit of Voelker et al.: M memories m of order K, and N units h beside them.

        u          = P [x; h] + Q m + p
        theta m'   = g * (A m + B u)                          for each of the M memories
        tau dh/dt  = -h + tanh(W m + V x + R h)

    A and B are the HiPPO matrices, by which m holds the last theta seconds of u as Legendre coefficients. With a gate g of
    the memories (of the input, or of input and h) that time runs slower or stands still. In its own step the memories are
    moved exactly for an input u and a gate that are held, then h by forward Euler from the new m: with dt = tau and without
    a gate this is the authors' update ("zoh"). Forward-backward Euler is their update "euler". The readout sees h.

    | symbol  | field         | shape                    |
    |---------|---------------|--------------------------|
    | P, Q, p | `P`, `Q`, `p` | M x (D + N), M x M K, M  |
    | W, V, R | `W`, `V`, `R` | N x M K, N x D, N x N    |
    | theta   | `theta`       | a number in seconds, not trained |
    | g       | `gate`        | a `Stack` from h and x to M, final sigmoid; or None |

    >>> lmu(2, 5, order=4, theta=1.0, tau=0.1, key=0)
    LMU(2 inputs, 5 units, tau=0.1, 67 parameters)
    """

    P: Float[Array, "memories columns"]
    Q: Float[Array, "memories coefficients"]
    p: Float[Array, " memories"]
    W: Float[Array, "units coefficients"]
    V: Float[Array, "units inputs"]
    R: Float[Array, "units units"]
    gate: Stack | None
    timescale: Timescale
    order: int = eqx.field(static=True)
    gating: str = eqx.field(static=True)
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)
    theta: Float[Array, ""] = untrained()

    def __check_init__(self):
        N, D = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        memories = self.p.shape[0]
        size = memories * self.order
        check_shapes(
            P=(self.P, (memories, D + N)),
            Q=(self.Q, (memories, size)),
            W=(self.W, (N, size)),
            V=(self.V, (N, D)),
            R=(self.R, (N, N)),
        )
        check_timescale(self.timescale, N)

    @property
    def default_method(self) -> str:
        return "own"

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return jnp.mean(self.timescale())

    @property
    def coefficients(self) -> int:
        """M K, the number of variables of the memories, which come first in the state."""
        return self.Q.shape[-1]

    @property
    def state_size(self) -> int:
        return self.coefficients + self.units

    @property
    def unit_of_state(self) -> Int[np.ndarray, " state"]:
        return np.concatenate([np.full(self.coefficients, -1), np.arange(self.units)])

    @property
    def blocks(self) -> tuple[slice, slice]:
        return slice(0, self.coefficients), slice(self.coefficients, self.state_size)

    def visible(self, h: Float[Array, "*time state"]) -> Float[Array, "*time units"]:
        return h[..., self.coefficients :]

    def fields_of_blocks(
        self, h: Float[Array, " state"], x: Float[Array, " inputs"]
    ) -> tuple[Array, Callable[[Array], Array]]:
        m, h = h[: self.coefficients], h[self.coefficients :]
        A, B = self._matrices(m.dtype)
        change = self._memories(m) @ A.T + self._written(m, h, x)[:, None] * B
        pace = self._gate(h, x) / self.theta
        return (pace[:, None] * change).ravel(), lambda m: (self._target(m, h, x) - h) / self.timescale()

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        memories, units = self.fields_of_blocks(h, x)
        return jnp.concatenate([memories, units(h[: self.coefficients])])

    def own_step(
        self, h: Float[Array, " state"], x: Float[Array, " inputs"], dt: Float[Array, ""] | float
    ) -> Float[Array, " state"]:
        m, h = h[: self.coefficients], h[self.coefficients :]
        A, B = self._matrices(m.dtype)
        shares = self._gate(h, x) * dt / self.theta
        # exp of the matrix with B u beside it gives the whole step.
        written = self._written(m, h, x)
        whole = jnp.pad(jnp.concatenate([A, B[:, None]], axis=1), ((0, 1), (0, 0)))
        change = exponential_minus_one(jnp.minimum(shares, LONGEST_BIN)[:, None, None] * whole, _halvings(self.order))
        beside = jnp.concatenate([self._memories(m), written[:, None]], axis=1)
        m = m + jnp.einsum("mij,mj->mi", change, beside)[:, : self.order].ravel()
        return jnp.concatenate([m, h + dt / self.timescale() * (self._target(m, h, x) - h)])

    def _matrices(self, dtype: jnp.dtype) -> tuple[Array, Array]:
        A, B = hippo(self.order)
        return jnp.asarray(A, dtype), jnp.asarray(B, dtype)

    def _memories(self, m: Array) -> Float[Array, "memories order"]:
        return m.reshape(-1, self.order)

    def _written(self, m: Array, h: Array, x: Array) -> Float[Array, " memories"]:
        """u, what is written into each memory."""
        return jnp.concatenate([x, h]) @ self.P.T + m @ self.Q.T + self.p

    def _target(self, m: Array, h: Array, x: Array) -> Float[Array, " units"]:
        return jnp.tanh(m @ self.W.T + x @ self.V.T + h @ self.R.T)

    def _gate(self, h: Array, x: Array) -> Float[Array, " memories"]:
        if self.gate is None:
            return jnp.ones(self.p.shape, h.dtype)
        return self.gate(jnp.zeros_like(h) if self.gating == "input" else h, x)


def exponential_minus_one(X: Float[Array, "*batch n n"], halvings: int) -> Float[Array, "*batch n n"]:
    """Computes exp(X) - 1, of X / 2^halvings by its series, then by squares: (1 + E)^2 - 1 = 2 E + E^2.

    It has products only. jax.scipy.linalg.expm solves a linear system by LAPACK, which inside programs that several threads
    run on few cores can wait forever for a thread of the pool that it runs in itself. Kept apart from 1, E loses no digits.
    """
    X = X / 2**halvings
    E = X / TERMS
    for term in range(TERMS - 1, 0, -1):
        E = (X + X @ E) / term
    return jax.lax.fori_loop(0, halvings, lambda _, E: 2 * E + E @ E, E)


@lru_cache
def _halvings(order: int) -> int:
    """How often the matrix of the memories is halved until the series gives all digits, in the longest bin."""
    A, B = hippo(order)
    norm = float(np.linalg.norm(np.concatenate([A, B[:, None]], axis=1), 2))
    return max(0, math.ceil(math.log2(LONGEST_BIN * norm / SMALL)))


@checked
def lmu(
    inputs: int,
    state: int,
    *,
    order: int = 16,
    memories: int = 1,
    theta: float | None = None,
    gating: str = "no",
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "glorot_normal",
    bias_std: float | None = None,
    key: Key | int,
) -> LMU:
    """Draws a Legendre memory unit of N = `state` units at random, as its authors do.

    **Arguments:** `init` (of W, V, R and the gate) and others as in `gated`;

    - `order`: K, the number of Legendre coefficients of each memory.
    - `memories`: M, the number of memories.
    - `theta`: the time that the memories hold, in seconds; by default 100 tau.
    - `gating`: the gate of the memories: "no", "input" or "state".

    **Returns:** an `LMU` cell.

    >>> lmu(2, 5, order=4, memories=3, key=0).state_size
    17
    """
    inputs, state = check_sizes(inputs, state)
    order, memories = errors.whole("order", order, at_most=HIGHEST_ORDER), errors.whole("memories", memories)
    errors.one_of("gating", gating, GATINGS)
    errors.affordable("memories", memories, 8.0 * memories * order * (state + memories * order))
    rule = initialiser(init, bias_std)
    own = timescale(tau, learn_tau, state)
    longest = 100 * jnp.mean(own()) if theta is None else errors.positive("theta", theta)
    key_x, key_h, key_W, key_V, key_R, key_G = jax.random.split(as_key(key), 6)

    def lecun(key: Key, columns: int) -> Array:
        bound = jnp.sqrt(3 / columns)
        return jax.random.uniform(key, (memories, columns), minval=-bound, maxval=bound)

    gate = None
    if gating != "no":
        key_G, key_U = jax.random.split(key_G)
        of_h = jnp.zeros((memories, state)) if gating == "input" else rule.weight(key_G, (memories, state))
        gate = Stack((of_h,), rule.weight(key_U, (memories, inputs)), (jnp.zeros(memories),), "relu", "sigmoid")
    return LMU(
        P=jnp.concatenate([lecun(key_x, inputs), lecun(key_h, state)], axis=1),
        Q=jnp.zeros((memories, memories * order)),
        p=jnp.zeros(memories),
        W=rule.weight(key_W, (state, memories * order)),
        V=rule.weight(key_V, (state, inputs)),
        R=rule.weight(key_R, (state, state)),
        gate=gate,
        timescale=own,
        theta=jnp.asarray(longest, float),
        order=order,
        gating=gating,
        inputs=inputs,
        units=state,
    )
