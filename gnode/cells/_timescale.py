"""The time constant tau, fixed or trained, always positive."""

import abc
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked_class, real_array
from gnode.cells._options import LEARN_TAU
from gnode.types import Frozen, NotDecayed, values_repr


class Timescale(eqx.Module):
    """Abstract base class of the time constant tau in seconds: one number, or one per unit.

    No example: see `FixedTimescale` and `LearnedTimescale`.
    """

    @abc.abstractmethod
    def __call__(self) -> Float[Array, "..."]:
        """Returns tau, which is positive."""

    @property
    def text(self) -> str:
        """tau as the `repr` of a cell shows it."""
        return values_repr(self())


@checked_class
class FixedTimescale(Timescale, Frozen):
    """A constant tau, which training does not change.

    >>> FixedTimescale(jnp.array(0.5))
    FixedTimescale(tau=0.5)
    """

    tau: Float[Array, "..."]

    def __check_init__(self):
        _check_axes("tau", self.tau)
        if not isinstance(self.tau, Tracer) and not np.all(np.isfinite(self.tau) & (np.asarray(self.tau) > 0)):
            raise errors.ArgumentError(f"tau is {values_repr(self.tau)}, but must be positive.")

    def __call__(self) -> Float[Array, "..."]:
        return self.tau

    def __repr__(self) -> str:
        return f"FixedTimescale(tau={self.text})"


@checked_class
class LearnedTimescale(Timescale, NotDecayed):
    """A trained tau = exp(log_tau), which is therefore positive.

    It is exempt from weight decay, which would pull tau towards one second.

    >>> LearnedTimescale(jnp.zeros(3))
    LearnedTimescale(tau=1 (3 values), trained)
    """

    log_tau: Float[Array, "..."]

    def __check_init__(self):
        _check_axes("log_tau", self.log_tau)
        if not isinstance(self.log_tau, Tracer) and not np.all(np.isfinite(self.log_tau)):
            raise errors.ArgumentError(f"log_tau is {values_repr(self.log_tau)}, but must be finite.")

    def __call__(self) -> Float[Array, "..."]:
        return jnp.exp(self.log_tau)

    @property
    def text(self) -> str:
        is_known = isinstance(self.log_tau, jax.Array) and not isinstance(self.log_tau, Tracer)
        return f"{values_repr(np.exp(self.log_tau) if is_known else self.log_tau)}, trained"

    def __repr__(self) -> str:
        return f"LearnedTimescale(tau={self.text})"


def _check_axes(name: str, values: Array) -> None:
    if values.ndim > 1 or values.size == 0:
        raise errors.ArgumentError(f"{name} has shape {values.shape}, but must be one number or one per unit.")


def check_timescale(own: Timescale, units: int) -> None:
    """Raises an `ArgumentError` if a time constant is neither one number nor one per unit."""
    shape = own().shape
    if shape not in ((), (units,)):
        raise errors.ArgumentError(f"timescale has shape {shape}, but must be one number or one per unit, ({units},).")


def timescale(tau: ArrayLike | Sequence[float], learn_tau: str, units: int) -> Timescale:
    """Makes the time constant of a cell.

    **Arguments:**

    - `tau`: seconds, one number or one per unit.
    - `learn_tau`: "no" for a constant, "shared" to train one number, "per_unit" to train one number for each unit.
    - `units`: N.

    **Raises:** `ArgumentError` if `tau` is not positive or has another shape.
    """
    errors.one_of("learn_tau", learn_tau, LEARN_TAU)
    values = np.asarray(real_array("tau", tau), dtype=float)
    if values.shape not in ((), (units,)) or not np.all(np.isfinite(values)) or np.any(values <= 0):
        raise errors.ArgumentError(
            f"tau is {errors.shown(tau)}, but must be a positive number, or {units} of them (one per unit)."
        )
    if learn_tau == "no":
        return FixedTimescale(jnp.asarray(values, dtype=float))
    shape = (units,) if learn_tau == "per_unit" else values.shape
    return LearnedTimescale(jnp.broadcast_to(jnp.log(jnp.asarray(values, dtype=float)), shape))
