"""Closed-form continuous-time networks (Hasani et al. 2022)."""

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
from gnode.init import Initialiser, initialiser
from gnode.types import Key, as_key

AMPLITUDE, SLOPE = 1.7159, 0.666
"""Of the backbone's activation, 1.7159 tanh(0.666 a)."""


@checked_class
class CfC(Cell):
    """A closed-form continuous-time network: the state after a time T is a formula, with no integrator.

        q     = phi(B [x; h] + b),      phi(a) = 1.7159 tanh(0.666 a), for each layer of the backbone
        s     = sigmoid((T / tau) (A_1 q + a_1) + A_2 q + a_2)
        h(T)  = (1 - s) * tanh(F_1 q + f_1) + s * tanh(F_2 q + f_2).

    It is a map of one bin (`method="own"`), not a flow: half of the time T taken twice is another map. Fixed points are
    those of the map; `vector_field` is the mean velocity over tau, (h(tau) - h) / tau, one Euler step of which is that map.

    | symbol             | field           | shape                         |
    |--------------------|-----------------|-------------------------------|
    | B, b               | `B`, `b`        | layers, the first R x (D + N), columns x then h |
    | F_1, F_2, A_1, A_2 | `heads`         | 4N x R, in this order         |
    | f_1, f_2, a_1, a_2 | `offsets`       | 4N                            |

    >>> cfc(2, 5, widths=(10,), tau=0.5, key=0)
    CfC(2 inputs, 5 units, tau=0.5, 300 parameters)
    """

    B: tuple[Float[Array, "_ _"], ...]
    b: tuple[Float[Array, " _"], ...]
    heads: Float[Array, "rows last"]
    offsets: Float[Array, " rows"]
    timescale: Timescale
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def __check_init__(self):
        N, D = errors.whole("units", self.units), errors.whole("inputs", self.inputs)
        sizes = [D + N, *(B.shape[0] for B in self.B)]
        for place, (B, b) in enumerate(zip(self.B, self.b)):
            check_shapes(B=(B, (sizes[place + 1], sizes[place])), b=(b, (sizes[place + 1],)))
        check_shapes(heads=(self.heads, (4 * N, sizes[-1])), offsets=(self.offsets, (4 * N,)))
        check_timescale(self.timescale, N)

    @property
    def default_method(self) -> str:
        return "own"

    @property
    def is_flow(self) -> bool:
        return False

    @property
    def time_constant(self) -> Float[Array, "..."]:
        return self.timescale()

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return (self._after(h, x, 1.0) - h) / self.timescale()

    def own_step(
        self, h: Float[Array, " state"], x: Float[Array, " inputs"], dt: Float[Array, ""] | float
    ) -> Float[Array, " state"]:
        return self._after(h, x, dt / self.timescale())

    def _after(self, h: Array, x: Array, share: Array | float) -> Array:
        q = jnp.concatenate([x, h])
        for B, b in zip(self.B, self.b):
            q = AMPLITUDE * jnp.tanh(SLOPE * (q @ B.T + b))
        start, end, pace, offset = jnp.split(q @ self.heads.T + self.offsets, 4)
        s = jax.nn.sigmoid(share * pace + offset)
        return (1 - s) * jnp.tanh(start) + s * jnp.tanh(end)


@checked
def cfc(
    inputs: int,
    state: int,
    *,
    widths: Sequence[int] = (128,),
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
    init: str | Initialiser = "glorot_uniform",
    bias_std: float | None = None,
    key: Key | int,
) -> CfC:
    """Draws a closed-form continuous-time network of N = `state` units at random.

    Arguments as in `gated`; `widths` are those of the backbone.

    **Returns:** a `CfC` cell.

    >>> cfc(2, 5, key=0).is_flow
    False
    """
    widths = errors.wholes("widths", widths)
    inputs, state = check_sizes(inputs, state, widths)
    rule = initialiser(init, bias_std)
    if rule.critical != "no":
        raise errors.ArgumentError(
            "init is critical, but that scale is known for F of the gated family only (gnODE, nODE, mGRU, RNN); for a CfC "
            "choose another rule, such as init='glorot_uniform'."
        )
    sizes = (inputs + state, *widths)
    keys_B, keys_b, key_heads, key_offsets = jax.random.split(as_key(key), 4)
    B, b = [], []
    for place, size in enumerate(widths):
        B.append(rule.weight(jax.random.fold_in(keys_B, place), (size, sizes[place])))
        b.append(rule.bias(jax.random.fold_in(keys_b, place), size))
    parts = jax.random.split(key_heads, 4)
    return CfC(
        B=tuple(B),
        b=tuple(b),
        heads=jnp.concatenate([rule.weight(part, (state, sizes[-1])) for part in parts]),
        offsets=rule.bias(key_offsets, 4 * state),
        timescale=timescale(tau, learn_tau, state),
        inputs=inputs,
        units=state,
    )
