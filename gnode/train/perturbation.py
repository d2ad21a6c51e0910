"""What training disturbs on purpose: dropout in F and G, lengths of bins, noise on inputs, initial states and states."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode.cells import Stack
from gnode.network import AbstractNetwork
from gnode.train.batch import Batch
from gnode.train.regularisation import with_random_lengths
from gnode.train.settings import Settings
from gnode.types import Key

Hyper = dict[str, Float[Array, "..."]]


class Perturbation(NamedTuple):
    """A batch as training sees it: its trials, initial states and noise of the states; None where there is none."""

    batch: Batch
    starts: Float[Array, "trials state"] | None = None
    noise: Float[Array, "trials time state"] | None = None

    def arguments(self) -> dict[str, Array]:
        """Returns what a network's `batch` takes of it: only what there is, since not every network takes noise."""
        given = {"h0": self.starts, "noise": self.noise}
        return {name: values for name, values in given.items() if values is not None}


def perturbed(
    net: AbstractNetwork, batch: Batch, choices: Settings, hyper: Hyper, key: Key
) -> tuple[AbstractNetwork, Perturbation]:
    """Draws the dropout and the noise of one update. Without any of them nothing is drawn."""
    is_stochastic = net.cell.has("diffusion")
    if not (choices.is_noisy or is_stochastic):
        return net, Perturbation(batch)
    key_drop, key_inputs, key_starts, key_states = jax.random.split(key, 4)
    if choices.dropout:
        net = _without_some_units(net, hyper["dropout"], key_drop)
    if choices.input_noise:
        added = hyper["input_noise"] * jax.random.normal(key_inputs, batch.inputs.shape)
        batch = batch._replace(inputs=batch.inputs + added)
    if choices.steer:
        batch = with_random_lengths(batch, hyper["steer"], key)
    starts = noise = None
    if choices.initial_noise:
        starts = jax.vmap(net.initial)(batch.inputs[:, 0])
        starts += hyper["initial_noise"] * jax.random.normal(key_starts, starts.shape)
    if choices.state_noise or is_stochastic:  # the paths of a neural SDE, whose noise has a size of its own
        size = 1.0 if is_stochastic else hyper["state_noise"]
        noise = size * jax.random.normal(key_states, (*batch.dt.shape, net.cell.state_size))
    return net, Perturbation(batch, starts, noise)


def stacks_of(cell: Any) -> list[Stack]:
    """Returns the stacks of a cell: F and G, where it has them."""
    nodes = jax.tree.leaves(cell, is_leaf=lambda node: isinstance(node, Stack))
    return [node for node in nodes if isinstance(node, Stack)]


def _without_some_units(net: Any, probability: Float[Array, ""], key: Key) -> Any:
    """Leaves hidden units of every stack out, and scales the others up.

    One choice of units holds for a whole update, at every bin of every trial: the network is then an ordinary one, with some
    columns of its weights at zero, which every integrator and kernel can run.
    """

    def is_stack(node: Any) -> bool:
        return isinstance(node, Stack)

    def drop(node: Any) -> Any:
        if not is_stack(node):
            return node
        nonlocal key
        weights = list(node.W)
        for layer in range(1, len(weights)):
            key, own = jax.random.split(key)
            kept = jax.random.bernoulli(own, 1 - probability, (weights[layer].shape[1],))
            weights[layer] = weights[layer] * jnp.where(kept, 1 / (1 - probability), 0.0)
        return eqx.tree_at(lambda stack: stack.W, node, tuple(weights))

    return eqx.tree_at(lambda whole: whole.cell, net, jax.tree.map(drop, net.cell, is_leaf=is_stack))
