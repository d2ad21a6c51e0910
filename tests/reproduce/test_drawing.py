"""Figures that stored numbers alone determine: drawn again, with what was not made of them kept."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from gnode.errors import ArgumentError
from gnode.expressivity import Curve
from gnode.plots.expressivity import ErrorPanel, error_curves, error_panels
from gnode.reproduce import noise_figures
from gnode.reproduce.drawing import draw_folder

RESULTS = Path(__file__).parents[2] / "docs/results/reproduce"


def test_a_result_is_drawn_again_and_keeps_what_needs_its_networks(tmp_path):
    content = json.loads((RESULTS / "fig3.json").read_text())
    old = content | {"figures": ["fig3-a.png", "fig3-b.png", "fig3-c.png"]}
    (tmp_path / "fig3.json").write_text(json.dumps(old))
    shutil.copy(RESULTS / "capacity.json", tmp_path)  # whose figure is not drawn of what it stores
    for name in ("fig3-a.png", "fig3-c.png", "fig3-c.pdf", "other.png"):
        (tmp_path / name).write_bytes(b"old")
    drawn = draw_folder(tmp_path)
    assert [path.name for path in drawn] == ["fig3-b.png", "fig3-b.pdf"]
    assert json.loads((tmp_path / "fig3.json").read_text()) == old | {"figures": ["fig3-a.png", "fig3-b.png"]}
    assert (tmp_path / "fig3-a.png").read_bytes() == (tmp_path / "other.png").read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} == {
        *("capacity.json", "fig3.json", "fig3-a.png", "fig3-b.png", "fig3-b.pdf", "other.png"),
    }
    assert draw_folder(tmp_path, ("capacity",)) == []


def points(errors):
    base = {"hidden": 0, "layers": 0, "tau": 1.0}
    return [
        base | {"model": model, "state": state, "mean": float(np.mean(own)), "std": float(np.std(own)), "errors": own}
        for (model, state), own in errors.items()
    ]


def test_curves_are_those_of_the_stored_points():
    stored = points({("gru", 32): [0.1, 0.3], ("gru", 10): [0.5, 0.7], ("rnn", 10): [0.9, 0.9]})
    curve = noise_figures.curve(stored, "state", model="gru", hidden=100)  # a GRU has no hidden layers: any will do
    assert curve.x.tolist() == [10, 32]
    assert curve.mean.tolist() == pytest.approx([0.6, 0.2])
    assert curve.seeds == ((0.5, 0.7), (0.1, 0.3))
    assert list(noise_figures.by_model(stored, "state")) == ["gru", "rnn"]
    for point in stored:
        del point["errors"]
    assert noise_figures.curve(stored, "state", model="gru").seeds == ()


def test_bars_of_means_go_upwards_only():
    curve = Curve(np.array([1.0, 2.0]), np.array([1.0, 1.0]), np.array([0.25, 2.0]))
    (axis,) = error_curves({"gru": curve}, "state").axes
    bars = axis.collections[0].get_segments()
    assert [bar[:, 1].tolist() for bar in bars] == [[1.0, 1.25], [1.0, 3.0]]


def test_seeds_are_points_and_the_line_goes_through_their_medians():
    seeds = ((1.0, 2.0, 100.0), (3.0, 4.0, np.inf))
    curve = Curve(np.array([1.0, 2.0]), np.array([34.0, np.inf]), np.array([40.0, np.nan]), seeds)
    (axis,) = error_curves({"gru": curve}, "state").axes
    line, *shown = axis.lines
    assert list(line.get_ydata()) == [2.0, 4.0]
    assert [list(dots.get_ydata()) for dots in shown] == [[1.0, 2.0, 100.0], [3.0, 4.0]]
    with pytest.raises(ArgumentError, match="seeds has 1 points, but x has 2"):
        Curve(np.ones(2), np.ones(2), np.ones(2), ((1.0,),))


def test_a_deep_panel_does_not_squeeze_the_others():
    flat, deep = (Curve(np.array([1.0, 2.0]), np.array([1.0, low]), np.zeros(2)) for low in (0.2, 1e-5))
    panels = [ErrorPanel(name, {"gru": own}, "state") for name, own in (("a", flat), ("b", deep), ("c", flat))]
    first, second, third = error_panels(panels).axes
    assert first.get_ylim() == third.get_ylim()
    assert first.get_ylim()[0] > 0.1 > second.get_ylim()[0]


def test_panels_have_letters_and_one_scale():
    low, high = (Curve(np.array([1.0, 2.0]), np.array([m, m]), np.zeros(2)) for m in (0.01, 1.0))
    figure = error_panels([ErrorPanel("one", {"gru": low}, "state"), ErrorPanel("two", {"rnn": high}, "state")], "BC")
    assert [axis.get_title("left") for axis in figure.axes] == [r"$\mathbf{B}$  one", r"$\mathbf{C}$  two"]
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    assert all(axis.get_legend() is not None for axis in figure.axes)  # their lines differ
    same = error_panels([ErrorPanel(name, {"gru": low}, "state") for name in ("one", "two", "three", "four")])
    assert not any(axis.get_legend() for axis in same.axes)
    assert len(same.legends) == 1
    assert same.axes[0].get_subplotspec().get_gridspec().get_geometry() == (2, 2)
