"""The interface of networks that training, evaluation and figures rely on."""

import abc
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from gnode import errors
from gnode.arguments import checked, real_array
from gnode.cells import Cell
from gnode.network._initial_state import InitialState
from gnode.network._readout import Readout
from gnode.solve.parallel import warn_if_by_loop
from gnode.trained import trained_values
from gnode.types import Key, as_key
from gnode.wording import plural


class Trajectory(NamedTuple):
    """The outputs and states of a network on one trial or on a batch of trials.

    >>> Trajectory(jnp.zeros((7, 2)), jnp.zeros((7, 4)))
    Trajectory(outputs of shape (7, 2), states of shape (7, 4))
    """

    outputs: Float[Array, "*batch time outputs"]
    states: Float[Array, "*batch time state"]

    def __repr__(self) -> str:
        return f"Trajectory(outputs of shape {np.shape(self.outputs)}, states of shape {np.shape(self.states)})"


class AbstractNetwork(eqx.Module):
    """Abstract base class of everything that can be trained: a cell with an initial state and a readout.

    `Network` is the implementation for nearly all purposes. A subclass defines `batch`.

    No example: see `Network`.
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
        """The number of CPU cores over which the trials of a batch are split."""
        return 1

    def check(self) -> None:
        """Raises an `ArgumentError` if the network cannot be trained on this machine."""

    @abc.abstractmethod
    def batch(
        self,
        xs: Float[Array, "trials time inputs"],
        dt: Float[Array, "trials time"],
        h0: Array | None = None,
        gradient_only: bool = False,
        noise: Array | None = None,
    ) -> Trajectory:
        """Runs a batch of trials inside a compiled function, without checking its arguments.

        **Arguments:**

        - `xs`: the inputs, trials x time x inputs.
        - `dt`: the length of every bin in seconds, trials x time.
        - `h0`: initial states, trials x state, instead of the network's own.
        - `gradient_only`: whether reverse-mode gradients are the only derivatives that will be taken, as in training.
        - `noise`: sigma times independent normal numbers, trials x time x state: tau dh = ... dt + sigma dW.

        **Returns:** a `Trajectory`.
        """

    def batch_with_status(
        self,
        xs: Float[Array, "trials time inputs"],
        dt: Float[Array, "trials time"],
        h0: Array | None = None,
        noise: Array | None = None,
    ) -> tuple[Trajectory, Bool[Array, ""]]:
        """Runs a batch as `batch` does, and says whether all bins at once converged, True where the loop was chosen."""
        return self.batch(xs, dt, h0, noise=noise), jnp.bool_(True)

    @checked
    def run(
        self, xs: ArrayLike, *, dt: ArrayLike, h0: ArrayLike | None = None, key: Key | int | None = None
    ) -> Trajectory:
        """Runs a batch of trials as one compiled function.

        **Arguments:**

        - `xs`: the inputs, batch x time x inputs.
        - `dt`: the length of the bins in seconds, one number or batch x time.
        - `h0`: an initial state, or one per trial, instead of the network's own.
        - `key`: a seed or a key, by which the noise of a stochastic cell is drawn; without it states follow the drift.

        **Returns:** a `Trajectory`. It warns if all bins were to be computed at once and the loop had to take over.

        **Raises:** `ArgumentError` if a shape does not fit or an input is not finite.
        """
        xs = jnp.asarray(real_array("xs", xs))
        real_array("xs", xs, finite=True)  # also what is beyond float32
        if xs.ndim != 3 or xs.shape[-1] != self.inputs or xs.size == 0:
            raise errors.ArgumentError(f"xs has shape {xs.shape}, but must be (batch, time, {self.inputs}).")
        dt = jnp.asarray(real_array("dt", dt), dtype=float)
        if dt.shape not in ((), xs.shape[:2]):
            raise errors.ArgumentError(
                f"dt has shape {dt.shape}, but must be one number or {xs.shape[:2]}, (batch, time)."
            )
        if not isinstance(dt, Tracer) and not np.all(np.isfinite(dt) & (np.asarray(dt) >= 0)):
            raise errors.ArgumentError(
                "dt holds a length that is negative or not a number, but each must be zero or more."
            )
        starts = None if h0 is None else self._starts(h0, xs.shape[0])
        if key is not None and not self.cell.has("diffusion"):
            raise errors.ArgumentError(
                f"key is {errors.shown(key)}, but {type(self.cell).__name__} has no noise of its own; leave key out."
            )
        own_key = None if key is None else as_key(key)
        found, converged = _run(self, xs, jnp.broadcast_to(dt, xs.shape[:2]), starts, own_key)
        warn_if_by_loop(converged)
        return found

    def _starts(self, h0: ArrayLike, trials: int) -> Array:
        start: Array = real_array("h0", jnp.asarray(real_array("h0", h0), dtype=float), finite=True)
        size = self.cell.state_size
        if start.shape not in ((), (size,), (1, size), (trials, size)):
            raise errors.ArgumentError(f"h0 has shape {start.shape}, but must be ({size},) or {(trials, size)}.")
        return jnp.broadcast_to(start, (trials, size))

    @checked
    def read(
        self, states: Float[Array, "*batch state"], xs: Float[Array, "*batch inputs"] | None = None
    ) -> Float[Array, "*batch outputs"]:
        """Computes the outputs of states; `xs` are the inputs of their bins, zero by default.

        The inputs matter only for cells whose input reaches the readout past the state.
        """
        if states.ndim == 0 or states.shape[-1] != self.cell.state_size:
            raise errors.ArgumentError(f"states has shape {states.shape}, but must end in {self.cell.state_size}.")
        if xs is not None and xs.shape != (*states.shape[:-1], self.inputs):
            raise errors.ArgumentError(f"xs has shape {xs.shape}, but must be {(*states.shape[:-1], self.inputs)}.")
        visible = self.cell.visible(states) if xs is None else self.cell.seen(states, xs)
        visible = visible[..., : self.readout.C[0].shape[-1]]
        flat = jax.vmap(self.readout)(visible.reshape(-1, visible.shape[-1]))
        return flat.reshape(*visible.shape[:-1], self.outputs)

    def __repr__(self) -> str:
        names = [name for name in ("cell", "readout", "initial", "solver") if hasattr(self, name)]
        lines = [f"{name}={getattr(self, name)!r}," for name in names]
        return "\n    ".join([f"{type(self).__name__}(", *lines, plural(trained_values(self), "parameter")]) + "\n)"


@eqx.filter_jit
def _run(
    net: AbstractNetwork, xs: Array, dt: Array, starts: Array | None, key: Key | None
) -> tuple[Trajectory, Bool[Array, ""]]:
    noise = None if key is None else jax.random.normal(key, (*xs.shape[:2], net.cell.state_size), dt.dtype)
    return net.batch_with_status(xs, dt, starts, noise)
