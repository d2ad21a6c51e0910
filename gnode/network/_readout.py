"""The readout: from what a cell shows to the outputs."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode.activations import activation
from gnode.init import Initialiser
from gnode.types import Key


class Readout(eqx.Module):
    """y = C phi(... phi(C_1 s + d_1)) + d of the visible state s: affine without hidden layers, else an MLP."""

    C: tuple[Float[Array, "_ _"], ...]
    d: tuple[Float[Array, " _"], ...]
    hidden: str = eqx.field(static=True, default="relu")

    def __call__(self, s: Float[Array, " units"]) -> Float[Array, " outputs"]:
        y = s @ self.C[0].T + self.d[0]
        for C, d in zip(self.C[1:], self.d[1:]):
            y = activation(self.hidden)(y) @ C.T + d
        return y


def draw_readout(sizes: Sequence[int], rule: Initialiser, key: Key) -> Readout:
    """Draws a readout with layers of these sizes, from the cell's units to the outputs; its biases are zero."""
    keys = jax.random.split(key, len(sizes))
    return Readout(
        C=tuple(rule.weight(keys[i], (sizes[i + 1], sizes[i])) for i in range(len(sizes) - 1)),
        d=tuple(jnp.zeros(size) for size in sizes[1:]),
    )
