"""How much memory a member in training needs."""

from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, PyTree

from gnode.sweeps._member import pose
from gnode.sweeps.grid import Group
from gnode.tasks import Task
from gnode.train import loop
from gnode.train.loss import losses
from gnode.train.perturbation import Perturbation
from gnode.train.regularisation import flow_penalty

COPIES = 6
"""Of the trained values: weights, gradient, two moments, best weights, and the update being made."""


def member_bytes(group: Group, task: Task) -> int:
    """Returns the bytes that training one member of a group keeps: its values, the optimiser's, and the backward pass's."""
    problem = eqx.filter_eval_shape(_posed_arrays, group.settings, task)
    values, residuals = (sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(part)) for part in problem)
    return COPIES * values + residuals


def _posed_arrays(settings: dict[str, Any], task: Task) -> tuple[PyTree, PyTree]:
    """A member's trained values, and what its backward pass keeps for one minibatch. Only ever traced."""
    problem = pose(settings, task, loop.on_device(task))
    size = problem.plan.batch_size
    batch = jax.tree.map(lambda array: array[:size], problem.data.train)

    def loss(params: PyTree) -> Array:
        net, choices = problem.network(params), problem.plan.choices
        found = losses(net, batch, problem.plan.loss, problem.plan.when)
        if not choices.is_regularised:
            return found.loss
        return found.loss + flow_penalty(net, Perturbation(batch), found.states, choices, problem.hyper, problem.key)

    return problem.params, jax.vjp(loss, problem.params)[1]
