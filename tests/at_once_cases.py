"""All bins at once against the loop: trials, gradients of a function of the states, and the comparison of both ways."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp

from gnode.solve import rollout_batch, rollout_batch_at_once

TRIALS, TIME = 3, 30
MOST_ROUNDS = {"full": 12, "diagonal": 30}
"""By the Jacobians, for trials of these tests. Newton's method takes 2 to 7 rounds; with a wrong correction,
or Jacobians that are not those of the step, it takes more than these."""


def trials_for(cell, seed=0):
    """Inputs, initial states and steps of unequal lengths; bins at the end of a trial have none (a mask)."""
    keys = jax.random.split(jax.random.key(seed), 3)
    xs = jax.random.normal(keys[0], (TRIALS, TIME, cell.inputs))
    h0 = jax.random.normal(keys[1], (TRIALS, cell.state_size))
    dt = jax.random.uniform(keys[2], (TRIALS, TIME), minval=0.02, maxval=0.2)
    lasts = jnp.arange(TIME) < jnp.array([TIME, TIME - 7, TIME - 12])[:, None]
    return xs, h0, dt * lasts


def values_and_gradients(cell, solver, given, noise=None):
    """The states, the gradients of a function of them by weights, inputs, initial states and steps, and the rounds."""
    weight = jax.random.normal(jax.random.key(9), (given[0].shape[1], cell.state_size))

    @eqx.filter_jit
    @eqx.filter_value_and_grad(has_aux=True)
    def value(of):
        cell, (xs, h0, dt) = of
        if solver.time == "parallel":
            states, *how = rollout_batch_at_once(cell, xs, h0, dt, solver, noise)
        else:
            states, how = rollout_batch(cell, xs, h0, dt, solver, noise=noise), []
        return jnp.sum(jnp.sin(states) * weight), (states, how)

    (_, (states, how)), gradients = value((cell, given))
    return states, jax.tree.leaves(gradients), how


def assert_same(found, expected, tolerance):
    scale = float(jnp.max(jnp.abs(expected), initial=1.0))
    assert float(jnp.max(jnp.abs(found - expected), initial=0.0)) <= tolerance * scale


def compare(cell, at_once, given, tolerance, noise=None):
    """Compares a solver of all bins at once, which must converge in few rounds, with the loop."""
    rounds = at_once.rounds or MOST_ROUNDS["diagonal" if at_once.jacobian == "diagonal" else "full"]
    at_once = dataclasses.replace(at_once, time="parallel", rounds=rounds)
    loop = dataclasses.replace(at_once, time="loop", bins_at_once=0, memory="store", rounds=0, jacobian="auto")
    states, gradients, (number, converged) = values_and_gradients(cell, at_once, given, noise)
    expected, expected_gradients, _ = values_and_gradients(cell, loop, given, noise)
    assert bool(converged)
    assert int(number) <= rounds
    assert_same(states, expected, tolerance)
    assert len(gradients) == len(expected_gradients)
    for one, other in zip(gradients, expected_gradients):
        assert_same(one, other, tolerance)
    return int(number)
