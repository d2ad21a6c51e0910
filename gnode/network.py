"""A network: an initial state, a cell, and a readout."""

import abc
from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.activations import activation
from gnode.cells import Cell
from gnode.init import Initialiser, initialiser
from gnode.solve import Solver, advance, as_solver, rollout, rollout_batch
from gnode.types import Frozen, Key, as_key


class Trajectory(NamedTuple):
    """What a network did on one trial, or on each of a batch."""

    outputs: Float[Array, "*batch time outputs"]
    states: Float[Array, "*batch time state"]


class InitialState(eqx.Module):
    """The state before the first bin, h_(-1)."""

    @abc.abstractmethod
    def __call__(self, x: Float[Array, " inputs"]) -> Float[Array, " state"]:
        """The state, given the input of the first bin."""


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


INITIAL_STATES = {
    "zeros": "h = 0",
    "random": "one fixed draw from N(0, 2 / (N + 1)), shared by all trials",
    "learned": "a trained vector",
    "affine": "a trained affine map of the first input",
}


def initial_state(kind: str, cell: Cell, rule: Initialiser, key: Key) -> InitialState:
    """The initial state of that kind (see `INITIAL_STATES`) for a cell."""
    errors.one_of("initial", kind, INITIAL_STATES)
    size = cell.state_size
    if kind == "affine":
        return AffineState(rule.weight(key, (size, cell.inputs)), jnp.zeros(size))
    draw = jnp.sqrt(2 / (size + 1)) * jax.random.normal(key, (size,))
    if kind == "learned":
        return LearnedState(draw)
    return FixedState(jnp.zeros(size) if kind == "zeros" else draw)


class Readout(eqx.Module):
    """y = C phi(... phi(C_1 s + d_1)) + d of what the cell shows: affine without hidden layers, else an MLP."""

    C: tuple[Float[Array, "_ _"], ...]
    d: tuple[Float[Array, " _"], ...]
    hidden: str = eqx.field(static=True, default="relu")

    def __call__(self, s: Float[Array, " units"]) -> Float[Array, " outputs"]:
        y = s @ self.C[0].T + self.d[0]
        for C, d in zip(self.C[1:], self.d[1:]):
            y = activation(self.hidden)(y) @ C.T + d
        return y


class Network(eqx.Module):
    """Initial state + cell + readout.

    The output at bin t is read after the state has taken in x_t: y_t = readout(h_t).

    **Arguments:** `cell`; `outputs`, the number of output channels; `initial`, a name from `INITIAL_STATES` or an
    `InitialState`; `readout_widths`, hidden layers of the readout, none by default (affine); `init`, how the readout and
    the initial state are drawn; `method`, a name or `Solver` (the cell's default if None), with further solver `options`;
    `key`.

    >>> from gnode import cells
    >>> net = Network(cells.gnode(2, 2, widths=(16,), key=0), outputs=2, key=1)
    >>> net(jnp.zeros((7, 2)), dt=1.0).outputs.shape
    (7, 2)
    """

    cell: Cell
    readout: Readout
    initial: InitialState
    solver: Solver = eqx.field(static=True)

    def __init__(
        self,
        cell: Cell,
        outputs: int,
        *,
        initial: str | InitialState = "zeros",
        readout_widths: Sequence[int] = (),
        init: str | Initialiser = "glorot_uniform",
        method: str | Solver | None = None,
        key: Key | int,
        **options,
    ):
        rule = initialiser(init)
        key_initial, key_readout = jax.random.split(as_key(key))
        widths = errors.wholes("readout_widths", readout_widths)
        sizes = (cell.units, *widths, errors.whole("outputs", outputs))
        keys = jax.random.split(key_readout, len(sizes))
        self.cell = cell
        self.readout = Readout(
            C=tuple(rule.weight(keys[i], (sizes[i + 1], sizes[i])) for i in range(len(sizes) - 1)),
            d=tuple(jnp.zeros(size) for size in sizes[1:]),
        )
        is_made = isinstance(initial, InitialState)
        self.initial = initial if is_made else initial_state(initial, cell, rule, key_initial)
        self.solver = as_solver(cell, method, options)

    @property
    def outputs(self) -> int:
        """The number of output channels."""
        return self.readout.d[-1].shape[-1]

    def __call__(
        self,
        xs: ArrayLike,
        *,
        dt: ArrayLike | None = None,
        ts: ArrayLike | None = None,
    ) -> Trajectory:
        """Runs one trial (time x inputs); `dt` or `ts` as in `gnode.solve.rollout`. For a batch use `run` or `jax.vmap`."""
        xs = jnp.asarray(xs)
        states = rollout(self.cell, xs, self.initial(xs[0]), dt=dt, ts=ts, method=self.solver)
        return Trajectory(self.read(states), states)

    def run(self, xs: ArrayLike, *, dt: ArrayLike, h0: ArrayLike | None = None) -> Trajectory:
        """Runs a batch of trials (batch x time x inputs), compiled.

        `dt` is one number, or batch x time; `h0` replaces the network's own initial state.
        """
        xs = jnp.asarray(xs)
        if xs.ndim != 3 or xs.shape[-1] != self.cell.inputs:
            raise errors.ArgumentError(f"xs has shape {xs.shape}, but must be (batch, time, {self.cell.inputs}).")
        if not np.all(np.isfinite(xs)):
            raise errors.ArgumentError("xs holds values that are not finite; fill missing values first.")
        dt = jnp.asarray(dt, dtype=float)
        if dt.shape not in ((), xs.shape[:2]):
            raise errors.ArgumentError(
                f"dt has shape {dt.shape}, but must be one number or {xs.shape[:2]}, (batch, time)."
            )
        starts = None if h0 is None else jnp.broadcast_to(h0, (xs.shape[0], self.cell.state_size))
        return _run(self, xs, jnp.broadcast_to(dt, xs.shape[:2]), starts)

    def batch(
        self,
        xs: Float[Array, "trials time inputs"],
        dt: Float[Array, "trials time"],
        h0: Array | None = None,
        gradient_only: bool = False,
    ) -> Trajectory:
        """What `run` compiles, for use inside a compiled function: no checks. `gradient_only` as in `rollout_batch`."""
        starts = jax.vmap(self.initial)(xs[:, 0]) if h0 is None else h0
        states = rollout_batch(self.cell, xs, starts, dt, self.solver, gradient_only)
        return Trajectory(self.read(states), states)

    def read(self, states: Float[Array, "*batch state"]) -> Float[Array, "*batch outputs"]:
        """The outputs that belong to states."""
        visible = self.cell.visible(states)
        flat = jax.vmap(self.readout)(visible.reshape(-1, visible.shape[-1]))
        return flat.reshape(*visible.shape[:-1], -1)

    def step(self, h: Float[Array, " state"], x: Float[Array, " inputs"], dt: float | Array) -> Float[Array, " state"]:
        """The map that the solver iterates: the state one bin of length `dt` later, under a constant input."""
        return advance(self.cell, h, (x, x, jnp.asarray(dt, dtype=h.dtype)), self.solver)


_run = eqx.filter_jit(lambda net, xs, dt, starts: net.batch(xs, dt, starts))
