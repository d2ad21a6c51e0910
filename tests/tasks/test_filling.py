"""Filling: against scipy and numpy evaluated by themselves, and at the edges by hand."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from gnode.errors import ArgumentError
from gnode.tasks import FILLS, fill
from gnode.tasks.registry import FILL_NAMES

NAN = np.nan


def column(*values):
    """One trial of one channel."""
    return np.array(values, float)[None, :, None]


def filled(how, *values):
    return fill(column(*values), how)[0, :, 0].tolist()


def gappy(seed, trials=6, bins=40, channels=3, share=0.4, same=False):
    rng = np.random.default_rng(seed)
    values = np.cumsum(rng.normal(size=(trials, bins, channels)), axis=1)
    gaps = rng.random((trials, bins, 1 if same else channels)) < share
    return np.where(gaps, NAN, values)


@pytest.mark.parametrize("same", [True, False])
def test_the_natural_spline_is_scipys(same):
    values = gappy(0, same=same)
    found = fill(values, "natural")
    bins = np.arange(values.shape[1])
    for trial in range(len(values)):
        for channel in range(values.shape[2]):
            seen = np.isfinite(values[trial, :, channel])
            reference = CubicSpline(bins[seen], values[trial, seen, channel], bc_type="natural")
            inside = np.clip(bins, bins[seen][0], bins[seen][-1])
            np.testing.assert_allclose(found[trial, :, channel], reference(inside), rtol=0, atol=1e-10)


def test_the_natural_spline_by_hand():
    # Through (0, 0), (1, 1), (3, 0) with S'' = 0 at the ends: the moment in the middle is -1.5, so S(2) = 0.5 + 0.375.
    assert filled("natural", 0, 1, NAN, 0) == pytest.approx([0, 1, 0.875, 0])


def test_the_line_is_numpys():
    values = gappy(1)
    found = fill(values, "linear")
    bins = np.arange(values.shape[1])
    for trial in range(len(values)):
        for channel in range(values.shape[2]):
            seen = np.isfinite(values[trial, :, channel])
            reference = np.interp(bins, bins[seen], values[trial, seen, channel])
            np.testing.assert_allclose(found[trial, :, channel], reference, rtol=0, atol=1e-12)


def test_hold_by_hand():
    assert filled("hold", NAN, 2, NAN, NAN, 5, NAN) == [0, 2, 2, 2, 5, 5]


@pytest.mark.parametrize(
    ("how", "edges", "once"),
    [
        ("hold", [0, 2, 3, 4, 4], [0, 7, 7]),
        ("linear", [2, 2, 3, 4, 4], [7, 7, 7]),
        ("natural", [2, 2, 3, 4, 4], [7, 7, 7]),
    ],
)
def test_edges_and_single_samples(how, edges, once):
    assert filled(how, NAN, 2, 3, 4, NAN) == edges
    assert filled(how, NAN, 7, NAN) == once
    assert filled(how, NAN, NAN) == [0, 0]


@pytest.mark.parametrize("how", FILLS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_observed_changes_and_nothing_is_missing_after(how, dtype):
    values = gappy(2, share=0.8).astype(dtype)
    values[0, :, 1] = NAN
    before = values.copy()
    found = fill(values, how)
    assert found.dtype == dtype
    assert np.isfinite(found).all()
    seen = np.isfinite(values)
    np.testing.assert_array_equal(found[seen], values[seen])
    np.testing.assert_array_equal(values, before)


@pytest.mark.parametrize("how", FILLS)
def test_causal_is_what_it_says(how):
    """Changing the last value changes nothing before it exactly if the table calls the way of filling causal."""
    values = gappy(3, share=0.3, same=True)
    values[:, 20] = 1.0
    values[:, 18:20] = NAN
    changed = values.copy()
    changed[:, 20] = 5.0
    earlier = fill(values, how)[:, :20] == fill(changed, how)[:, :20]
    assert earlier.all() == FILLS[how].causal


def test_the_registry_lists_the_same_names():
    assert tuple(FILLS) == FILL_NAMES


def test_an_unknown_way_names_the_nearest():
    with pytest.raises(ArgumentError, match="Did you mean 'linear'"):
        fill(column(1, NAN), "liner")


@pytest.mark.parametrize("how", ["linear", "natural"])
def test_times_that_are_not_equally_far_apart(how):
    """A line stays a line whatever the times; in bins it would not be one."""
    times = np.array([[0.0, 0.9, 1.0, 4.0, 4.5], [0.0, 1.0, 2.0, 3.0, 4.0]])
    whole = 2.0 * times[..., None] - 1.0
    gaps = np.where(np.array([0, 1, 0, 1, 0])[None, :, None] == 1, np.nan, whole)
    np.testing.assert_allclose(fill(gaps, how, times), whole, atol=1e-12)
    assert np.abs(fill(gaps, how)[0] - whole[0]).max() > 0.5


def test_bins_at_the_same_time_do_no_harm():
    values = np.array([[[0.0], [np.nan], [2.0], [3.0], [np.nan]]])
    times = np.array([[0.0, 1.0, 2.0, 2.0, 2.0]])
    for how in ("linear", "natural"):
        filled = fill(values, how, times)[0, :, 0]
        assert np.all(np.isfinite(filled))
        assert filled[-1] == 3.0
