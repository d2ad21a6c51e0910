"""Figures of scores, and names in figures."""

import numpy as np
import pytest
from matplotlib.text import Text

from gnode import errors, plots
from gnode.expressivity import Curve
from gnode.plots import expressivity as pictures


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


NAMES = ["$5 to $10", "a_b^c", r"\frac"]
"""Names that mathtext would typeset, or fail on."""


def names_in(figure):
    """The texts of a figure that are drawn without mathtext."""
    figure.draw_without_rendering()
    return {text.get_text() for text in figure.findobj(Text) if not text.get_parse_math()}


def test_names_are_drawn_as_text():
    counts = {name: [3, 2] for name in NAMES}
    losses = {name: np.ones(3) for name in NAMES}
    rows = [{"model": name, "best_loss": 0.1} for name in NAMES]
    values = np.ones((3, 4, 1))
    for figure in (
        plots.confusion_matrix(np.eye(3, dtype=int), NAMES),
        plots.class_counts(counts, ["training", "test"]),
        plots.example_series(values, values, titles=NAMES),
        plots.loss_curves(losses),
        plots.horizon_errors(losses, np.ones(3)),
        plots.strip(rows),
    ):
        assert set(NAMES) <= names_in(figure)


def test_labels_of_curves_format_names_and_numbers():
    curve = Curve(np.array([1.0, 2.0]), np.ones(2), np.zeros(2))
    figure = pictures.error_curves({0.5: curve}, "state", r"$\tau$ = {:g} s")
    assert figure.legends[0].get_texts()[0].get_text() == r"$\tau$ = 0.5 s"
    assert pictures.error_curves({"gnode": curve}, "state").legends[0].get_texts()[0].get_text() == "gnODE"


def test_an_odd_number_of_panels_of_seeds_leaves_a_place_empty():
    figure = plots.seeds({title: {"here": [0.1, 0.2]} for title in ("one", "two", "three")})
    assert [axis.get_title("left") for axis in figure.axes] == [
        rf"$\mathbf{{{letter}}}$  {title}" for letter, title in zip("ABC", ("one", "two", "three"))
    ]


@pytest.mark.parametrize("shared", [True, False])
def test_panels_of_seeds_share_a_scale_where_they_show_the_same_quantity(shared):
    low, high = plots.seeds({"one": {"here": [0.01, 0.02]}, "two": {"here": [1.0, 2.0]}}, shared=shared).axes
    assert (low.get_xlim() == high.get_xlim()) == shared
