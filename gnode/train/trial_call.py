"""Tries objects of a user's own before a run begins: its loss, metrics and optimiser, on shapes alone.

What fails here would otherwise fail inside the compiled program, after the folder of the run was made.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from gnode import errors
from gnode.train.batch import Batch
from gnode.train.named import name_of
from gnode.train.optimiser import first_state, take_step
from gnode.train.settings import Settings


def check_objects(settings: Settings, loss: Any, params: PyTree, batch: Batch, outputs: int) -> None:
    """Checks that functions and optimisers of a user's own can be called and return what they must.

    **Arguments:** `settings`, whose names of own code are resolved; `loss`; `params`; `batch`, some trials; `outputs`, the
    number of outputs.

    **Raises:** `ArgumentError` if one fails, or returns something else.
    """
    bins = batch.inputs.shape[:2]
    predicted = jax.ShapeDtypeStruct((*bins, outputs), jnp.float32)
    if callable(loss):
        found = _shape_of("loss", loss, predicted, batch.targets)
        if found.shape != bins:
            raise errors.ArgumentError(
                f"loss {name_of(loss)} returns an array of shape {found.shape} for outputs of shape {predicted.shape}, but "
                f"must return one value for every bin of every trial, {bins}."
            )
    for metric in settings.metrics:
        if callable(metric):
            found = _shape_of("metric", metric, predicted, batch.targets, batch.mask)
            if found.shape != ():
                raise errors.ArgumentError(
                    f"metric {name_of(metric)} returns an array of shape {found.shape}, but must return one number."
                )
    if settings.optimiser_has_own_rate:
        _check_optimiser(settings, params)


def _shape_of(kind: str, function: Callable[..., Any], *given: Any) -> Any:
    takes = "outputs and targets" if kind == "loss" else "outputs, targets and the weight of every bin"
    called = f"it is called with {takes}, arrays of jax of trials x time, and returns numbers"
    with _told(f"{kind} {name_of(function)} fails", called):
        return jax.eval_shape(lambda *arrays: jnp.asarray(function(*arrays), jnp.float32), *given)


def _check_optimiser(settings: Settings, params: PyTree) -> None:
    def moved(params: PyTree) -> PyTree:
        state = first_state(settings.optimiser, params)
        step = take_step(settings, {}, params, (state, params, jnp.int32(0)), params, jnp.float32(0.0))[0]
        return jax.tree.map(jnp.add, params, step)

    given = "it is given the gradient, its state, the weights and the loss as value"
    with _told("optimiser fails on these weights", f"{given}, which is not enough for a search along a line"):
        jax.eval_shape(moved, params)


@contextmanager
def _told(what: str, how_it_is_called: str) -> Generator[None, None, None]:
    """Turns whatever a user's object raises into a sentence."""
    try:
        yield
    except errors.GnodeError:
        raise
    except Exception as problem:
        reason = errors.shortened(errors.in_one_line(f"{type(problem).__name__}: {problem}"), 150)
        raise errors.ArgumentError(f"{what} ({reason}); {how_it_is_called}.") from problem
