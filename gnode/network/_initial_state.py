"""Initial states: the state before the first bin."""

import abc

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.cells import Cell
from gnode.init import Initialiser
from gnode.network.names import INITIAL_STATES
from gnode.types import Frozen, Key, as_key, module_repr


def _check_start(h0: Array) -> None:
    if h0.size == 0 or (not isinstance(h0, Tracer) and not np.all(np.isfinite(h0))):
        raise errors.ArgumentError(f"h0 is {errors.shown(h0)}, but must be an array of finite numbers.")


class InitialState(eqx.Module):
    """Abstract base class of the state before the first bin, h_(-1).

    No example: see `FixedState`, `LearnedState` and `AffineState`.
    """

    @abc.abstractmethod
    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """Computes the state from the input of the first bin."""

    def __repr__(self) -> str:
        shapes = [f"{name} of shape {jnp.shape(leaf)}" for name, leaf in vars(self).items() if leaf is not None]
        return module_repr(self, *shapes)


@checked_class
class FixedState(InitialState, Frozen):
    """A constant initial state, the same for all trials.

    >>> FixedState(jnp.zeros(3))
    FixedState(h0 of shape (3,), 0 parameters)
    """

    h0: Float[Array, " state"]

    def __check_init__(self):
        _check_start(self.h0)

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return self.h0


@checked_class
class LearnedState(InitialState):
    """A trained initial state, the same for all trials.

    >>> LearnedState(jnp.zeros(3))
    LearnedState(h0 of shape (3,), 3 parameters)
    """

    h0: Float[Array, " state"]

    def __check_init__(self):
        _check_start(self.h0)

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return self.h0


@checked_class
class AffineState(InitialState):
    """A trained affine map of the first input, h_(-1) = A x_0 + a.

    >>> AffineState(jnp.ones((2, 1)), jnp.zeros(2))(jnp.ones(1)).tolist()
    [1.0, 1.0]
    """

    A: Float[Array, "state inputs"]
    a: Float[Array, " state"]

    def __check_init__(self):
        if self.A.shape[:1] != self.a.shape:
            raise errors.ArgumentError(f"a has shape {self.a.shape}, but must have shape {self.A.shape[:1]}, as A has.")

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        return self.A @ x + self.a


@checked_class
class AugmentedState(InitialState):
    """An initial state of which the last units are zero: those that augment a network (Dupont et al. 2019).

    **Arguments:**

    - `state`: the state of all units.
    - `units`, `augment`: their number, and how many of them begin at zero.
    - `zeros`: the places that these have in the state (`Cell.unit_of_state`); without it a state holds as many variables for
      each unit, one of all units after another.

    >>> AugmentedState(FixedState(jnp.ones(4)), units=2, augment=1)(jnp.ones(1)).tolist()
    [1.0, 0.0, 1.0, 0.0]
    """

    state: InitialState
    units: int = eqx.field(static=True)
    augment: int = eqx.field(static=True)
    zeros: tuple[int, ...] | None = eqx.field(static=True, default=None)

    def __check_init__(self):
        errors.whole("augment", self.augment, at_most=errors.whole("units", self.units))
        for place in self.zeros or ():
            errors.whole("a place in zeros", place, at_least=0)

    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        h = self.state(x)
        if self.zeros is not None:
            if max(self.zeros, default=0) >= h.shape[0]:
                raise errors.ArgumentError(f"zeros holds {max(self.zeros)}, but the state has {h.shape[0]} variables.")
            return jnp.where(np.isin(np.arange(h.shape[0]), self.zeros), 0.0, h)
        if h.shape[0] % self.units:
            return h
        is_seen = jnp.arange(self.units) < self.units - self.augment
        return jnp.where(jnp.tile(is_seen, h.shape[0] // self.units), h, 0.0)

    def __repr__(self) -> str:
        return module_repr(self, repr(self.state), f"{self.augment} of {self.units} units are zero")


@checked
def initial_state(kind: str, cell: Cell, rule: Initialiser, key: Key) -> InitialState:
    """Draws an initial state for a cell.

    **Arguments:**

    - `kind`: a name from `INITIAL_STATES`.
    - `cell`: the cell whose state it is.
    - `rule`: the initialiser of the matrix of an affine map.
    - `key`: a jax key.

    **Returns:** an `InitialState`.

    >>> from gnode.cells import rnn
    >>> from gnode.init import initialiser
    >>> initial_state("zeros", rnn(2, 3, key=0), initialiser("glorot_normal"), jax.random.key(0))(jnp.ones(2)).tolist()
    [0.0, 0.0, 0.0]
    """
    errors.one_of("initial", kind, INITIAL_STATES)
    key = as_key(key)
    size = cell.state_size
    if kind == "affine":
        return AffineState(rule.weight(key, (size, cell.inputs)), jnp.zeros(size))
    draw = jnp.sqrt(2 / (size + 1)) * jax.random.normal(key, (size,))
    if kind == "learned":
        return LearnedState(draw)
    return FixedState(jnp.zeros(size) if kind == "zeros" else draw)
