"""Batches and penalties on the flow for tests of them."""

import jax
import jax.numpy as jnp

from gnode.train import Settings
from gnode.train.batch import Batch
from gnode.train.loss import losses
from gnode.train.perturbation import Perturbation
from gnode.train.regularisation import flow_penalty


def some_batch(rng, trials=4, bins=6, inputs=1):
    """Trials of unequal lengths and bins, some of length zero; the last trial only fills the batch."""
    dt = rng.uniform(0.05, 0.2, (trials, bins))
    dt[0, 2] = dt[1, 0] = 0.0
    return Batch(
        inputs=jnp.asarray(rng.normal(size=(trials, bins, inputs))),
        targets=jnp.asarray(rng.normal(size=(trials, bins, 1))),
        dt=jnp.asarray(dt),
        mask=jnp.ones((trials, bins)),
        lengths=jnp.asarray([bins, bins - 2, 1, bins][:trials]),
        weight=jnp.asarray([1.0, 1.0, 1.0, 0.0][:trials]),
    )


def penalty(net, batch, states, starts=None, whole=None, **weights):
    """The sum of the penalties of these weights."""
    choices = Settings(**weights).choices()
    hyper = {name: jnp.asarray(float(value)) for name, value in weights.items()}
    return flow_penalty(net, Perturbation(batch, starts), states, choices, hyper, jax.random.key(5), whole)


def whole_penalty(net, batch, **weights):
    """The penalties on the flow with the states of the network's own rollout."""
    return penalty(net, batch, losses(net, batch, "mse", "every").states, **weights)
