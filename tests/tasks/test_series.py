"""Series: what they hold, what they refuse, and how they lie on regular bins."""

import numpy as np
import pytest

from gnode.errors import ArgumentError
from gnode.tasks import Series

NAN = np.nan


def test_trials_end_to_end():
    series = Series.of([[[1.0, 2.0], [3.0, NAN]], [[5.0, 6.0]]], times=[[0.0, 0.5], [7.0]])
    assert (len(series), series.channels, series.missing_share) == (2, 2, 1 / 6)
    times, values = series.trial(0)
    np.testing.assert_array_equal(times, [0.0, 0.5])
    np.testing.assert_array_equal(values, [[1.0, 2.0], [3.0, NAN]])
    np.testing.assert_array_equal(series.elapsed, [0.0, 0.5, 0.0])


def test_without_times_samples_are_a_second_apart():
    np.testing.assert_array_equal(Series.of([np.zeros((3, 1)), np.zeros((2, 1))]).times, [0, 1, 2, 0, 1])


def test_on_a_grid_by_hand():
    series = Series.of(
        [[[1.0], [2.0], [3.0]], [[4.0], [5.0]]],
        times=[[10.0, 10.2, 10.45], [0.0, 0.1]],
        targets=[[[1.5], [NAN], [3.5]], [[4.5], [5.5]]],
    )
    grid = series.on_grid(0.1)
    np.testing.assert_array_equal(grid.values[..., 0], [[1, NAN, 2, NAN, 3], [4, 5, NAN, NAN, NAN]])
    np.testing.assert_array_equal(grid.samples, [[1, 0, 1, 0, 1], [1, 1, 0, 0, 0]])
    np.testing.assert_array_equal(grid.lengths, [5, 2])
    np.testing.assert_array_equal(grid.target_mask, [[1, 0, 0, 0, 1], [1, 1, 0, 0, 0]])
    np.testing.assert_array_equal(grid.targets[..., 0], [[1.5, 0, 0, 0, 3.5], [4.5, 5.5, 0, 0, 0]])


def test_a_bin_with_two_samples_keeps_the_last_value_of_each_channel():
    series = Series.of([[[1.0, 2.0], [3.0, NAN], [9.0, 9.0]]], times=[[0.0, 0.4, 1.0]])
    np.testing.assert_array_equal(series.on_grid(1.0).values[0], [[3.0, 2.0], [9.0, 9.0]])
    np.testing.assert_array_equal(series.on_grid(1.0).samples[0], [2, 1])


def test_times_with_rounding_errors_fall_into_the_right_bin():
    times = np.arange(1000) * 0.1  # 0.1 * 3 is a little less than 0.3 in places
    grid = Series.of([np.arange(1000.0)[:, None]], times=[times]).on_grid(0.1)
    np.testing.assert_array_equal(grid.values[0, :, 0], np.arange(1000.0))


def test_too_few_bins_are_refused():
    with pytest.raises(ArgumentError, match="bins is 2, but the longest trial takes 3"):
        Series.of([np.zeros((3, 1))]).on_grid(1.0, bins=2)


def test_bins_far_too_short_are_refused_before_memory_runs_out():
    series = Series.of([[[1.0], [2.0]]], times=[[0.0, 2.5]])
    with pytest.raises(ArgumentError, match="choose longer bins"):
        series.on_grid(1e-10)


ONES = np.ones((3, 1))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Series.of([ONES, ONES], times=[[0, 1, 2], [0, 2, 1]]), "backwards in trial 1 at sample 2"),
        (lambda: Series.of([ONES], times=[[0, 1, 1]]), "stands still in trial 0 at sample 2"),
        (lambda: Series.of([ONES], times=[[0, NAN, 1]]), "time of trial 0, sample 1 is not a number"),
        (lambda: Series.of([ONES], times=[[0, 1]]), "times must hold as many samples"),
        (lambda: Series.of([ONES, ONES * NAN]), "trial 1 holds no value at all"),
        (lambda: Series.of([ONES, ONES * np.inf]), "inf at trial 1, sample 0, channel 0"),
        (lambda: Series.of([ONES, ONES], labels=[0]), r"labels have shape \(1,\), but must be \(2,\)"),
        (lambda: Series.of([ONES], labels=[2], label_names=("a", "b")), "label of trial 0 is 2"),
        (lambda: Series.of([ONES], labels=[0.5]), "whole numbers"),
        (lambda: Series(ONES, np.array([2])), "lengths add up to 2 samples, but values hold 3"),
        (lambda: Series(ONES, np.array([3, 0])), "at least 1 for each trial"),
        (lambda: Series.of([ONES, np.ones((3, 2))]), "same channels"),
        (lambda: Series.of([]), "same channels"),
        (lambda: Series(ONES, np.array([3]), targets=np.ones((2, 1))), "targets have shape"),
        (
            lambda: Series(ONES, np.array([3]), targets=ONES * NAN, target_mask=np.array([0, 1, 0])),
            "target of trial 0, sample 1 is missing",
        ),
    ],
)
def test_bad_series_are_one_sentence(make, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        make()
