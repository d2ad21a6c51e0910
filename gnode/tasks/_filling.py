"""Filling of missing values along time.

| name      | between two observations      | before the first | after the last | causal |
|-----------|-------------------------------|------------------|----------------|--------|
| `hold`    | last observed value           | 0                | last value     | yes    |
| `linear`  | linear interpolation          | first value      | last value     | no     |
| `natural` | natural cubic spline          | first value      | last value     | no     |

A channel that is never observed in a trial becomes 0. In standardised data 0 is the mean over the training trials, so
standardise before filling. A channel that is observed once is constant (with `hold`: from then on). The result holds no NaN.

Interpolation uses the times of the bins, of shape (trials, bins), if they are given; otherwise bins are equally spaced.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.interpolate import CubicSpline

from gnode import errors
from gnode.arguments import checked
from gnode.tasks._trials import as_numbers

NEVER_OBSERVED = 0.0
"""Value of a channel of which nothing has been observed: in standardised data, the mean of the training trials."""


class Fill(NamedTuple):
    """A method of filling: its function, and whether a filled value depends only on earlier observations."""

    function: Callable[[np.ndarray, np.ndarray], np.ndarray]
    """Takes values and times, returns the filled values."""
    causal: bool


def hold(values: Float[np.ndarray, "trials bins channels"]) -> Float[np.ndarray, "trials bins channels"]:
    """Replaces every missing value by the last observed one, or by 0 if there is none. Causal.

    >>> hold(np.array([[[np.nan], [2.0], [np.nan]]]))[0, :, 0].tolist()
    [0.0, 2.0, 2.0]
    """
    observed = ~np.isnan(values)
    before = _last_observed(observed)
    filled = np.take_along_axis(values, np.maximum(before, 0), axis=1)
    return np.where(before < 0, np.asarray(NEVER_OBSERVED, values.dtype), filled)


def linear(
    values: Float[np.ndarray, "trials bins channels"], times: Float[np.ndarray, "trials bins"] | None = None
) -> Float[np.ndarray, "trials bins channels"]:
    """Interpolates missing values linearly; constant before the first and after the last observation. Not causal.

    >>> linear(np.array([[[1.0], [np.nan], [2.0], [np.nan]]]))[0, :, 0].tolist()
    [1.0, 1.5, 2.0, 2.0]
    """
    times = _regular_times(values) if times is None else times
    observed = ~np.isnan(values)
    bins = values.shape[1]
    before = _last_observed(observed)
    after = bins - 1 - _last_observed(observed[:, ::-1])[:, ::-1]  # equals `bins` where no observation follows
    never = before.max(axis=1, keepdims=True) < 0
    left = np.clip(np.where(before < 0, after, before), 0, bins - 1)
    right = np.clip(np.where(after >= bins, before, after), 0, bins - 1)
    here = np.broadcast_to(times[..., None], values.shape)
    start, end = np.take_along_axis(here, left, axis=1), np.take_along_axis(here, right, axis=1)
    share = np.where(end > start, (here - start) / np.where(end > start, end - start, 1.0), 0.0).astype(values.dtype)
    low, high = np.take_along_axis(values, left, axis=1), np.take_along_axis(values, right, axis=1)
    filled = np.where(observed, values, low + share * (high - low))
    return np.where(never, np.asarray(NEVER_OBSERVED, values.dtype), filled)


def natural(
    values: Float[np.ndarray, "trials bins channels"], times: Float[np.ndarray, "trials bins"] | None = None
) -> Float[np.ndarray, "trials bins channels"]:
    """Interpolates missing values with the natural cubic spline through all observations. Not causal.

    The spline S is twice continuously differentiable, passes through every observation, and has S'' = 0 at the first and
    the last one. Outside these it is constant, because an extrapolated cubic grows without bound. Observed values do not
    change. Channels that are missing in the same bins share one vector-valued spline.

    >>> natural(np.array([[[0.0], [1.0], [np.nan], [3.0]]]))[0, :, 0].tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    times = _regular_times(values) if times is None else times
    filled = np.array(values)
    observed = ~np.isnan(values)
    for trial in np.flatnonzero(~observed.all(axis=(1, 2))):
        for pattern, channels in _patterns(observed[trial]):
            filled[trial][:, channels] = _interpolate_spline(values[trial][:, channels], pattern, times[trial])
    return filled


def _interpolate_spline(values: np.ndarray, observed: Bool[np.ndarray, " bins"], times: np.ndarray) -> np.ndarray:
    """Fills the channels of one trial that are observed in the same bins."""
    knots = np.flatnonzero(observed)
    knots = knots[np.diff(times[knots], append=np.inf) > 0]  # keeps the last of several bins at the same time
    if knots.size == 0:
        return np.full_like(values, NEVER_OBSERVED)
    if knots.size == 1:
        return np.broadcast_to(values[knots], values.shape)
    filled = np.array(values)
    gaps = np.flatnonzero(~observed)
    spline = CubicSpline(times[knots], values[knots].astype(np.float64), bc_type="natural")
    filled[gaps] = spline(np.clip(times[gaps], times[knots[0]], times[knots[-1]]))
    return filled


def _regular_times(values: np.ndarray) -> Float[np.ndarray, "trials bins"]:
    return np.broadcast_to(np.arange(values.shape[1], dtype=float), values.shape[:2])


def _patterns(observed: Bool[np.ndarray, "bins channels"]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Returns each distinct pattern of observed bins with the channels that have it."""
    if np.all(observed == observed[:, :1]):  # the most frequent case, without the cost of np.unique
        return [(observed[:, 0], np.arange(observed.shape[1]))]
    kinds, which = np.unique(observed, axis=1, return_inverse=True)
    return [(kinds[:, kind], np.flatnonzero(which.ravel() == kind)) for kind in range(kinds.shape[1])]


def _last_observed(observed: Bool[np.ndarray, "trials bins channels"]) -> Int[np.ndarray, "trials bins channels"]:
    """Returns the last observed bin up to and including each bin; -1 if there is none."""
    place = np.where(observed, np.arange(observed.shape[1], dtype=np.int32)[:, None], np.int32(-1))
    return np.maximum.accumulate(place, axis=1)


FILLS: dict[str, Fill] = {
    "hold": Fill(lambda values, _: hold(values), causal=True),
    "linear": Fill(linear, causal=False),
    "natural": Fill(natural, causal=False),
}
"""The methods of filling missing values, by name."""


@checked
def fill(
    values: Float[np.ndarray, "trials bins channels"],
    how: str,
    times: Float[np.ndarray, "trials bins"] | None = None,
) -> Float[np.ndarray, "trials bins channels"]:
    """Fills missing values (NaN) along time.

    **Arguments:**

    - `values`: array of shape (trials, bins, channels).
    - `how`: one of `FILLS`: "hold" (causal), "linear" or "natural".
    - `times`: times of the bins, of shape (trials, bins); equally spaced by default.

    **Returns:** an array without NaN; `values` itself if it holds none.

    >>> fill(np.array([[[1.0], [np.nan]]]), "hold")[0, :, 0].tolist()
    [1.0, 1.0]
    """
    chosen = FILLS[errors.one_of("fill", how, FILLS)]
    values = as_numbers("values", values)
    if values.ndim != 3 or np.isinf(values).any():
        found = f"has shape {values.shape}" if values.ndim != 3 else "holds an infinite value"
        raise errors.ArgumentError(
            f"values {found}, but must be finite numbers or NaN of shape (trials, bins, channels)."
        )
    times = _regular_times(values) if times is None else as_numbers("times", times)
    if times.shape != values.shape[:2] or not np.all(np.isfinite(times)) or np.any(np.diff(times, axis=1) < 0):
        raise errors.ArgumentError(
            f"times is {errors.shown(times)}, but must be finite numbers of shape {values.shape[:2]} that do not decrease "
            f"within a trial."
        )
    return chosen.function(values, times) if np.isnan(values).any() else values
