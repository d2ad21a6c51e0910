"""Filling missing values, in ways that say whether they look ahead.

| name      | between two observations          | before the first | after the last | causal |
|-----------|-----------------------------------|------------------|----------------|--------|
| `hold`    | the last one                      | 0                | the last one   | yes    |
| `linear`  | the line between them             | the first one    | the last one   | no     |
| `natural` | the natural cubic spline          | the first one    | the last one   | no     |

A channel that is missing throughout a trial becomes 0. After standardising, 0 is the mean over the training trials, so
fill after standardising. A channel observed once is constant (with `hold`: from then on). The result holds no NaN.

Lines and splines run over the bins' times, where these are given (trials x bins); otherwise bins are equally far apart.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.interpolate import CubicSpline

from gnode import errors

UNKNOWN = 0.0
"""What stands for a value of which nothing is known: the training mean, once standardised."""


class Fill(NamedTuple):
    """A way to fill: its function, and whether a filled value depends on nothing later than itself."""

    function: Callable[[np.ndarray, np.ndarray], np.ndarray]
    """Of values and times."""
    causal: bool


def hold(values: Float[np.ndarray, "trials bins channels"]) -> Float[np.ndarray, "trials bins channels"]:
    """Every missing value becomes the last one observed before it; 0 if there was none. Causal.

    >>> hold(np.array([[[np.nan], [2.0], [np.nan]]]))[0, :, 0].tolist()
    [0.0, 2.0, 2.0]
    """
    observed = ~np.isnan(values)
    before = _last_seen(observed)
    filled = np.take_along_axis(values, np.maximum(before, 0), axis=1)
    return np.where(before < 0, np.asarray(UNKNOWN, values.dtype), filled)


def linear(
    values: Float[np.ndarray, "trials bins channels"], times: Float[np.ndarray, "trials bins"] | None = None
) -> Float[np.ndarray, "trials bins channels"]:
    """Missing values on the line between their neighbours; constant beyond the first and the last. Not causal.

    >>> linear(np.array([[[1.0], [np.nan], [2.0], [np.nan]]]))[0, :, 0].tolist()
    [1.0, 1.5, 2.0, 2.0]
    """
    times = _equally_far(values) if times is None else times
    observed = ~np.isnan(values)
    bins = values.shape[1]
    before = _last_seen(observed)
    after = bins - 1 - _last_seen(observed[:, ::-1])[:, ::-1]  # bins where none follows
    never = before.max(axis=1, keepdims=True) < 0
    left = np.clip(np.where(before < 0, after, before), 0, bins - 1)
    right = np.clip(np.where(after >= bins, before, after), 0, bins - 1)
    here = np.broadcast_to(times[..., None], values.shape)
    start, end = np.take_along_axis(here, left, axis=1), np.take_along_axis(here, right, axis=1)
    share = np.where(end > start, (here - start) / np.where(end > start, end - start, 1.0), 0.0).astype(values.dtype)
    low, high = np.take_along_axis(values, left, axis=1), np.take_along_axis(values, right, axis=1)
    filled = np.where(observed, values, low + share * (high - low))
    return np.where(never, np.asarray(UNKNOWN, values.dtype), filled)


def natural(
    values: Float[np.ndarray, "trials bins channels"], times: Float[np.ndarray, "trials bins"] | None = None
) -> Float[np.ndarray, "trials bins channels"]:
    """Missing values on the natural cubic spline through all observed ones. Not causal: it looks ahead in time.

    The spline S is twice differentiable, passes through every observation, and S'' = 0 at the first and the last. Beyond
    those two it is constant: a cubic that is followed outside its data grows without bound. Observed values stay as they
    are. Channels that are missing in the same bins share one vector-valued spline.

    >>> natural(np.array([[[0.0], [1.0], [np.nan], [3.0]]]))[0, :, 0].tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    times = _equally_far(values) if times is None else times
    filled = np.array(values)
    observed = ~np.isnan(values)
    for trial in np.flatnonzero(~observed.all(axis=(1, 2))):
        for pattern, channels in _patterns(observed[trial]):
            filled[trial][:, channels] = _natural_of_one(values[trial][:, channels], pattern, times[trial])
    return filled


def _natural_of_one(values: np.ndarray, observed: Bool[np.ndarray, " bins"], times: np.ndarray) -> np.ndarray:
    """Channels that share the pattern of what was observed."""
    knots = np.flatnonzero(observed)
    knots = knots[np.diff(times[knots], append=np.inf) > 0]  # of bins at the same time, the last
    if knots.size == 0:
        return np.full_like(values, UNKNOWN)
    if knots.size == 1:
        return np.broadcast_to(values[knots], values.shape)
    filled = np.array(values)
    gaps = np.flatnonzero(~observed)
    spline = CubicSpline(times[knots], values[knots].astype(np.float64), bc_type="natural")
    filled[gaps] = spline(np.clip(times[gaps], times[knots[0]], times[knots[-1]]))
    return filled


def _equally_far(values: np.ndarray) -> Float[np.ndarray, "trials bins"]:
    return np.broadcast_to(np.arange(values.shape[1], dtype=float), values.shape[:2])


def _patterns(observed: Bool[np.ndarray, "bins channels"]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each different pattern of observed bins, with the channels that have it."""
    if np.all(observed == observed[:, :1]):  # the usual case, and the cheap one
        return [(observed[:, 0], np.arange(observed.shape[1]))]
    kinds, which = np.unique(observed, axis=1, return_inverse=True)
    return [(kinds[:, kind], np.flatnonzero(which.ravel() == kind)) for kind in range(kinds.shape[1])]


def _last_seen(observed: Bool[np.ndarray, "trials bins channels"]) -> Int[np.ndarray, "trials bins channels"]:
    """The last bin up to each one that was observed; -1 if none was."""
    place = np.where(observed, np.arange(observed.shape[1], dtype=np.int32)[:, None], np.int32(-1))
    return np.maximum.accumulate(place, axis=1)


FILLS: dict[str, Fill] = {
    "hold": Fill(lambda values, _: hold(values), causal=True),
    "linear": Fill(linear, causal=False),
    "natural": Fill(natural, causal=False),
}
"""Every way to fill missing values, by name."""


def fill(
    values: Float[np.ndarray, "trials bins channels"],
    how: str,
    times: Float[np.ndarray, "trials bins"] | None = None,
) -> Float[np.ndarray, "trials bins channels"]:
    """Values without NaN, filled along time by one of `FILLS`; `times` of the bins, if these are not equally far apart.

    >>> fill(np.array([[[1.0], [np.nan]]]), "hold")[0, :, 0].tolist()
    [1.0, 1.0]
    """
    chosen = FILLS[errors.one_of("fill", how, FILLS)]
    if not np.isnan(values).any():
        return values
    return chosen.function(values, _equally_far(values) if times is None else times)
