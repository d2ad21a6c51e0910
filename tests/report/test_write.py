"""`gnode.write_report` for networks and tasks of every kind, from Python."""

import json

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import gnode
from gnode import cells, errors, tasks
from gnode.report import Section, summary_row

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


def fit(cell, task, **options):
    return gnode.fit(gnode.Network(cell, task.outputs, key=1), task, epochs=1, batch_size=5, **options)


def report_of(run, folder, figures, **options):
    """Writes a report, checks that all its files are there, and returns its text, its numbers and the findings."""
    findings = gnode.write_report(run, folder, starts=20, **options)
    expected = {"report.html", "analysis.json"} | {f"{name}.{ending}" for name in figures for ending in ("png", "pdf")}
    assert {path.name for path in folder.iterdir()} == expected
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
