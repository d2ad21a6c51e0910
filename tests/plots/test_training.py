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


def test_further_metrics_have_a_panel_of_their_own_only_where_there_are_some():
    losses = {"training": np.array([1.0, 0.5]), "validation": np.array([1.0, 0.6])}
    (alone,) = plots.loss_curves(losses).axes
    assert [line.get_label() for line in alone.lines] == ["training", "validation"]
    figure = plots.loss_curves(losses, metrics={"accuracy": np.array([0.2, 0.9])})
    above, below = figure.axes
    assert (above.get_yscale(), below.get_yscale()) == ("log", "linear")
    assert [line.get_label() for line in below.lines] == ["accuracy"]
    assert below.get_ylabel() == "Accuracy"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["training", "validation", "accuracy"]
    assert len({line.get_color() for axis in figure.axes for line in axis.lines}) == 3
