"""Guesses of the states of training trials, where all bins are computed at once: those of the epoch before.

Weights change little in an epoch, so that Newton's method needs fewer rounds from there than from the initial states.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from gnode.network import AbstractNetwork
from gnode.solve import AtOnce

Guesses = Float[Array, "trials time state"]


def first_guesses(net: AbstractNetwork, inputs: Float[Array, "trials time inputs"]) -> Guesses:
    """Returns the initial state of every trial, in every bin."""
    starts = jax.vmap(net.initial)(inputs[:, 0])
    return jnp.broadcast_to(starts[:, None], (*inputs.shape[:2], starts.shape[-1]))


def remembered(
    guesses: Guesses, states: Array, chosen: Int[Array, " some"], weight: Float[Array, " some"], bins: int
) -> Guesses:
    """Returns guesses with the states of some trials in their first `bins`. Trials of weight 0 only pad a minibatch."""
    places = jnp.where(weight > 0, chosen, guesses.shape[0])
    return guesses.at[places, :bins].set(states, mode="drop")


def how_found(found: AtOnce | None) -> dict[str, Float[Array, ""]]:
    """Returns the rounds of an update, and 1 if the loop replaced them.

    Nothing is found in a stage of a schedule with bins so few that the loop is chosen: it replaces no rounds.
    """
    if found is None:
        return {"rounds": jnp.float32(0), "by_loop": jnp.float32(0)}
    return {"rounds": 1.0 * jnp.max(found.rounds), "by_loop": 1.0 - jnp.all(found.converged)}
