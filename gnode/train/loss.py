"""The loss that training minimises."""

from typing import NamedTuple

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from gnode.network import AbstractNetwork
from gnode.train.batch import Batch


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
