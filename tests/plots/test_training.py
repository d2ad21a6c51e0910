"""Figures of a trial."""

import numpy as np
import pytest

from gnode import plots


def limits(sizes):
    """The vertical range of each channel's axis, for channels of these sizes."""
    wave = np.sin(np.linspace(0, 6, 30))[:, None] * np.array(sizes)
    figure = plots.example_trial(np.zeros_like(wave), 0.9 * wave, wave)
    return [axis.get_ylim() for axis in figure.axes]


def test_channels_of_about_the_same_size_share_a_scale():
    small, large = limits([0.3, 1.0])
    assert small == large
    assert large[1] > 1


@pytest.mark.parametrize("sizes", [(0.01, 1.0), (0.0, 1.0)])
def test_channels_of_other_sizes_have_their_own(sizes):
    small, large = limits(sizes)
    assert np.ptp(small) < 0.2 * np.ptp(large)
