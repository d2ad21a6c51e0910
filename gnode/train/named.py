"""Optimisers, losses and metrics that have names, or are a user's own.

What has a name travels through commands, sweeps and folders, also code of one's own as FILE.py:NAME; an object works in
`gnode.fit`. Nothing here needs jax until a network
is trained.
"""

from collections.abc import Callable, Sequence
from typing import Any

from gnode import errors, own_code

__all__ = ["LOSSES", "METRICS", "OPTIMISERS", "check_loss", "check_metrics", "check_optimiser", "name_of", "resolved"]

OPTIMISERS = (
    "adam",
    "adamw",
    "sgd",
    "momentum",
    "rmsprop",
    "adabelief",
    "adadelta",
    "adafactor",
    "adagrad",
    "adamax",
    "adamaxw",
    "adan",
    "amsgrad",
    "fromage",
    "lamb",
    "lars",
    "lion",
    "nadam",
    "nadamw",
    "noisy_sgd",
    "novograd",
    "optimistic_adam_v2",
    "optimistic_gradient_descent",
    "polyak_sgd",
    "radam",
    "sign_sgd",
    "signum",
    "sm3",
    "yogi",
)
"""Optimisers by their names in optax: all that need no more than gradient, weights and loss, and whose learning rate may
change from step to step, which that of rprop may not. "momentum" is sgd with a momentum of 0.9. Weight decay is the setting
`weight_decay` for all of them, so "adamw" is "adam"."""

LOSSES = {
    "mse": "the squared error, averaged over outputs",
    "mae": "the absolute error, averaged over outputs",
    "huber": "the squared error up to 1, then the absolute error",
    "poisson": "the negative log-likelihood of counts whose log rate is the output",
    "cross_entropy": "the cross-entropy of classes",
}
"""Losses by name. All but "cross_entropy" are for targets that are real numbers."""

METRICS = {
    "accuracy": "share of the bins that count whose largest output is the right class",
    "mse": "mean squared error",
    "mae": "mean absolute error",
    "r2": "share of the targets' variance that the outputs explain",
}
"""Metrics by name. The accuracy of a classification is always recorded."""


def check_optimiser(name: str, value: Any) -> Any:
    """Returns an optimiser if it is a name, or an optimiser of optax."""
    if isinstance(value, str):
        return value if own_code.is_own(value) else _one_of(name, value, OPTIMISERS)
    if callable(getattr(value, "init", None)) and callable(getattr(value, "update", None)):
        return value
    raise errors.ArgumentError(
        f"{name} is {errors.shown(value)}, but must be a name ({', '.join(OPTIMISERS)}) or an optimiser of optax."
    )


def check_loss(name: str, value: Any) -> Any:
    """Returns a loss if it is None, a name, or a function of outputs and targets."""
    if value is None or callable(value) or own_code.is_own(value):
        return value
    return _one_of(name, value, LOSSES)


def check_metrics(name: str, value: Any) -> tuple[Any, ...]:
    """Returns metrics if they are names, or functions of outputs and targets; one alone is one of several."""
    several = (value,) if isinstance(value, str) or callable(value) else value
    if not isinstance(several, Sequence):
        raise errors.ArgumentError(f"{name} is {errors.shown(value)}, but must be names or functions of metrics.")
    found = tuple(one if callable(one) or own_code.is_own(one) else _one_of(name, one, METRICS) for one in several)
    names = [name_of(one) for one in found]
    if len(set(names)) < len(names):
        raise errors.ArgumentError(f"{name} has the same name twice: {', '.join(names)}.")
    return found


def _one_of(name: str, value: Any, names: Any) -> Any:
    """Returns a name if it is known; the error mentions that it may also be in a file."""
    try:
        return errors.one_of(name, value, names)
    except errors.ArgumentError as problem:
        raise errors.ArgumentError(f"{problem} One of your own is named FILE.py:NAME.") from None


def name_of(value: str | Callable[..., Any]) -> str:
    """Returns the name of a metric or loss: its own, or that of its function.

    >>> name_of("r2"), name_of(len)
    ('r2', 'len')
    """
    if isinstance(value, str):
        return own_code.own_name(value) if own_code.is_own(value) else value
    return getattr(value, "__name__", type(value).__name__)


def resolved(value: Any) -> Any:
    """Returns the object behind a name that is a user's own code; anything else as it is."""
    if type(value) is tuple:  # metrics; an optimiser of optax is a named tuple
        return tuple(map(resolved, value))
    return own_code.resolve(str(value)) if own_code.is_own(value) else value
