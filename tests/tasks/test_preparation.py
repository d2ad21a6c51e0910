"""Standardising, time stamps, counts and splits."""

import numpy as np
import pytest

from gnode.errors import ArgumentError
from gnode.tasks._preparation import CHUNK, Scale, observation_counts, stratified_split, time_stamps


def test_scale_is_numpys_over_what_was_observed():
    rng = np.random.default_rng(0)
    values = rng.normal(5, 3, size=(CHUNK + 10, 7, 2)).astype(np.float32)
    values[rng.random(values.shape) < 0.3] = np.nan
    scale = Scale.of(values)
    np.testing.assert_allclose(scale.mean, np.nanmean(values.astype(float), axis=(0, 1)), rtol=1e-6)
    np.testing.assert_allclose(scale.deviation, np.nanstd(values.astype(float), axis=(0, 1)), rtol=1e-6)
    scaled = scale.apply(values)
    assert scaled is values
    np.testing.assert_allclose(np.nanmean(scaled, axis=(0, 1)), 0, atol=1e-5)


def test_channels_that_never_change_or_were_never_seen():
    values = np.stack([np.full((2, 3), 4.0), np.full((2, 3), np.nan)], axis=2)
    scale = Scale.of(values)
    np.testing.assert_array_equal(scale.apply(values)[..., 0], 0)
    np.testing.assert_array_equal(scale.deviation, [1, 1])


def test_time_stamps():
    assert time_stamps(2, 4, 0.5)[1, :, 0].tolist() == [0, 0.25, 0.5, 0.75]
    assert time_stamps(1, 4, 0.5, "seconds")[0, :, 0].tolist() == [0, 0.5, 1, 1.5]
    assert time_stamps(3, 4, 0.5, "none").shape == (3, 4, 0)
    with pytest.raises(ArgumentError, match="timestamp is 'minutes'"):
        time_stamps(1, 4, 0.5, "minutes")


def test_observation_counts_are_per_channel():
    observed = np.array([[[1, 0], [0, 0], [1, 1], [0, 1]]], bool)
    np.testing.assert_array_equal(observation_counts(observed)[0].T * 4, [[1, 1, 2, 2], [0, 0, 1, 2]])


@pytest.mark.parametrize("seed", [0, 1])
def test_every_class_has_its_share_in_every_part(seed):
    labels = np.repeat(np.arange(5), [10, 40, 33, 100, 7])
    parts = stratified_split(labels, (0.7, 0.15, 0.15), seed)
    assert sorted(np.concatenate(parts).tolist()) == list(range(190))
    for part, share in zip(parts, (0.7, 0.15, 0.15)):
        assert abs(len(part) - share * 190) < 1
        counts = np.bincount(labels[part], minlength=5)
        assert np.all(np.abs(counts - share * np.bincount(labels)) < 1.5)


def test_a_split_depends_on_its_key_alone():
    labels = np.arange(60) % 3
    first, again, other = (stratified_split(labels, key=key)[0] for key in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_shares_must_add_up():
    with pytest.raises(ArgumentError, match="add up to 1"):
        stratified_split(np.zeros(10, int), (0.5, 0.2))
