"""`gnode.write_report` for networks and tasks of every kind, from Python."""

import dataclasses
import html
import json
import re
import types

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import gnode
from gnode import cells, errors, tasks
from gnode.analysis import attractor, memory_lifetime, study
from gnode.explorer import verdict as _verdict
from gnode.network import AbstractNetwork, InitialState, Readout, Trajectory
from gnode.report import Section, _write, sections, summary_row
from gnode.train import Evaluation

IN_ORDER = ("Training", "Search for fixed points", "Stability", "Trajectories")
FOLDED = ("Settings", "Table: points by number of starts", "Table: stability")
SIZES = {"trials": 10, "validation": 5, "bins": 12}


class Spiral(cells.Cell):
    """A user's own cell: a damped rotation in every pair of units, driven by the input."""

    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)
    rate: jnp.ndarray
    drive: jnp.ndarray

    def vector_field(self, h, x):
        turned = jnp.concatenate([-h[1::2], h[::2]])
        return -jnp.exp(self.rate) * h + turned + self.drive @ x


class Unit(cells.Cell):
    """dh/dt = -leak h + drive x in one dimension; without a leak it adds up its input."""

    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)
    drive: jnp.ndarray
    leak: float = eqx.field(static=True)

    def vector_field(self, h, x):
        return -self.leak * h + self.drive * x


def fit(cell, task, **options):
    return gnode.fit(gnode.Network(cell, task.outputs, key=1), task, epochs=1, batch_size=5, **options)


@pytest.fixture
def only_png(monkeypatch):
    """Writes figures in one format only, to save time; `test_flip_flop_run_without_a_folder` checks all formats."""
    monkeypatch.setattr(_write, "FORMATS", ("png",))


def report_of(run, folder, **options):
    """Writes a report, checks what every report must have, and returns its text, its numbers and the findings."""
    findings = gnode.write_report(run, folder, starts=20, **options)
    figures = figures_of(findings, run.net.cell.state_size, run.task.loss == "cross_entropy")
    pictures = {f"{name}.{ending}" for name in figures for ending in _write.FORMATS}
    assert {path.name for path in folder.iterdir()} == {"report.html", "analysis.json"} | pictures
    text = (folder / "report.html").read_text()
    assert text.count("data:image/png;base64,") == len(figures - set(_write.MOVING))
    numbers = json.loads((folder / "analysis.json").read_text())
    assert numbers["best_loss"] == pytest.approx(run.best_loss)
    assert numbers["fixed_points"]["starts"] == numbers["paper_points"]["starts"] == 20
    assert sum(numbers["fixed_points"]["ends_of_starts"].values()) == 20
    assert numbers["fixed_points"]["points"] == len(findings.fixed_points)
    assert 0 < sum(numbers["variance_explained"]) <= 1 + 1e-9
    shown = document_in(text)
    assert shown["verdict"] == numbers["verdict"]
    assert shown["title"] == f"Inside {numbers['run']}"
    (network,) = shown["networks"]
    assert network["state_size"] == run.net.cell.state_size
    exact = findings.fixed_points.select(status="equilibrium")
    assert sorted(point["h"] for point in network["points"]) == sorted(exact.points.tolist())
    in_order = (f"<h2>{one}</h2>" for one in IN_ORDER), (f"<summary>{one}</summary>" for one in FOLDED)
    places = [text.index(part) for part in ('id="gnode-explorer"', "<main", *in_order[0], *in_order[1])]
    assert places == sorted(places)
    assert places[-1] < text.index("</main>") < text.index('id="gnode-document"')
    for heading in ("Search for fixed points", "Stability", "Continuous attractor", "Memory", "Trajectories"):
        assert f"<h2>{heading}</h2>" in text
    return text, numbers, findings


def document_in(text):
    """What the explorer of a report knows."""
    return json.loads(re.search('id="gnode-document">(.*?)</script>', text).group(1))


def figures_of(findings, state, is_classification):
    """The figures that a report must have: those without results are left out."""
    there = {
        "losses": True,
        "trial": not is_classification,
        "classes": is_classification,
        "confusion": is_classification,
        "variance": state > 2,
        "flow": state > 1,
        "components": state > 2,
        "eigenvalues": len(findings.fixed_points) > 0,
        "attractor": findings.attractor is not None,
    }
    return {name for name, is_there in there.items() if is_there}


def classification():
    generator = np.random.default_rng(0)
    labels = np.tile([0, 1, 2], 10)
    inputs = generator.normal(size=(30, 8, 2)) + labels[:, None, None]
    return tasks.arrays(inputs, labels, 0.1, classes=("a<b", "$x$", "c_d"))


def sums():
    inputs = np.random.default_rng(0).normal(size=(40, 20, 1))
    return tasks.arrays(inputs, np.cumsum(inputs, axis=1), 0.1)


def test_flip_flop_run_without_a_folder(tmp_path):
    run = fit(cells.gnode(2, 3, widths=(4,), tau=0.01, key=0), tasks.flip_flop("square", **SIZES))
    assert run.folder is None
    parts = []
    text, numbers, findings = report_of(run, tmp_path / "report", progress=parts.append)
    assert "Inside flipflop-square" in text
    assert "A Gated cell with a state of 3 dimensions, trained on flipflop-square" in text
    assert numbers["run"] == "flipflop-square"
    assert numbers["dt_s"] == run.dt
    assert [(error["low"], error["count"]) for error in numbers["errors_by_amplitude"]] == [
        *((0, 200), (0.5, 200), (1, 200), (2, 200))
    ]
    assert len(numbers["lyapunov_exponents_per_s"]) == 3
    assert parts[0].startswith("fixed points")
    assert parts[-1] == "figures"
    assert summary_row("mine", findings)[0] == "mine"


def test_classification_of_arrays(tmp_path, only_png):
    run = fit(cells.gru(2, 4, key=0), classification())
    text, numbers, findings = report_of(run, tmp_path, name="a <network>")
    assert "Inside a &lt;network&gt;" in text
    assert "trained on arrays" in text
    assert numbers["run"] == "a <network>"
    assert numbers["errors_by_amplitude"] == []
    assert findings.fixed_points.outputs.shape[1] == 3  # one output per class
    confusion = run.evaluation().confusion
    assert numbers["classes"]["confusion"] == confusion.tolist()
    assert numbers["classes"]["names"] == ["a<b", "$x$", "c_d"]
    assert numbers["scores"] == {"part": "validation", **run.evaluate()}
    assert numbers["verdict"].startswith(
        f"{run.evaluate()['accuracy']:.1%} of {len(run.task.validation)} validation trials"
    )
    assert "<h2>Classes</h2>" in text
    assert "<summary>Table: accuracy by class</summary>" in text
    assert "a&lt;b" in text
    assert document_in(text)["networks"][0]["classes"] == ["a<b", "$x$", "c_d"]


def test_a_cell_of_ones_own(tmp_path, only_png):
    cell = Spiral(2, 4, rate=jnp.zeros(4), drive=0.1 * jnp.ones((4, 2)))
    run = fit(cell, tasks.flip_flop("square", **SIZES))
    text, numbers, findings = report_of(run, tmp_path)
    assert "A Spiral cell with a state of 4 dimensions" in text
    assert numbers["fixed_points"]["points_by_status"]["equilibrium"] == 1  # it is linear
    np.testing.assert_allclose(findings.fixed_points.points, 0, atol=1e-9)


class Sorted(cells.Cell):
    """A cell whose flow the explorer's page cannot compute: it knows no sorting."""

    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)
    drive: jnp.ndarray

    def vector_field(self, h, x):
        return jnp.sort(-h) + self.drive @ x


def test_a_cell_that_the_explorer_does_not_know_has_a_picture_in_its_place(tmp_path, only_png):
    run = fit(Sorted(2, 2, drive=jnp.ones((2, 2))), tasks.flip_flop("square", **SIZES))
    gnode.write_report(run, tmp_path, starts=5)
    text = (tmp_path / "report.html").read_text()
    assert "The vector field of Sorted cannot be shown in the explorer: it uses the operation &#x27;sort&#x27;" in text
    said = json.loads((tmp_path / "analysis.json").read_text())["verdict"]
    assert said == html.unescape(re.search('<p class="verdict">(.*?)</p>', text).group(1))
    assert "<script" not in text
    assert text.count("data:image/png;base64,") == len(list(tmp_path.glob("*.png")))


def test_at_a_constant_input():
    """The spiral is linear, so its fixed point is where decay, rotation and drive add up to nothing."""
    net = gnode.Network(Spiral(2, 4, rate=0.5 * jnp.ones(4), drive=0.1 * jnp.ones((4, 2))), 2, key=1)
    found = study(net, np.random.default_rng(0).normal(size=(5, 12, 4)), dt=0.01, x=[0.5, 0.0], starts=20)
    turn = np.zeros((4, 4))
    turn[[0, 1, 2, 3], [1, 3, 0, 2]] = [-1, -1, 1, 1]
    expected = np.linalg.solve(np.exp(0.5) * np.eye(4) - turn, 0.05 * np.ones(4))
    np.testing.assert_allclose(found.fixed_points.points, expected[None], atol=1e-6)
    assert found.summary()["input"] == [0.5, 0.0]
    words = " ".join(text for section in sections(found, {}) for text in section.paragraphs)
    assert "At the constant input (0.5, 0), 20 of 20 visited states settle" in words
    with pytest.raises(errors.ArgumentError, match=r"x has shape \(3,\), but must have shape \(2,\)"):
        study(net, np.zeros((1, 4)), dt=0.01, x=[1, 2, 3])


class Backward(AbstractNetwork):
    """A network that reads its trials from the end: its state at a bin is no function of the bins before."""

    cell: cells.Cell
    readout: Readout
    initial: InitialState

    def batch(self, xs, dt, h0=None, gradient_only=False, noise=None):
        sums = jnp.cumsum(xs[:, ::-1], axis=1)[:, ::-1]
        states = jnp.concatenate([sums, jnp.tanh(sums[..., :1])], axis=-1)
        return Trajectory(self.read(states), states)


def test_a_network_without_a_flow(tmp_path, only_png):
    task, whole = classification(), gnode.Network(cells.rnn(2, 3, key=0), 3, key=0)
    net, curves = Backward(whole.cell, whole.readout, whole.initial), {"train": np.zeros(0)}
    run = gnode.train.Run(net, gnode.Settings(), curves, 1.0, 1, "finished", None, 0.0, 1, _task=task)
    assert gnode.write_report(run, tmp_path) is None
    text = (tmp_path / "report.html").read_text()
    assert "a Backward, is not a cell that runs at a constant input, so it has no flow" in text
    assert "<h2>Classes</h2>" in text
    assert "<h2>Search for fixed points</h2>" not in text
    assert {path.name for path in tmp_path.iterdir()} == {
        "report.html",
        "analysis.json",
        "classes.png",
        "confusion.png",
    }
    assert json.loads((tmp_path / "analysis.json").read_text())["classes"]["accuracy"] == run.evaluate()["accuracy"]
    assert summary_row("mine", None) == ("mine", "no flow", "", "", "", "")
    with pytest.raises(errors.ArgumentError, match="x is given, but a Backward has no flow"):
        gnode.write_report(run, tmp_path, x=[0, 0])


def test_verdicts():
    """What the sentence says of a memory, of a fit, and of classes."""
    points = np.stack(np.meshgrid(np.linspace(-1, 1, 15), np.linspace(-1, 1, 15)), axis=-1).reshape(-1, 2)
    task = tasks.arrays(np.zeros((4, 10, 2)), np.random.default_rng(0).uniform(-1, 1, (4, 10, 2)), 0.1)
    task.validation.targets[0, :2] = [[-1, -1], [1, 1]]
    judged = _verdict.Judged(Evaluation(0.03, np.zeros(1)), task.validation, "validation")
    still = attractor(lambda h, x: 0 * h, 0.98 * points, dt=0.1)
    slow = dataclasses.replace(still, memory=memory_lifetime(lambda h, x: -0.05 * jnp.ones(2) + 0 * h, points, dt=0.1))
    found = types.SimpleNamespace(attractor=slow, x=np.zeros(2))
    run = types.SimpleNamespace(task=task)
    said = _verdict.verdict(run, judged, found)
    assert said.startswith(
        "Holds 2 numbers in a square of 0.98 x the task's size; half of its memories are lost after 1.5"
    )
    assert "; explains 9" in said
    found.attractor = still
    assert "more than half of its memories outlast 100 s; explains" in _verdict.verdict(run, judged, found)
    found.attractor = dataclasses.replace(still, shape=dataclasses.replace(still.shape, high=still.shape.low + 0.01))
    assert "span only 0.005 x the range of the task, so it remembers little" in _verdict.verdict(run, judged, found)
    assert _verdict.verdict(run, judged, None).endswith("of the variance of the targets (validation error 0.03).")

    letters = classification()
    confusion = np.array([[9, 1, 0], [2, 8, 0], [0, 0, 10]])
    judged = _verdict.Judged(Evaluation(0.1, np.zeros(1), 0.9, confusion), letters.validation, "test")
    assert _verdict.verdict(types.SimpleNamespace(task=letters), judged, None) == (
        "90.0% of 30 test trials right (always answering the most frequent class: 33.3%); classes a<b and $x$ are confused "
        "most (3 times)."
    )


@pytest.mark.parametrize("leak", [1.0, 0.0])
def test_a_state_of_one_dimension(tmp_path, only_png, leak):
    """A decaying unit has one stable point, an integrator rests everywhere; neither has a plane for a flow field."""
    run = fit(Unit(1, 1, drive=jnp.ones(1), leak=leak), sums())
    text, numbers, findings = report_of(run, tmp_path)
    assert "with a state of 1 dimension," in text
    assert numbers["share_of_flow_leaving_the_plane"] is None
    assert numbers["components_for_90_percent"] == 1
    assert len(numbers["lyapunov_exponents_per_s"]) == 1
    if leak:
        assert numbers["fixed_points"]["stability"]["map_classes"] == {"stable": 1}
        assert findings.fixed_points.points == pytest.approx(0, abs=1e-9)
    else:
        assert numbers["states_that_settle"] == numbers["states_visited"] == 20  # nothing moves
        assert numbers["slow_set"]["points"] == len(findings.attractor.points) > 10
        assert numbers["slow_set"]["spectral_dimension"] == 1
        assert numbers["slow_set"]["memory"]["median_lifetime_s"] == "infinite"


def test_a_run_without_a_folder_needs_one_to_write_to():
    run = gnode.train.Run(None, None, {}, 0.0, 0, "finished", None, 0.0, 0)
    with pytest.raises(errors.ArgumentError, match="out is missing: the run has no folder"):
        gnode.write_report(run)


def test_a_section_has_a_short_repr():
    assert repr(Section("Memory", ["x" * 1000], rows=[("a", 1)])) == "Section('Memory', 1 paragraph, 1 row, 0 figures)"
