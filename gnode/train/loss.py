"""The loss that training minimises."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from gnode.network import AbstractNetwork, Network
from gnode.solve import AtOnce
from gnode.train.batch import Batch, real_bins
from gnode.train.perturbation import Perturbation


class Losses(NamedTuple):
    """The loss of the data, the mean squared state while trials last, for a penalty on it, the outputs, the states, for
    penalties on the flow, and, where all bins were computed at once, how they were found.
    """

    loss: Float[Array, ""]
    activity: Float[Array, ""]
    outputs: Float[Array, "trials time outputs"]
    states: Float[Array, "trials time state"]
    at_once: AtOnce | None = None


def losses(
    net: AbstractNetwork,
    batch: Batch,
    kind: Any,
    when: str,
    *,
    smoothing: Float[Array, ""] | None = None,
    disturbed: Perturbation | None = None,
    whole: Batch | None = None,
) -> Losses:
    """Computes the masked mean error of a batch.

    mse: the mean of (y - target)^2 over the outputs and over the bins that count. cross_entropy: the mean of
    -log softmax(y)[class] over the bins that count. With `when` = "last" only the last real bin of each trial counts.

    **Arguments:** `net`, `batch`; `kind`, a name in `gnode.train.LOSSES` or a function; `when`; `smoothing` of labels;
    `disturbed`, the noise of training; `whole`, the batch that this one is a piece of, over which means are taken.
    """
    extra = {} if disturbed is None else disturbed.arguments()
    found = None
    if isinstance(net, Network) and net.goes_at_once(*batch.inputs.shape[:2]):
        (outputs, states), found = net.batch_at_once(batch.inputs, batch.dt, guess=batch.guess, **extra)
    else:
        outputs, states = net.batch(batch.inputs, batch.dt, gradient_only=True, **extra)
    counts, error = counting_bins(batch, when), errors_by_bin(outputs, batch, kind, smoothing)
    # A bin that does not count may hold anything, infinity included, so it is left out rather than multiplied by zero.
    total = jnp.sum(jnp.where(counts > 0, error * counts, 0.0))
    real = real_bins(batch)
    activity = jnp.sum(jnp.where(real > 0, jnp.mean(states**2, axis=-1) * real, 0.0))
    if whole is not None:
        counts, real = counting_bins(whole, when), real_bins(whole)
    loss, activity = total / jnp.maximum(jnp.sum(counts), 1e-9), activity / jnp.maximum(jnp.sum(real), 1e-9)
    return Losses(loss, activity, outputs, states, found)


def errors_by_bin(
    outputs: Float[Array, "trials time outputs"], batch: Batch, kind: Any, smoothing: Float[Array, ""] | None = None
) -> Float[Array, "trials time"]:
    """Computes the error of every bin, whether it counts or not."""
    if kind == "cross_entropy":
        classes = classes_by_bin(batch, outputs.shape[1])
        if smoothing is None:
            return optax.softmax_cross_entropy_with_integer_labels(outputs, classes)
        labels = optax.smooth_labels(jax.nn.one_hot(classes, outputs.shape[-1]), smoothing)
        return optax.softmax_cross_entropy(outputs, labels)
    if isinstance(kind, str):
        return jnp.mean(_ERRORS[kind](outputs, batch.targets), axis=-1)
    return kind(outputs, batch.targets)


def classes_by_bin(batch: Batch, bins: int) -> Int[Array, "trials time"]:
    """Returns the class at every bin of a classification: that of the trial, where it has one class."""
    one_each = batch.targets.ndim == 1
    return jnp.broadcast_to(batch.targets[:, None], (len(batch.targets), bins)) if one_each else batch.targets


_ERRORS: dict[str, Callable[[Array, Array], Array]] = {
    "mse": lambda outputs, targets: (outputs - targets) ** 2,
    "mae": lambda outputs, targets: jnp.abs(outputs - targets),
    "huber": lambda outputs, targets: optax.huber_loss(outputs, targets),
    "poisson": lambda outputs, targets: jnp.exp(outputs) - targets * outputs,
}


def counting_bins(batch: Batch, when: str) -> Float[Array, "trials time"]:
    """Returns the weight of every bin in the loss."""
    if when == "last":
        last = jnp.arange(batch.inputs.shape[1]) == batch.lengths[:, None] - 1
        return last * batch.weight[:, None]
    return batch.mask * real_bins(batch)
