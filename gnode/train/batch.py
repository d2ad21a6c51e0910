"""Batches of trials on the device."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Num

from gnode.tasks import TrialGenerator, Trials
from gnode.types import Key


class Batch(NamedTuple):
    """Trials on the device, with a weight for each: 0 for those that only pad the last minibatch.

    `guess` are states to begin with where all bins are computed at once: those of the last epoch.
    """

    inputs: Float[Array, "trials time inputs"]
    targets: Num[Array, "trials ..."]
    dt: Float[Array, "trials time"]
    mask: Float[Array, "trials time"]
    lengths: Int[Array, " trials"]
    weight: Float[Array, " trials"]
    guess: Float[Array, "trials time state"] | None = None


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


def fresh(generator: TrialGenerator, key: Key, count: int) -> Batch:
    """Draws new trials on the device."""
    drawn = generator(key, count)
    return Batch(*drawn, weight=jnp.ones(count, jnp.float32))


def take(batch: Batch, chosen: Int[Array, " some"], weight: Float[Array, " some"]) -> Batch:
    """Returns some trials of a batch, with new weights."""
    return jax.tree.map(lambda values: values[chosen], batch)._replace(weight=weight)


def take_first(batch: Batch, count: int) -> Batch:
    """Returns the first trials of a batch."""
    return jax.tree.map(lambda values: values[:count], batch)


def first_bins(batch: Batch, bins: int) -> Batch:
    """Returns the first `bins` bins of all trials."""
    cut = batch._replace(
        inputs=batch.inputs[:, :bins],
        dt=batch.dt[:, :bins],
        mask=batch.mask[:, :bins],
        lengths=jnp.minimum(batch.lengths, bins),
        guess=None if batch.guess is None else batch.guess[:, :bins],
    )
    return cut._replace(targets=batch.targets[:, :bins]) if batch.targets.ndim > 1 else cut


def real_bins(batch: Batch) -> Float[Array, "trials time"]:
    """Returns the weight of each trial in every bin up to its end, 0 after it."""
    return (jnp.arange(batch.inputs.shape[1]) < batch.lengths[:, None]) * batch.weight[:, None]
