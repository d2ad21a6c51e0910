"""One number for an architecture: the longest trajectory of noise that it fits to a given error."""

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from gnode import errors, tasks, train
from gnode.expressivity._measure import LEARNING_RATES, WEIGHT_DECAYS
from gnode.network import Network
from gnode.sweeps import sweep_or_resume
from gnode.types import Key

LENGTHS = (5, 7, 10, 14, 20, 28, 40, 57, 80, 113, 160, 226, 320)
"""Tried by default: half a factor of two apart."""

DEFAULT_ERROR = 0.05
"""A tenth of the variance of the paper's process."""

FitSettings = tuple[float, float]


@dataclasses.dataclass(frozen=True)
class LongestFit:
    """How long a trajectory was fitted.

    `lengths` were tried, in bins, each the beginning of the next; `errors` holds for each length and seed the minimum
    training error with the setting that is best for that length. A length is fitted by a seed if it and all shorter ones
    have at most `error`.
    """

    error: float
    lengths: tuple[int, ...]
    errors: Float[np.ndarray, "lengths seeds"]

    @property
    def by_seed(self) -> Float[np.ndarray, " seeds"]:
        """The longest fitted length of every seed, 0 if not even the shortest was."""
        fitted = np.cumprod(self.errors <= self.error, axis=0).sum(axis=0)
        return np.array([0.0, *self.lengths])[fitted]

    @property
    def mean(self) -> float:
        """Over seeds: the number to quote."""
        return float(self.by_seed.mean())

    @property
    def std(self) -> float:
        return float(self.by_seed.std())

    @property
    def is_bound(self) -> bool:
        """Whether some seed fitted the longest trajectory that was tried, so that the true number may be higher."""
        return bool(np.any(self.by_seed == self.lengths[-1]))

    def summary(self) -> str:
        """The number in a sentence."""
        at_least = "at least " if self.is_bound else ""
        return (
            f"fits trajectories of {at_least}{self.mean:.3g} ± {self.std:.2g} bins to a mean squared error of "
            f"{self.error:g} ({self.errors.shape[1]} seeds, {len(self.lengths)} lengths from {self.lengths[0]} to "
            f"{self.lengths[-1]} tried)"
        )


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
    """The longest trajectory that a model of `gnode.build` fits, by one sweep over lengths, settings and seeds.

    **Arguments:** `model`; `out`, the sweep's folder, which the same call goes on with; `error`, the mean squared error that
    counts as fitted; `lengths` to try, in bins; `lr`, `weight_decay`, `seeds`, `epochs`; `settings` of the network and the
    noise (`state`, `widths`, `tau`, `channels`, ...).
    """
    tried = _checked(error, lengths)
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


def longest_fit_of(
    make: Callable[[Key], Network],
    *,
    error: float = DEFAULT_ERROR,
    lengths: Sequence[int] = LENGTHS,
    lr: Sequence[float] = LEARNING_RATES,
    weight_decay: Sequence[float] = WEIGHT_DECAYS,
    seeds: int = 5,
    epochs: int = 2000,
    **noise: Any,
) -> LongestFit:
    """As `longest_fit`, for a network of your own: `make(key)` draws one, with as many inputs and outputs as `noise` has
    channels (30 by default; options of `gnode.tasks.ou`). One after another, and no longer than the first length that no
    seed fits.

    >>> from gnode import build
    >>> longest_fit_of(lambda key: build("gru", 2, 2, state=3, key=key), lengths=[2], lr=[1e-2], weight_decay=[1e-3],
    ...                seeds=1, epochs=2, channels=2).errors.shape
    (1, 1)
    """
    tried, rows = _checked(error, lengths), []
    for length in tried:
        task = tasks.ou(bins=length, **noise)
        found: dict[FitSettings, list[float]] = {}
        for rate, decay, seed in itertools.product(lr, weight_decay, range(errors.whole("seeds", seeds))):
            run = train.fit(
                make(jax.random.key(seed)), task, key=seed, lr=rate, weight_decay=decay, epochs=epochs, progress=False
            )
            found.setdefault((rate, decay), []).append(run.best_loss)
        rows.append(_best(found))
        if min(rows[-1]) > error:
            break
    return LongestFit(error, tried[: len(rows)], np.array(rows))


def _best(by_setting: dict[FitSettings, list[float]]) -> list[float]:
    return min(by_setting.values(), key=lambda losses: float(np.mean(losses)))


def _checked(error: float, lengths: Sequence[int]) -> tuple[int, ...]:
    errors.positive("error", error)
    tried = tuple(errors.whole("lengths", length) for length in lengths)
    if not tried or list(tried) != sorted(set(tried)):
        raise errors.ArgumentError(f"lengths is {list(lengths)!r}, but must be whole numbers in rising order.")
    return tried
