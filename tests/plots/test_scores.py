"""Pictures of scores. Smoke tests but for what the axes say."""

import numpy as np
import pytest

from gnode import errors, plots


def test_confusion_matrix_says_how_many_are_right():
    figure = plots.confusion_matrix(np.array([[9, 1], [0, 10]]), ["yes", "no"])
    axis = figure.axes[0]
    assert axis.get_title() == "95.0% of 20 right"
    assert [label.get_text() for label in axis.get_yticklabels()] == ["yes", "no"]


def test_confusion_matrix_must_be_square():
    with pytest.raises(errors.ArgumentError, match=r"must be \(classes, classes\)"):
        plots.confusion_matrix(np.zeros((2, 3)))


def test_horizon_errors_draws_every_network_and_the_last_value():
    figure = plots.horizon_errors({"gnode": np.ones(5), "gru": 2 * np.ones(5)}, 3 * np.ones(5))
    assert len(figure.axes[0].lines) == 3
