"""Cepstral coefficients, against sums written out and a pure tone."""

import numpy as np
import pytest

from gnode.errors import ArgumentError
from gnode.tasks._mfcc import mel_bands, mfcc


def by_the_definition(clip):
    """The formulas of the module's first lines with plain sums, in double precision."""
    window, hop, bands, keep = 200, 100, 64, 20
    around = np.concatenate([clip[100:0:-1], clip, clip[-2:-102:-1]]).astype(float)
    n = np.arange(window)
    hann = np.sin(np.pi * n / window) ** 2
    fourier = np.exp(-2j * np.pi * np.outer(np.arange(101), n) / window)
    hertz = np.arange(101) * 80.0
    mels = np.linspace(0, 2595 * np.log10(1 + 8000 / 700), bands + 2)
    edges = 700 * (10 ** (mels / 2595) - 1)
    triangles = np.array([np.interp(hertz, edges[m : m + 3], [0, 1, 0], left=0, right=0) for m in range(bands)])
    cosine = np.array(
        [
            np.sqrt((1 if j == 0 else 2) / bands) * np.cos(np.pi * j * (2 * np.arange(bands) + 1) / (2 * bands))
            for j in range(keep)
        ]
    )
    frames = [around[start : start + window] for start in range(0, len(clip) + 1, hop)]
    power = [np.abs(fourier @ (hann * frame)) ** 2 for frame in frames]
    return np.array([cosine @ np.log(triangles @ p + 1e-6) for p in power])


def test_against_the_definition():
    rng = np.random.default_rng(0)
    clip = (0.2 * np.sin(np.arange(3000) * 0.3) + 0.02 * rng.normal(size=3000)).astype(np.float32)
    found = mfcc(clip[None])[0]
    assert found.shape == (31, 20)
    np.testing.assert_allclose(found, by_the_definition(clip), atol=2e-3)


def test_a_tone_lies_in_the_band_of_its_frequency():
    bands = mel_bands(16_000, 200, 64)
    for row in (10, 40, 80):
        peak = np.argmax(bands[row])
        mels = np.linspace(0, 2595 * np.log10(1 + 8000 / 700), 66)
        middle = 700 * (10 ** (mels[peak + 1] / 2595) - 1)
        assert abs(middle - 80 * row) < 0.08 * 80 * row


def test_silence_is_the_floor_alone():
    found = mfcc(np.zeros((1, 16_000), np.float32))
    assert found.shape == (1, 161, 20)
    np.testing.assert_allclose(found[..., 0], 8 * np.log(1e-6), rtol=1e-5)
    np.testing.assert_allclose(found[..., 1:], 0, atol=1e-4)


def test_clips_do_not_touch_each_other():
    clips = np.random.default_rng(1).normal(size=(3, 1000)).astype(np.float32)
    np.testing.assert_allclose(mfcc(clips)[1], mfcc(clips[1:2])[0], rtol=1e-5, atol=1e-4)


def test_a_clip_that_is_too_short():
    with pytest.raises(ArgumentError, match="more than 100 samples"):
        mfcc(np.zeros((1, 100), np.float32))
