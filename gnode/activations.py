"""Named pointwise nonlinearities: the paper's phi_a, phi_h and phi_z."""

from collections.abc import Callable
from functools import lru_cache
from pkgutil import resolve_name
from typing import Any

from gnode import errors
from gnode.arguments import checked

__all__ = ["ACTIVATIONS", "Activation", "activation"]

Activation = Callable[[Any], Any]

ACTIVATIONS: dict[str, str] = {
    "identity": "gnode._activation_functions:identity",
    "relu": "jax.nn:relu",
    "leaky_relu": "gnode._activation_functions:leaky_relu",
    "tanh": "jax.numpy:tanh",
    "sigmoid": "jax.nn:sigmoid",
    "erf": "jax.scipy.special:erf",
    "softplus": "jax.nn:softplus",
    "gelu": "jax.nn:gelu",
    "silu": "jax.nn:silu",
    "elu": "jax.nn:elu",
    "sin": "jax.numpy:sin",
    "step": "gnode._activation_functions:step",
}
"""Every activation by name, and where its function is: it is imported when it is first used."""


@checked
def activation(name: str) -> Activation:
    """Returns the activation function of that name.

    **Raises:** `ArgumentError` for an unknown name, with the nearest one suggested.

    >>> import jax.numpy as jnp
    >>> float(activation("relu")(jnp.float32(-1.0)))
    0.0
    """
    return _function(errors.one_of("activation", name, ACTIVATIONS))


@lru_cache
def _function(name: str) -> Activation:
    return resolve_name(ACTIVATIONS[name])
