"""The time constant tau: a fixed number by default, trainable by choice, always positive."""

import abc

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gnode import errors
from gnode.cells.registry import LEARN_TAU
from gnode.types import Frozen, NotDecayed


class Timescale(eqx.Module):
    """Holds tau, in seconds: one number, or one per unit."""

    @abc.abstractmethod
    def __call__(self) -> Float[Array, "..."]:
        """tau > 0."""


class FixedTimescale(Timescale, Frozen):
    """tau as given; training never changes it."""

    tau: Float[Array, "..."]

    def __call__(self) -> Float[Array, "..."]:
        return self.tau


class LearnedTimescale(Timescale, NotDecayed):
    """tau = exp(log_tau), so that it stays positive. Weight decay leaves it alone: it would pull tau towards one second."""

    log_tau: Float[Array, "..."]

    def __call__(self) -> Float[Array, "..."]:
        return jnp.exp(self.log_tau)


def timescale(tau: float, learn_tau: str, units: int) -> Timescale:
    """tau fixed (`learn_tau` "no"), trained as one number ("shared"), or as one number for each unit ("per_unit")."""
    errors.one_of("learn_tau", learn_tau, LEARN_TAU)
    values = np.asarray(tau, dtype=float)
    if values.shape not in ((), (units,)) or not np.all(np.isfinite(values)) or np.any(values <= 0):
        raise errors.ArgumentError(f"tau is {tau!r}, but must be a positive number, or {units} of them (one per unit).")
    if learn_tau == "no":
        return FixedTimescale(jnp.asarray(values, dtype=float))
    shape = (units,) if learn_tau == "per_unit" else values.shape
    return LearnedTimescale(jnp.broadcast_to(jnp.log(jnp.asarray(values, dtype=float)), shape))
