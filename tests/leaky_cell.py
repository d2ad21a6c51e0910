"""A cell as a contributor would add one: this file, and one line in the registry (see test_new_cell.py)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode.cells import Cell
from gnode.types import as_key


class Leaky(Cell):
    """tau dh/dt = -h + tanh(W h + U x)."""

    W: Float[Array, "units units"]
    U: Float[Array, "units inputs"]
    tau: float = eqx.field(static=True)
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def vector_field(self, h: Float[Array, " state"], x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return (jnp.tanh(self.W @ h + self.U @ x) - h) / self.tau


def leaky(inputs, state, *, tau=1.0, init="glorot_normal", key):
    """Draws the cell."""
    key_W, key_U = jax.random.split(as_key(key))
    draw = jax.nn.initializers.glorot_normal()
    return Leaky(draw(key_W, (state, state)), draw(key_U, (state, inputs)), tau, inputs, state)
