"""The network: a cell with an initial state and a readout, integrated by a solver."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from gnode import devices, errors
from gnode.arguments import checked, real_array
from gnode.cells import Cell
from gnode.init import Initialiser, initialiser
from gnode.network._abstract import AbstractNetwork, Trajectory
from gnode.network._initial_state import AugmentedState, InitialState, initial_state
from gnode.network._readout import Readout, draw_readout
from gnode.solve import (
    AtOnce,
    Solver,
    advance,
    as_solver,
    check_kernel,
    rollout,
    rollout_batch,
    rollout_batch_at_once,
)
from gnode.solve.parallel import goes_at_once
from gnode.types import Key, as_key


class Network(AbstractNetwork):
    """A cell with an initial state and a readout, integrated by a solver.

    The output of bin t is read from the state at the end of that bin: y_t = readout(h_t), where h_t depends on x_t.

    **Arguments:**

    - `cell`: a cell, such as `gnode.cells.gnode(...)`.
    - `outputs`: the number of output channels.
    - `augment`: how many units of the cell, its last ones, the readout does not see. They begin at zero: an augmented
      neural ODE.
    - `initial`: a name from `gnode.network.INITIAL_STATES`, or an `InitialState`.
    - `readout_widths`: the widths of the hidden layers of the readout; without any, the readout is affine.
    - `init`: the initialiser of the readout and of an affine initial state.
    - `method`: a name from `gnode.solve.METHODS` or a `Solver`; the cell's default method if None.
    - `key`: a seed or a jax key.
    - `options`: further options of `Solver`.

    >>> from gnode import cells
    >>> net = Network(cells.gnode(2, 2, widths=(16,), key=0), outputs=2, key=1)
    >>> net(jnp.zeros((7, 2)), dt=1.0).outputs.shape
    (7, 2)
    """

    cell: Cell
    readout: Readout
    initial: InitialState
    solver: Solver = eqx.field(static=True)

    @checked
    def __init__(
        self,
        cell: Cell,
        outputs: int,
        *,
        augment: int = 0,
        initial: str | InitialState = "zeros",
        readout_widths: Sequence[int] = (),
        init: str | Initialiser = "glorot_uniform",
        method: str | Solver | None = None,
        key: Key | int,
        **options: Any,
    ):
        rule = initialiser(init)
        key_initial, key_readout = jax.random.split(as_key(key))
        widths = errors.wholes("readout_widths", readout_widths)
        self.cell = cell
        seen = cell.units - errors.whole("augment", augment, at_least=0)
        if seen < 1:
            raise errors.ArgumentError(
                f"augment is {augment}, but must be less than the number of units of the cell, {cell.units}."
            )
        self.readout = draw_readout((seen, *widths, errors.whole("outputs", outputs)), rule, key_readout)
        if isinstance(initial, InitialState):
            self.initial = _checked_state(initial, cell)
        else:
            drawn = initial_state(initial, cell, rule, key_initial)
            self.initial = _augmented(drawn, cell, augment) if augment else drawn
        self.solver = as_solver(cell, method, options)

    @property
    def cores(self) -> int:
        return self.solver.cores

    def check(self) -> None:
        devices.check_cores(self.solver.cores)
        check_kernel(self.cell, self.solver)

    def with_solver(self, solver: Solver) -> "Network":
        """Returns the same network with another solver."""
        other = object.__new__(type(self))
        for field in dataclasses.fields(self):
            object.__setattr__(other, field.name, solver if field.name == "solver" else getattr(self, field.name))
        return other

    @checked
    def __call__(
        self,
        xs: ArrayLike,
        *,
        dt: ArrayLike | None = None,
        ts: ArrayLike | None = None,
    ) -> Trajectory:
        """Runs one trial; use `run` or `jax.vmap` for a batch.

        **Arguments:**

        - `xs`: the inputs, time x inputs.
        - `dt`, `ts`: the lengths or the edges of the bins, as in `gnode.rollout`.

        **Returns:** a `Trajectory`.
        """
        xs = jnp.asarray(real_array("xs", xs))
        if xs.ndim != 2 or xs.shape[0] == 0 or xs.shape[1] != self.inputs:
            raise errors.ArgumentError(
                f"xs has shape {xs.shape}, but must be (time, {self.inputs}); for a batch use run."
            )
        states = rollout(self.cell, xs, self.initial(xs[0]), dt=dt, ts=ts, method=self.solver)
        return Trajectory(self.read(states, xs.astype(states.dtype)), states)

    def batch(
        self,
        xs: Float[Array, "trials time inputs"],
        dt: Float[Array, "trials time"],
        h0: Array | None = None,
        gradient_only: bool = False,
        noise: Array | None = None,
    ) -> Trajectory:
        starts = jax.vmap(self.initial)(xs[:, 0]) if h0 is None else h0
        states = rollout_batch(self.cell, xs, starts, dt, self.solver, gradient_only, noise)
        return Trajectory(self.read(states, xs), states)

    def goes_at_once(self, trials: int, bins: int) -> bool:
        """Whether a batch of so many trials and bins is computed all at once: if the solver says so, or where that wins."""
        return goes_at_once(self.cell, self.solver, trials, bins)

    def batch_with_status(
        self,
        xs: Float[Array, "trials time inputs"],
        dt: Float[Array, "trials time"],
        h0: Array | None = None,
        noise: Array | None = None,
    ) -> tuple[Trajectory, Bool[Array, ""]]:
        if not self.goes_at_once(*xs.shape[:2]):
            return super().batch_with_status(xs, dt, h0, noise)
        found, at_once = self.batch_at_once(xs, dt, h0, noise)
        return found, at_once.converged

    def batch_at_once(
        self,
        xs: Float[Array, "trials time inputs"],
        dt: Float[Array, "trials time"],
        h0: Array | None = None,
        noise: Array | None = None,
        guess: Float[Array, "trials time state"] | None = None,
    ) -> tuple[Trajectory, AtOnce]:
        """Runs a batch of trials, all bins at once. `guess` are states to begin with.

        **Returns:** what `batch` returns, and the rounds of Newton's method.
        """
        starts = jax.vmap(self.initial)(xs[:, 0]) if h0 is None else h0
        found = rollout_batch_at_once(self.cell, xs, starts, dt, self.solver, noise, guess)
        return Trajectory(self.read(found.states, xs), found.states), found

    @checked
    def step(self, h: Float[Array, " state"], x: Float[Array, " inputs"], dt: ArrayLike) -> Float[Array, " state"]:
        """Computes the state after one bin of length `dt` under a constant input: the map that the solver iterates."""
        length = jnp.asarray(real_array("dt", dt, 0), dtype=h.dtype)
        if not isinstance(length, Tracer) and length < 0:
            raise errors.ArgumentError(f"dt is {errors.shown(dt)}, but must be zero or positive.")
        return advance(self.cell, h, (x, x, length), self.solver)


def _augmented(initial: InitialState, cell: Cell, augment: int) -> AugmentedState:
    """Returns an initial state in which the last units of a cell are zero; what belongs to no unit begins as ever."""
    units = cell.unit_of_state
    if np.array_equal(units, np.arange(len(units)) % cell.units):  # the order of nearly all cells need not be told
        return AugmentedState(initial, cell.units, augment)
    places = np.flatnonzero(units >= cell.units - augment)
    return AugmentedState(initial, cell.units, augment, tuple(places.tolist()))


def _checked_state(initial: InitialState, cell: Cell) -> InitialState:
    """Returns an initial state if it maps the inputs of a cell to its state."""
    try:
        shape = jax.eval_shape(initial, jax.ShapeDtypeStruct((cell.inputs,), float)).shape
    except (TypeError, ValueError) as problem:
        raise errors.ArgumentError(
            f"initial is {errors.shown(initial)}, which fails on {cell.inputs} inputs ({errors.shortened(str(problem))})."
        ) from problem
    if shape != (cell.state_size,):
        raise errors.ArgumentError(f"initial gives a state of shape {shape}, but the cell's has ({cell.state_size},).")
    return initial
