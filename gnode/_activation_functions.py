"""Activation functions that jax does not provide, and derivatives of activations as functions of their values."""

import jax
import jax.numpy as jnp
from jaxtyping import Array

from gnode.activations import Activation


def identity(x: Array) -> Array:
    """Returns `x`: the identity, the paper's calligraphic I."""
    return x


def leaky_relu(x: Array) -> Array:
    """Computes max(x, x / 100)."""
    return jax.nn.leaky_relu(x, 0.01)


def step(x: Array) -> Array:
    """Returns 1 where x > 0 and 0 elsewhere."""
    return jnp.where(x > 0, 1.0, 0.0).astype(x.dtype)


SLOPES: dict[str, Activation] = {
    "identity": jnp.ones_like,
    "relu": lambda s: (s > 0).astype(s.dtype),
    "leaky_relu": lambda s: jnp.where(s >= 0, 1.0, 0.01).astype(s.dtype),
    "tanh": lambda s: 1 - s**2,
    "sigmoid": lambda s: s * (1 - s),
    "softplus": lambda s: -jnp.expm1(-s),
    "elu": lambda s: jnp.where(s > 0, 1.0, s + 1).astype(s.dtype),
}
"""phi'(x) as a function of the value s = phi(x), for the activations whose value determines their slope."""
