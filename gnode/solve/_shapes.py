"""What a rollout is given: shapes, types and lengths of bins, checked before anything is integrated."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import real_array
from gnode.cells import Cell


def type_of_state(cell: Cell, xs: Array, h0: Array) -> Any:
    """Returns the dtype of the state by promotion of all operands; an integer state is promoted to floating point."""
    return jnp.result_type(1.0, h0, xs, *jax.tree.leaves(eqx.filter(cell, eqx.is_inexact_array)))


def check_trial(cell: Cell, xs: Array, h0: Array) -> None:
    if xs.ndim != 2 or xs.shape[1] != cell.inputs or xs.shape[0] == 0:
        raise errors.ArgumentError(
            f"xs has shape {xs.shape}, but must be (time, {cell.inputs}): one row per bin, one column per input of the "
            f"cell. For a batch of trials use jax.vmap."
        )
    if h0.shape != (cell.state_size,):
        raise errors.ArgumentError(f"h0 has shape {h0.shape}, but the cell's state has shape ({cell.state_size},).")
    if _is_concrete(xs) and not np.all(np.isfinite(xs)):
        bin, channel = np.argwhere(~np.isfinite(np.asarray(xs)))[0]
        raise errors.ArgumentError(
            f"xs holds {xs[bin, channel]} at bin {bin}, input {channel}; fill missing values first."
        )


def check_batch(
    cell: Cell, xs: Array, h0: Array, dt: Array, noise: Array | None = None, guess: Array | None = None
) -> None:
    trials, time = xs.shape[:2]
    for name, array, shape in (
        ("xs", xs, (trials, time, cell.inputs)),
        ("h0", h0, (trials, cell.state_size)),
        ("dt", dt, (trials, time)),
        ("noise", noise, (trials, time, cell.state_size)),
        ("guess", guess, (trials, time, cell.state_size)),
    ):
        if array is not None and array.shape != shape:
            raise errors.ArgumentError(f"{name} has shape {array.shape}, but must have shape {shape}.")
    if time == 0:
        raise errors.ArgumentError(f"xs has shape {xs.shape}, but must hold at least one bin.")


def bin_lengths(time: int, dt: ArrayLike | None, ts: ArrayLike | None) -> Float[Array, " time"]:
    if (dt is None) == (ts is None):
        raise errors.ArgumentError("pass either dt (the length of the bins) or ts (their edges), and not both.")
    if ts is not None:
        edges = jnp.asarray(real_array("ts", ts))
        if edges.shape not in ((time,), (time + 1,)) or time + edges.shape[0] < 3:
            raise errors.ArgumentError(
                f"ts has shape {edges.shape}, but must hold {time + 1} edges (or {time} starts)."
            )
        lengths = jnp.diff(edges)
        if edges.shape == (time,):
            lengths = jnp.concatenate([lengths, lengths[-1:]])
        name = "ts goes backwards: the length of bin"
    else:
        lengths = jnp.asarray(real_array("dt", dt), dtype=float)
        if lengths.shape not in ((), (time,)):
            raise errors.ArgumentError(
                f"dt has shape {lengths.shape}, but must be one number or one per bin, ({time},)."
            )
        lengths = jnp.broadcast_to(lengths, (time,))
        name = "dt is negative or not a number: the length of bin"
    if _is_concrete(lengths):
        bad = np.flatnonzero(~(np.isfinite(lengths) & (np.asarray(lengths) >= 0)))
        if bad.size:
            raise errors.ArgumentError(f"{name} {bad[0]} is {float(lengths[bad[0]])}, but must be zero or positive.")
    return lengths


def _is_concrete(array: Array) -> bool:
    return not isinstance(array, Tracer)
