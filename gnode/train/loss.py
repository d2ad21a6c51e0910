"""The loss that training minimises."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, Num

from gnode.network import AbstractNetwork
from gnode.tasks import Trials


class Batch(NamedTuple):
    """Trials on the device, with a weight for each: 0 for those that only pad the last minibatch."""

    inputs: Float[Array, "trials time inputs"]
    targets: Num[Array, "trials ..."]
    dt: Float[Array, "trials time"]
    mask: Float[Array, "trials time"]
    lengths: Int[Array, " trials"]
    weight: Float[Array, " trials"]


def to_device(trials: Trials) -> Batch:
    """Moves all trials to the device as one batch."""
    shape = trials.inputs.shape[:2]
    return Batch(
        inputs=jnp.asarray(trials.inputs),
        targets=jnp.asarray(trials.targets),
        dt=jnp.asarray(np.broadcast_to(np.float32(trials.dt), shape)),
        mask=jnp.asarray(trials.mask),
        lengths=jnp.asarray(trials.lengths, dtype=jnp.int32),
        weight=jnp.ones(shape[0], jnp.float32),
    )


def take(batch: Batch, chosen: Int[Array, " some"], weight: Float[Array, " some"]) -> Batch:
    """Returns some trials of a batch, with new weights."""
    return Batch(*(values[chosen] for values in batch[:-1]), weight=weight)


def first_bins(batch: Batch, bins: int) -> Batch:
    """Returns the first `bins` bins of all trials."""
    cut = batch._replace(
        inputs=batch.inputs[:, :bins],
        dt=batch.dt[:, :bins],
        mask=batch.mask[:, :bins],
        lengths=jnp.minimum(batch.lengths, bins),
    )
    return cut._replace(targets=batch.targets[:, :bins]) if batch.targets.ndim == 3 else cut


class Losses(NamedTuple):
    """The loss of the data, and the mean squared state while trials last, for a penalty on it."""

    loss: Float[Array, ""]
    activity: Float[Array, ""]


def losses(net: AbstractNetwork, batch: Batch, kind: str, when: str) -> Losses:
    """Computes the masked mean squared error or cross-entropy of a batch.

    mse: the mean of (y - target)^2 over the outputs and over the bins that count. cross_entropy: the mean of
    -log softmax(y)[class] over the bins that count. With `when` = "last" only the last real bin of each trial counts.
    """
    outputs, states = net.batch(batch.inputs, batch.dt, gradient_only=True)
    counts, error = counting_bins(batch, when), errors_by_bin(outputs, batch, kind)
    # A bin that does not count may hold anything, infinity included, so it is left out rather than multiplied by zero.
    total = jnp.sum(jnp.where(counts > 0, error * counts, 0.0))
    real = real_bins(batch)
    activity = jnp.sum(jnp.where(real > 0, jnp.mean(states**2, axis=-1) * real, 0.0))
    return Losses(total / jnp.maximum(jnp.sum(counts), 1e-9), activity / jnp.maximum(jnp.sum(real), 1e-9))


def errors_by_bin(outputs: Float[Array, "trials time outputs"], batch: Batch, kind: str) -> Float[Array, "trials time"]:
    """Computes the squared error or the cross-entropy of every bin, whether it counts or not."""
    if kind == "cross_entropy":
        classes = jnp.broadcast_to(batch.targets[:, None], outputs.shape[:2])
        return optax.softmax_cross_entropy_with_integer_labels(outputs, classes)
    return jnp.mean((outputs - batch.targets) ** 2, axis=-1)


def counting_bins(batch: Batch, when: str) -> Float[Array, "trials time"]:
    """Returns the weight of every bin in the loss."""
    if when == "last":
        last = jnp.arange(batch.inputs.shape[1]) == batch.lengths[:, None] - 1
        return last * batch.weight[:, None]
    return batch.mask * real_bins(batch)


def real_bins(batch: Batch) -> Float[Array, "trials time"]:
    """Returns the weight of each trial in every bin up to its end, 0 after it."""
    return (jnp.arange(batch.inputs.shape[1]) < batch.lengths[:, None]) * batch.weight[:, None]
