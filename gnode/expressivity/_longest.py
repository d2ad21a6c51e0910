"""The longest trajectory of noise that an architecture fits to a given error: one number for the architecture."""

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from gnode import errors, tasks, train
from gnode.arguments import checked, checked_class
from gnode.expressivity._measure import LEARNING_RATES, WEIGHT_DECAYS, check_lists, check_settings
from gnode.network import AbstractNetwork
from gnode.sweeps import sweep_or_resume
from gnode.types import Key
from gnode.wording import plural

LENGTHS = (5, 7, 10, 14, 20, 28, 40, 57, 80, 113, 160, 226, 320)
"""The lengths that are tried by default, in bins: a factor of the square root of 2 apart."""

DEFAULT_ERROR = 0.05
"""The mean squared error that counts as fitted by default: a tenth of the variance of the paper's process."""

FitSettings = tuple[float, float]
"""A learning rate and a weight decay."""


@checked_class
@dataclasses.dataclass(frozen=True)
class LongestFit:
    """The longest trajectory that a network fits, and the errors that decide it.

    A seed fits a length if its errors at this and at all shorter lengths are at most `error`.

    **Arguments:**

    - `error`: the mean squared error that counts as fitted.
    - `lengths`: the lengths tried, in bins; each trajectory is the beginning of the next.
    - `errors`: the minimum training error for each length and seed, with the setting that is best for that length.

    >>> fit = LongestFit(0.05, (5, 10, 20), np.array([[0.01, 0.01], [0.02, 0.2], [0.3, 0.3]]))
    >>> fit.by_seed.tolist(), fit.mean
    ([10.0, 5.0], 7.5)
    """

    error: float
    lengths: tuple[int, ...]
    errors: Float[np.ndarray, "lengths seeds"]

    def __post_init__(self):
        _checked(self.error, self.lengths)
        if self.errors.shape[0] != len(self.lengths) or self.errors.size == 0:
            raise errors.ArgumentError(
                f"errors has shape {self.errors.shape}, but must have a row for each of the {len(self.lengths)} lengths."
            )

    @property
    def by_seed(self) -> Float[np.ndarray, " seeds"]:
        """The longest fitted length of every seed; 0 if the shortest was not fitted."""
        fitted = np.cumprod(self.errors <= self.error, axis=0).sum(axis=0)
        return np.array([0.0, *self.lengths])[fitted]

    @property
    def mean(self) -> float:
        """The mean over seeds of the longest fitted length: the number to report."""
        return float(self.by_seed.mean())

    @property
    def std(self) -> float:
        """The standard deviation over seeds of the longest fitted length."""
        return float(self.by_seed.std())

    @property
    def is_bound(self) -> bool:
        """Whether a seed fitted the longest trajectory tried, so that the mean is a lower bound."""
        return bool(np.any(self.by_seed == self.lengths[-1]))

    def __repr__(self) -> str:
        bound = ", a lower bound" if self.is_bound else ""
        seeds = self.errors.shape[1]
        return f"LongestFit({self.mean:.3g} ± {self.std:.2g} bins to {self.error:g}{bound}, {plural(seeds, 'seed')})"

    def summary(self) -> str:
        """Returns the result as one sentence."""
        at_least = "at least " if self.is_bound else ""
        return (
            f"fits trajectories of {at_least}{self.mean:.3g} ± {self.std:.2g} bins to a mean squared error of "
            f"{self.error:g} ({plural(self.errors.shape[1], 'seed')}, {plural(len(self.lengths), 'length')} from "
            f"{self.lengths[0]} to {self.lengths[-1]} tried)"
        )


@checked
def longest_fit(
    model: str,
    out: str | Path,
    *,
    error: float = DEFAULT_ERROR,
    lengths: Sequence[int] = LENGTHS,
    lr: Sequence[float] = LEARNING_RATES,
    weight_decay: Sequence[float] = WEIGHT_DECAYS,
    seeds: int = 5,
    epochs: int = 2000,
    engine: str = "auto",
    progress: bool | None = None,
    **settings: Any,
) -> LongestFit:
    """Finds the longest trajectory of noise that a model of `gnode.build` fits, by a sweep over lengths, settings and seeds.

    **Arguments:**

    - `model`: the model's name.
    - `out`: the sweep's folder; the same call resumes an interrupted sweep.
    - `error`: the mean squared error that counts as fitted.
    - `lengths`: the lengths to try, in bins, in rising order.
    - `lr`, `weight_decay`: the values among which the best setting is chosen for each length.
    - `seeds`, `epochs`: the number of seeds, and of epochs of each run.
    - `engine`, `progress`: as in `gnode.sweep`.
    - `settings`: settings of the network and the noise (`state`, `widths`, `tau`, `channels`, ...).

    **Returns:** a `LongestFit`.

    **Raises:** `ArgumentError` if `error` or `lengths` is invalid; `StoreError` if `out` holds a sweep with other settings.

    No example: it trains a sweep; `longest_fit_of` has one.
    """
    tried = _checked(error, lengths)
    check_lists(lr=lr, weight_decay=weight_decay)
    check_settings(settings, ("task", "bins", "seed"))
    sweep = sweep_or_resume(
        "ou",
        out,
        engine=engine,
        progress=progress,
        model=model,
        bins=list(tried),
        lr=list(lr),
        weight_decay=list(weight_decay),
        seed=list(range(errors.whole("seeds", seeds))),
        epochs=epochs,
        **settings,
    )
    found: dict[int, dict[FitSettings, list[float]]] = {}
    for index in sweep.done():
        own = sweep.members[index]
        by_setting = found.setdefault(own["bins"], {})
        by_setting.setdefault((own["lr"], own["weight_decay"]), []).append(sweep.result(index)["best_loss"])
    return LongestFit(error, tried, np.array([_best(found[length]) for length in tried]))


@checked
def longest_fit_of(
    make: Callable[[Key], AbstractNetwork],
    *,
    error: float = DEFAULT_ERROR,
    lengths: Sequence[int] = LENGTHS,
    lr: Sequence[float] = LEARNING_RATES,
    weight_decay: Sequence[float] = WEIGHT_DECAYS,
    seeds: int = 5,
    epochs: int = 2000,
    **noise: Any,
) -> LongestFit:
    """Finds the longest trajectory of noise that a network of your own fits.

    The networks are trained one after another, up to the first length that no seed fits.

    **Arguments:**

    - `make`: a function that takes a key and draws a network, with as many inputs and outputs as the noise has channels.
    - `error`, `lengths`, `lr`, `weight_decay`, `seeds`, `epochs`: as in `longest_fit`.
    - `noise`: options of `gnode.tasks.ou`, such as `channels` (30 by default).

    **Returns:** a `LongestFit` with the lengths that were tried.

    >>> from gnode import build
    >>> longest_fit_of(lambda key: build("gru", 2, 2, state=3, key=key), lengths=[2], lr=[1e-2], weight_decay=[1e-3],
    ...                seeds=1, epochs=2, channels=2).errors.shape
    (1, 1)
    """
    tried, rows = _checked(error, lengths), []
    check_lists(lr=lr, weight_decay=weight_decay)
    check_settings(noise, ("bins",))
    for length in tried:
        task = tasks.ou(bins=length, **noise)
        found: dict[FitSettings, list[float]] = {}
        for rate, decay, seed in itertools.product(lr, weight_decay, range(errors.whole("seeds", seeds))):
            run = train.fit(
                _made(make, seed), task, key=seed, lr=rate, weight_decay=decay, epochs=epochs, progress=False
            )
            found.setdefault((rate, decay), []).append(run.best_loss)
        rows.append(_best(found))
        if min(rows[-1]) > error:
            break
    return LongestFit(error, tried[: len(rows)], np.array(rows))


def _made(make: Callable[[Key], Any], seed: int) -> AbstractNetwork:
    """Calls the user's function, and says so if it fails or returns something else than a network."""
    name = getattr(make, "__name__", type(make).__name__)
    try:
        net = make(jax.random.key(seed))
    except Exception as problem:
        raise errors.ArgumentError(
            f"make, {name!r}, fails on a key ({type(problem).__name__}: {errors.shortened(str(problem))})."
        ) from problem
    if not isinstance(net, AbstractNetwork):
        raise errors.ArgumentError(f"make, {name!r}, returned {errors.shown(net)}, but must return a network.")
    return net


def _best(by_setting: dict[FitSettings, list[float]]) -> list[float]:
    """Returns the losses of the setting with the lowest mean."""
    return min(by_setting.values(), key=lambda losses: float(np.mean(losses)))


def _checked(error: float, lengths: Sequence[int]) -> tuple[int, ...]:
    errors.positive("error", error)
    tried = tuple(errors.whole("lengths", length) for length in lengths)
    if not tried or list(tried) != sorted(set(tried)):
        raise errors.ArgumentError(
            f"lengths is {errors.shown(list(lengths))}, but must be whole numbers in rising order."
        )
    return tried
