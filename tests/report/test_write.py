"""`gnode.write_report` for networks and tasks of every kind, from Python."""

import json

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import gnode
from gnode import cells, errors, tasks
from gnode.report import Section, _write, summary_row

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
    figures = figures_of(findings, run.net.cell.state_size)
    pictures = {f"{name}.{ending}" for name in figures for ending in _write.FORMATS}
    assert {path.name for path in folder.iterdir()} == {"report.html", "analysis.json"} | pictures
    text = (folder / "report.html").read_text()
    assert text.count("data:image/png;base64,") == len(figures)
    numbers = json.loads((folder / "analysis.json").read_text())
    assert numbers["best_loss"] == pytest.approx(run.best_loss)
    assert numbers["fixed_points"]["starts"] == numbers["paper_points"]["starts"] == 20
    assert sum(numbers["fixed_points"]["ends_of_starts"].values()) == 20
    assert numbers["fixed_points"]["points"] == len(findings.fixed_points)
    assert 0 < sum(numbers["variance_explained"]) <= 1 + 1e-9
    for heading in ("Fixed points", "Stability", "Continuous attractor", "Memory", "Trajectories"):
        assert f"<h2>{heading}</h2>" in text
    return text, numbers, findings


def figures_of(findings, state):
    """The figures that a report must have: those without results are left out."""
    there = {
        "variance": True,
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


def test_a_cell_of_ones_own(tmp_path, only_png):
    cell = Spiral(2, 4, rate=jnp.zeros(4), drive=0.1 * jnp.ones((4, 2)))
    run = fit(cell, tasks.flip_flop("square", **SIZES))
    text, numbers, findings = report_of(run, tmp_path)
    assert "A Spiral cell with a state of 4 dimensions" in text
    assert numbers["fixed_points"]["points_by_status"]["equilibrium"] == 1  # it is linear
    np.testing.assert_allclose(findings.fixed_points.points, 0, atol=1e-9)


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
