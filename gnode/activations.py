"""Named pointwise nonlinearities: the paper's phi_a, phi_h and phi_z."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array

from gnode import errors

Activation = Callable[[Array], Array]


def identity(x: Array) -> Array:
    """The identity, the paper's calligraphic I."""
    return x


def leaky_relu(x: Array) -> Array:
    """max(x, x / 100)."""
    return jax.nn.leaky_relu(x, 0.01)


def step(x: Array) -> Array:
    """1 where x > 0, else 0."""
    return jnp.where(x > 0, 1.0, 0.0).astype(x.dtype)


ACTIVATIONS: dict[str, Activation] = {
    "identity": identity,
    "relu": jax.nn.relu,
    "leaky_relu": leaky_relu,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "erf": jax.scipy.special.erf,
    "softplus": jax.nn.softplus,
    "gelu": jax.nn.gelu,
    "silu": jax.nn.silu,
    "elu": jax.nn.elu,
    "sin": jnp.sin,
    "step": step,
}


def activation(name: str) -> Activation:
    """The function of that name; an unknown name is an error with the nearest one suggested.

    >>> float(activation("relu")(jnp.float32(-1.0)))
    0.0
    """
    return ACTIVATIONS[errors.one_of("activation", name, ACTIVATIONS)]


SLOPES: dict[str, Activation] = {
    "identity": jnp.ones_like,
    "relu": lambda s: (s > 0).astype(s.dtype),
    "leaky_relu": lambda s: jnp.where(s >= 0, 1.0, 0.01).astype(s.dtype),
    "tanh": lambda s: 1 - s**2,
    "sigmoid": lambda s: s * (1 - s),
    "softplus": lambda s: -jnp.expm1(-s),
    "elu": lambda s: jnp.where(s > 0, 1.0, s + 1).astype(s.dtype),
}
"""phi'(x) as a function of the value s = phi(x), for the functions whose value tells their slope."""
