"""What training, evaluation and figures need of a network."""

import abc
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.cells import Cell
from gnode.network._initial_state import InitialState
from gnode.network._readout import Readout


class Trajectory(NamedTuple):
    """What a network did on one trial, or on each of a batch."""

    outputs: Float[Array, "*batch time outputs"]
    states: Float[Array, "*batch time state"]


class AbstractNetwork(eqx.Module):
    """Anything that can be trained: it has a cell, an initial state and a readout, and takes a batch of trials through time.

    `Network` is the one that nearly everybody uses. A subclass of your own defines `batch`.
    """

    cell: eqx.AbstractVar[Cell]
    readout: eqx.AbstractVar[Readout]
    initial: eqx.AbstractVar[InitialState]

    @property
    def inputs(self) -> int:
        """The number of input channels."""
        return self.cell.inputs

    @property
    def outputs(self) -> int:
        """The number of output channels."""
        return self.readout.d[-1].shape[-1]

    @property
    def cores(self) -> int:
        """Over how many CPU cores the trials of a batch are split."""
        return 1

    def check(self) -> None:
        """Raises an `ArgumentError` if the network cannot be trained on this machine as it is."""

    @abc.abstractmethod
    def batch(
        self,
        xs: Float[Array, "trials time inputs"],
        dt: Float[Array, "trials time"],
        h0: Array | None = None,
        gradient_only: bool = False,
    ) -> Trajectory:
        """Runs a batch of trials inside a compiled function, without checks.

        **Arguments:** `xs`; `dt`, the length of every bin in seconds; `h0`, states that replace the network's own initial
        ones; `gradient_only`, a promise that no derivative but a gradient will be asked for.
        """

    def run(self, xs: ArrayLike, *, dt: ArrayLike, h0: ArrayLike | None = None) -> Trajectory:
        """Runs a batch of trials, compiled.

        **Arguments:** `xs`, batch x time x inputs; `dt`, one number or batch x time, in seconds; `h0`, which replaces the
        network's own initial state.
        """
        xs = jnp.asarray(xs)
        if xs.ndim != 3 or xs.shape[-1] != self.inputs:
            raise errors.ArgumentError(f"xs has shape {xs.shape}, but must be (batch, time, {self.inputs}).")
        if not np.all(np.isfinite(xs)):
            raise errors.ArgumentError("xs holds values that are not finite; fill missing values first.")
        dt = jnp.asarray(dt, dtype=float)
        if dt.shape not in ((), xs.shape[:2]):
            raise errors.ArgumentError(
                f"dt has shape {dt.shape}, but must be one number or {xs.shape[:2]}, (batch, time)."
            )
        starts = None if h0 is None else jnp.broadcast_to(h0, (xs.shape[0], self.cell.state_size))
        return _run(self, xs, jnp.broadcast_to(dt, xs.shape[:2]), starts)

    def read(self, states: Float[Array, "*batch state"]) -> Float[Array, "*batch outputs"]:
        """Returns the outputs that belong to states."""
        visible = self.cell.visible(states)
        flat = jax.vmap(self.readout)(visible.reshape(-1, visible.shape[-1]))
        return flat.reshape(*visible.shape[:-1], -1)


@eqx.filter_jit
def _run(net: AbstractNetwork, xs: Array, dt: Array, starts: Array | None) -> Trajectory:
    return net.batch(xs, dt, starts)
