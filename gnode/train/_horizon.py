"""The error of closed-loop predictions by how far they look ahead."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from gnode import errors
from gnode.arguments import checked
from gnode.cells import Cell, Layers
from gnode.network import Network, Trajectory
from gnode.solve import advance
from gnode.solve.fixed_step import fixed_step
from gnode.solve.parallel import iterate_at_once, warn_if_by_loop
from gnode.tasks import Trials


class HorizonError(NamedTuple):
    """Mean squared errors 1, 2, ... bins ahead; NaN where no trial has a sample to compare with.

    No example: `error_by_horizon` returns it.
    """

    network: Float[np.ndarray, " horizon"]
    last_value: Float[np.ndarray, " horizon"]
    """The error of the persistence baseline, which predicts that nothing changes any more."""

    def __repr__(self) -> str:
        return f"HorizonError({len(self.network)} bins ahead, one bin ahead {self.network[0]:.4g})"


@checked
def error_by_horizon(net: Network, trials: Trials, *, warm_up: int) -> HorizonError:
    """Computes the error of closed-loop predictions, bin by bin after a warm-up.

    The network sees the first `warm_up` bins of the trials. From then on its own output replaces the observed channels,
    which are the last inputs, as many as there are outputs; the inputs before them (a time stamp) stay as they are. One bin
    ahead is what the network was trained for. Inputs that a spline has filled depend on later samples, so a warm-up that
    ends in a gap knows a little of the future; `fill="hold"` is causal.

    **Arguments:**

    - `net`, `trials`: a network that predicts its own inputs, and trials to predict.
    - `warm_up`: the number of bins that the network observes.

    **Returns:** a `HorizonError`.

    **Raises:** `ArgumentError` if the task does not predict its own inputs, or `warm_up` is out of range.

    >>> from gnode import build, tasks
    >>> task = tasks.arrays(np.zeros((4, 6, 2)), np.zeros((4, 6, 2)), 0.1)
    >>> error_by_horizon(build("rnn", 2, 2, state=3, key=0), task.train, warm_up=4).network.shape
    (3,)
    """
    given = check_own_inputs(net, trials, warm_up)
    warm_up = int(warm_up)
    targets, last = trials.targets[:, warm_up - 1 :], trials.inputs[:, warm_up - 1 : warm_up, given:]
    mask = trials.mask[:, warm_up - 1 :]
    predicted = predict_closed_loop(net, trials, warm_up, given)
    return HorizonError(mean_squared(predicted, targets, mask), mean_squared(last, targets, mask))


def check_own_inputs(net: Network, trials: Trials, warm_up: int) -> int:
    """Returns the number of inputs before those that a network predicts.

    **Raises:** `ArgumentError` if it cannot predict its own inputs, or `warm_up` is out of range.
    """
    if not 1 <= warm_up < trials.bins:
        raise errors.ArgumentError(
            f"warm_up is {errors.shown(warm_up)}, but must be from 1 to {trials.bins - 1} (bins of a trial)."
        )
    outputs = net.outputs
    if trials.inputs.shape[2] != net.inputs or trials.targets.shape[2:] not in ((), (outputs,)):
        raise errors.ArgumentError(
            f"trials has {trials.inputs.shape[2]} inputs and targets of shape {trials.targets.shape}, but the network has "
            f"{net.inputs} inputs and {outputs} outputs."
        )
    given = trials.inputs.shape[2] - outputs
    if given < 0 or trials.targets.ndim != 3:
        raise errors.ArgumentError(
            f"the task must predict its own inputs, but it has {trials.inputs.shape[2]} inputs and {outputs} outputs."
        )
    return given


def predict_closed_loop(net: Network, trials: Trials, warm_up: int, given: int) -> np.ndarray:
    """Returns the predictions 1, 2, ... bins after a warm-up, trials x horizon x outputs."""
    dt = np.broadcast_to(np.float32(trials.dt), trials.inputs.shape[:2])
    ahead, converged = _go_on(net, jnp.asarray(trials.inputs), jnp.asarray(dt), warm_up, given)
    warn_if_by_loop(converged)
    return np.asarray(ahead)


def mean_squared(guess: np.ndarray, targets: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Returns the mean squared error of every bin over trials and outputs; NaN where no trial counts."""
    with np.errstate(invalid="ignore"):
        total = np.sum(mask[..., None] * (guess - targets) ** 2, axis=(0, 2))
        return total / (np.sum(mask, axis=0) * targets.shape[2])


@eqx.filter_jit
def _go_on(
    net: Network, xs: Float[Array, "trials time inputs"], dt: Float[Array, "trials time"], warm_up: int, given: int
) -> tuple[Float[Array, "trials horizon outputs"], Bool[Array, ""]]:
    """Returns the predictions, and whether all bins at once converged, if that is how they were computed."""
    seen, converged = net.batch_with_status(xs[:, :warm_up], dt[:, :warm_up])
    if net.goes_at_once(len(xs), xs.shape[1] - warm_up) and not _needs_inputs(net.cell):
        ahead, later_converged = _go_on_at_once(net, seen, (xs[:, warm_up:, :given], dt[:, warm_up:]))
        return ahead, converged & later_converged
    one_bin = jax.vmap(lambda h, *bin: advance(net.cell, h, (bin[0], None, *bin[1:]), net.solver))

    def step(carry: tuple[Array, Array, Array], bin: tuple[Array, Array]) -> tuple[tuple[Array, Array, Array], Array]:
        h, y, before = carry
        known, length = bin
        x = jnp.concatenate([known, y], axis=-1)
        h = one_bin(h, x, length, jnp.where(length[:, None] > 0, before, x))
        y = net.read(h, x)
        return (h, y, x), y

    start = (seen.states[:, -1], seen.outputs[:, -1], xs[:, warm_up - 1])
    later = (jnp.swapaxes(xs[:, warm_up:, :given], 0, 1), dt[:, warm_up:].T)
    ahead = jax.lax.scan(step, start, later)[1]
    return jnp.concatenate([seen.outputs[:, -1:], jnp.swapaxes(ahead, 0, 1)], axis=1), converged


def _needs_inputs(cell: Cell) -> bool:
    """Whether changes of the input move the state, or the readout sees the input: then the state alone is not enough."""
    if isinstance(cell, Layers):
        return any(map(_needs_inputs, cell.layers))
    return cell.has("control") or type(cell).seen is not Cell.seen


def _go_on_at_once(
    net: Network, seen: Trajectory, later: tuple[Array, Array]
) -> tuple[Float[Array, "trials horizon outputs"], Bool[Array, ""]]:
    """As `_go_on`, all bins at once: in closed loop a step depends on the state alone, because the outputs do."""
    values, structure = eqx.partition(net, eqx.is_inexact_array)

    def step(values: Any, h: Array, bin: tuple[Array, Array]) -> Array:
        known, length = bin
        whole = eqx.combine(values, structure)
        with jax.default_matmul_precision("highest"):
            x = jnp.concatenate([known, whole.read(h)])
            return fixed_step(whole.cell, h, x, length, whole.solver)

    bins = jax.tree.map(lambda array: jnp.swapaxes(array, 0, 1), later)
    ahead = iterate_at_once(step, values, seen.states[:, -1], bins, net.solver)
    return jnp.concatenate([seen.outputs[:, -1:], net.read(ahead.states)], axis=1), ahead.converged
