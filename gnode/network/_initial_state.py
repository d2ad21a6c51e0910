"""The state before the first bin."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode import errors
from gnode.cells import Cell
from gnode.init import Initialiser
from gnode.network.names import INITIAL_STATES
from gnode.types import Frozen, Key


class InitialState(eqx.Module):
    """The state before the first bin, h_(-1)."""

    @abc.abstractmethod
    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Returns the state, given the input of the first bin."""


class FixedState(InitialState, Frozen):
    """One vector, the same for all trials, never trained."""

    h0: Float[Array, " state"]

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return self.h0


class LearnedState(InitialState):
    """One vector, the same for all trials, trained with the rest."""

    h0: Float[Array, " state"]

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return self.h0


class AffineState(InitialState):
    """h_(-1) = A x_0 + a, a trained affine map of the first input."""

    A: Float[Array, "state inputs"]
    a: Float[Array, " state"]

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return self.A @ x + self.a


def initial_state(kind: str, cell: Cell, rule: Initialiser, key: Key) -> InitialState:
    """Draws an initial state for a cell.

    **Arguments:** `kind`, a name from `INITIAL_STATES`; `cell`; `rule`, the initialiser of an affine map; `key`.

    >>> from gnode.cells import rnn
    >>> from gnode.init import initialiser
    >>> initial_state("zeros", rnn(2, 3, key=0), initialiser("glorot_normal"), jax.random.key(0))(jnp.ones(2)).tolist()
    [0.0, 0.0, 0.0]
    """
    errors.one_of("initial", kind, INITIAL_STATES)
    size = cell.state_size
    if kind == "affine":
        return AffineState(rule.weight(key, (size, cell.inputs)), jnp.zeros(size))
    draw = jnp.sqrt(2 / (size + 1)) * jax.random.normal(key, (size,))
    if kind == "learned":
        return LearnedState(draw)
    return FixedState(jnp.zeros(size) if kind == "zeros" else draw)
