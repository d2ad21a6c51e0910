"""Figures that stored numbers alone determine: drawn again, with what was not made of them kept."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex

from gnode.cells import CELLS
from gnode.errors import ArgumentError
from gnode.expressivity import Curve
from gnode.plots.expressivity import ErrorPanel, error_curves, error_panels
from gnode.plots.seed_rows import Row, RowPanel, seed_rows
from gnode.reproduce import archive, noise_figures, relatives, relatives_figure
from gnode.reproduce.drawing import draw_folder
from gnode.reproduce.registry import NAMES, find_artefact

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


COLOURS = {cell.label: cell.colour for cell in CELLS.values()}
"""The colours of networks by the names that figures have."""


@pytest.fixture(scope="module")
def drawn():
    """The figures of all committed results that can be drawn of what they store, by name of the picture."""
    return {
        f"{path.stem}-{panel}": figure
        for path, content in archive.result_files(RESULTS)
        if (artefact := find_artefact(content["name"])).draw is not None
        for panel, figure in artefact.draw(content["details"]).items()
    }


def test_committed_results_can_be_drawn_again_and_have_vector_files(drawn):
    for path, content in archive.result_files(RESULTS):
        artefact = find_artefact(content["name"])
        if artefact.draw is None:
            continue
        others = {f"{path.stem}-{panel}" for panel in artefact.needs_networks}
        pictures = {Path(name).stem for name in content["figures"]}
        assert {name for name in drawn if name.rpartition("-")[0] == path.stem} == pictures - others
    for name in drawn:
        assert RESULTS.joinpath(f"{name}.pdf").exists()
        assert RESULTS.joinpath(f"{name}.png").stat().st_size < 200_000


def test_every_figure_has_a_caption(drawn):
    for path, content in archive.result_files(RESULTS):
        for name in content["figures"]:
            panel = Path(name).stem.removeprefix(f"{path.stem}-")
            assert find_artefact(content["name"]).captions[panel].endswith("."), name
    for name in NAMES:
        artefact = find_artefact(name)
        assert artefact.draw is None or artefact.captions, name


def test_networks_have_their_colours_in_legends_and_rows(drawn):
    checked = set()
    for name, figure in drawn.items():
        for legend in [*figure.legends, *(axis.get_legend() for axis in figure.axes if axis.get_legend())]:
            for handle, text in zip(legend.legend_handles, legend.get_texts()):
                colour = _colour(handle)
                expected = COLOURS.get(text.get_text())
                assert (colour == expected) if expected else (colour not in COLOURS.values()), (name, text)
                checked |= {name} if expected else set()
        for axis, label, colours in _rows(figure):
            network = label.split(",")[0]
            if network in COLOURS:
                assert colours <= {COLOURS[network]}, (name, axis.get_title("left"), label)
                checked.add(name)
    assert {"fig3-b", "ou-networks-a", "true-attractors-a", "gnode-protocol-a", "relatives-a"} <= checked


def _colour(handle):
    line = handle[0] if hasattr(handle, "lines") else handle  # an error bar is a line with others
    return to_hex(line.get_color()).upper()


def _rows(figure):
    """Each row of each panel with the colours of its seeds."""
    labels = []
    for axis in figure.axes:
        shown = [label.get_text() for label in axis.get_yticklabels()]
        labels = shown if any(shown) else labels  # a panel without names has those of its neighbour
        points = [one for one in axis.collections if isinstance(one, PathCollection) and one.get_offsets().size]
        for place, label in enumerate(labels):
            near = [one for one in points if abs(np.mean(one.get_offsets()[:, 1]) - place) < 0.5]
            yield axis, label, {to_hex(one.get_edgecolors()[0]).upper() for one in near}


def test_nothing_on_a_log_axis_is_at_or_below_zero(drawn):
    for name, figure in drawn.items():
        for axis in figure.axes:
            for scale, side in ((axis.get_xscale(), 0), (axis.get_yscale(), 1)):
                if scale == "log":
                    for places in _drawn_places(axis):
                        assert np.all(places[:, side] > 0), (name, axis.get_title("left"))


def _drawn_places(axis):
    """What an axis draws in its own coordinates: lines, points, and the bars of deviations."""
    own = [line.get_xydata() for line in axis.lines if line.get_transform() == axis.transData]
    for one in axis.collections:
        offsets = np.asarray(one.get_offsets())
        segments = getattr(one, "get_segments", list)()
        if segments:
            own += segments
        elif offsets.size:
            own.append(offsets)
    return [np.asarray(places, float) for places in own if len(places)]


def test_panels_of_one_quantity_have_one_scale(drawn):
    for name in ("fresh-trials-a", "true-attractors-a", "true-attractors-b"):
        limits = {}
        for axis in drawn[name].axes:
            limits.setdefault(axis.get_xlabel(), set()).add(axis.get_xlim())
        assert all(len(own) == 1 for own in limits.values()), name


def test_the_networks_of_true_attractors_are_in_the_order_of_all_figures(drawn):
    names = [label.get_text() for label in drawn["true-attractors-a"].axes[0].get_yticklabels()]
    assert names == ["RNN", "mGRU", "GRU", "nODE", "gnODE"]


def test_relatives_shows_all_networks_with_gated_ones_below_ungated_ones():
    rng = np.random.default_rng(0)
    data = ("walker2d-spline", "walker2d-raw", "letters-50", "noise")
    found = {name: {kind: {"scores": list(rng.uniform(0.5, 1, 3))} for kind in relatives.KINDS} for name in data}
    found["noise"]["ltc"]["scores"] = [None, float("inf"), 0.7]
    figure = relatives_figure.draw(found, {("walker2d-raw", "ode-lstm"): 0.883})["a"]
    axes = figure.axes
    names = [label.get_text() for label in axes[0].get_yticklabels()]
    assert sorted(names) == sorted(map(relatives.label_of, relatives.KINDS))
    for pair in relatives.PAIRS.values():
        plain, gated = (names.index(relatives.label_of(kind)) for kind in pair)
        assert gated == plain + 1
    colours = {relatives.label_of(name): CELLS[kind.model].colour for name, kind in relatives.KINDS.items()}
    seen = [(label, own) for _, label, own in _rows(figure)]
    assert len(seen) == 4 * 27
    assert all(own == {colours[label]} for label, own in seen)
    assert [axis.get_xscale() for axis in axes] == ["log", "log", "linear", "log"]
    assert axes[0].get_xlim() == axes[1].get_xlim()
    assert [text.get_text() for text in axes[3].texts] == ["2 of 3 not finite"]


def test_rows_show_published_values_targets_and_what_is_none():
    rows = [
        Row("first", [0.0, 1.0, 2.0], crossed=[False, False, True], published=(1.0, 2.0), target=0.5),
        Row("second", [4.0], hollow=True),
    ]
    figure = seed_rows([RowPanel("one", rows, "time (s)", none=0.01, bounds={"longest": 10.0})])
    (axis,) = figure.axes
    points, crosses = axis.collections[:2]
    assert points.get_offsets()[:, 0].tolist() == [0.01, 1.0]
    assert crosses.get_offsets()[:, 0].tolist() == [2.0]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["none", "0.1", "1", "10"]
    ends = [one.get_segments()[0][:, 0].tolist() for one in axis.collections if hasattr(one, "get_segments")]
    assert [1.0, 3.0] in ends  # a deviation as large as the mean has no place below it
    assert [0.5, 0.5] in ends
    assert axis.get_title("left") == "one"  # a single panel needs no letter
    said = [text.get_text() for text in figure.legends[0].get_texts()]
    assert said == ["a seed", "a seed", "a seed that diverged", "median", "published, mean ± SD", "target", "longest"]
    with pytest.raises(ArgumentError, match="panels is empty"):
        seed_rows([])
