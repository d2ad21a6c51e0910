"""A file of a user's own: a task, two cells, a loss and a metric, as a person would write them."""

MINE = '''
import equinox as eqx
import jax
import jax.numpy as jnp

import gnode


def integrate(key, dt=0.01, bins=8, scale=1.0):
    """The running sum of a random input."""
    inputs = scale * jax.random.normal(key, (bins, 1))
    return inputs, dt * jnp.cumsum(inputs, axis=0)


def side(key, dt=0.01):
    """The side, 0 or 1, that a noisy input is on."""
    key_side, key_noise = jax.random.split(key)
    side = jax.random.bernoulli(key_side).astype(int)
    return side + jax.random.normal(key_noise, (8, 1)), side


def recorded(key):
    """A whole task."""
    return gnode.tasks.generated(integrate, dt=0.02, trials=6, validation=4, key=key)


ready = gnode.tasks.generated(integrate, dt=0.02, trials=6, validation=4)


class LowRank(gnode.cells.Cell):
    """dh/dt = (-h + m n^T tanh(h) + U x) / tau; it has the name of a cell of gnode's own."""

    m: jax.Array
    n: jax.Array
    U: jax.Array = gnode.untrained()
    tau: float = eqx.field(static=True)
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def __init__(self, inputs, state, *, rank=1, tau=0.1, key):
        keys = jax.random.split(key, 3)
        self.m, self.n = jax.random.normal(keys[0], (state, rank)), jax.random.normal(keys[1], (state, rank)) / state
        self.U, self.tau, self.inputs, self.units = jax.random.normal(keys[2], (state, inputs)), tau, inputs, state

    def vector_field(self, h, x):
        return (-h + self.m @ (self.n.T @ jnp.tanh(h)) + self.U @ x) / self.tau


def leaky(inputs, state, *, key, gain=1.0):
    """A factory of a cell of gnode's, without a tau of its own."""
    return gnode.cells.rnn(inputs, state, tau=0.1, key=key)


def cubic(outputs, targets):
    return jnp.mean(jnp.abs(outputs - targets) ** 3, -1)


def largest(outputs, targets, counts):
    return jnp.max(jnp.abs(outputs - targets))


def not_a_cell(inputs, state, *, key):
    return "a text"


def other_inputs(inputs, state, *, key):
    return gnode.cells.rnn(inputs + 1, state, key=key)


def without_key(inputs, state):
    return None


def failing(inputs, state, *, key):
    raise ValueError("no such luck")


def wrong_trial(key, dt=0.1):
    return 3


def without_dt(key):
    return jnp.zeros((3, 1)), jnp.zeros((3, 1))


number = 3
'''
