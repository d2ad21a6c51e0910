"""Metrics of the validation trials, computed in the training program."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode.train.batch import Batch
from gnode.train.loss import classes_by_bin, counting_bins
from gnode.train.named import name_of
from gnode.train.settings import Settings


def measure(
    choices: Settings, loss: Any, outputs: Float[Array, "trials time outputs"], batch: Batch, when: str
) -> dict[str, Float[Array, ""]]:
    """Computes the metrics that settings ask for, and the accuracy of a classification, over the bins that count."""
    counts = counting_bins(batch, when)
    wanted = {name_of(metric): metric for metric in choices.metrics}
    if loss == "cross_entropy":
        wanted.setdefault("accuracy", "accuracy")
    return {name: _score(metric, outputs, batch, counts) for name, metric in wanted.items()}


def _score(metric: Any, outputs: Array, batch: Batch, counts: Float[Array, "trials time"]) -> Float[Array, ""]:
    if callable(metric):
        return jnp.asarray(metric(outputs, batch.targets, counts), jnp.float32)
    return _METRICS[metric](outputs, batch, counts)


def _mean(values: Array, counts: Array) -> Array:
    return jnp.sum(jnp.where(counts > 0, values * counts, 0.0)) / jnp.maximum(jnp.sum(counts), 1e-9)


def _accuracy(outputs: Array, batch: Batch, counts: Array) -> Array:
    return _mean(outputs.argmax(-1) == classes_by_bin(batch, outputs.shape[1]), counts)


def _r2(outputs: Array, batch: Batch, counts: Array) -> Array:
    weight = counts[..., None]
    center = jnp.sum(batch.targets * weight, (0, 1)) / jnp.maximum(jnp.sum(weight), 1e-9)
    spread = _mean(jnp.sum((batch.targets - center) ** 2, -1), counts)
    return 1 - _mean(jnp.sum((outputs - batch.targets) ** 2, -1), counts) / spread


_METRICS: dict[str, Callable[[Array, Batch, Array], Array]] = {
    "accuracy": _accuracy,
    "mse": lambda outputs, batch, counts: _mean(jnp.mean((outputs - batch.targets) ** 2, -1), counts),
    "mae": lambda outputs, batch, counts: _mean(jnp.mean(jnp.abs(outputs - batch.targets), -1), counts),
    "r2": _r2,
}
