"""Printing any public object takes at most ten lines, however large the arrays inside."""

import inspect
from pathlib import Path

import numpy as np
import pytest

import gnode
from gnode import analysis, cells, expressivity, network, reproduce, sweeps, tasks, theory, train

LINES, CHARACTERS = 10, 800


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """Public objects of every room, most of them from one small run."""
    folder = tmp_path_factory.mktemp("repr")
    task = tasks.flip_flop("square", trials=30, validation=20, bins=60)
    net = gnode.build("gnode", 2, 2, state=2, widths=(64, 64), tau=0.01, initial="affine", key=0)
    run = gnode.fit(net, task, epochs=1, out=folder / "run")
    sweep = gnode.sweep("flipflop-square", folder / "sweep", trials=4, bins=3, widths=(4,), epochs=1, lr=[1e-3, 1e-2])
    points = analysis.fixed_points(run.net, run.states, dt=run.dt, most_starts=30)
    grid = sweeps.Grid.over("flipflop-square", lr=list(np.logspace(-4, -1, 200)))
    series = tasks.Series(np.zeros((500, 2)), np.full(10, 50), np.tile(np.arange(50.0), 10), targets=np.zeros((500, 1)))
    return [
        *(task, task.train, series, run, run.evaluation(), run.settings, sweep, grid),
        *(sweeps.Part(1, 2), sweeps.sweep_cost(sweeps.Grid.over("flipflop-square", trials=4, bins=3, widths=(4,)))),
        *(net, net.cell, net.readout, net.initial, net.solver, net.cell.F, net.cell.timescale),
        *(cells.gru(2, 5, key=0), cells.lstm(2, 5, key=0), cells.lem(2, 5, key=0), cells.CELLS["lem"]),
        net.run(task.validation.inputs, dt=0.01),
        *(points, points.stability, points.settings, analysis.pca(np.asarray(run.states).reshape(-1, 2))),
        *(analysis.flow_field(run.net, around=run.states), analysis.state_plane(2), analysis.system(run.net, dt=0.01)),
        analysis.lyapunov(run.net, np.zeros(2), dt=0.01, steps=20, transient=5),
        analysis.manifold(np.random.default_rng(0).normal(size=(200, 3))),
        *(theory.RandomStack(3, 1.2, "tanh"), theory.critical_sigma_w(3, "tanh", sigma_b=0.1)),
        theory.critical_curve([2], [0.0, 0.5]),
        theory.draw(theory.RandomStack(2, 1.2, "tanh"), 50, 0),
        gnode.init.initialiser("critical"),
        expressivity.LongestFit(0.1, tuple(range(1, 300)), np.zeros((299, 5))),
        *(reproduce.Request("fig1"), reproduce.find_artefact("fig1"), train.RunSpec.of("flipflop-square", {})),
        tasks.DATASETS["walker2d"],
    ]


def test_every_repr_is_short(objects):
    for value in objects:
        text = repr(value)
        assert text.count("\n") < LINES, f"repr of {type(value).__name__} has {text.count(chr(10)) + 1} lines"
        assert len(text) <= CHARACTERS, f"repr of {type(value).__name__} has {len(text)} characters: {text[:300]}"


def test_what_holds_arrays_has_a_repr_of_its_own():
    """Generated ones (of dataclasses, named tuples and equinox modules) print the arrays."""
    for room in (analysis, cells, network, tasks, theory, train, expressivity):
        for name in room.__all__:
            kind = getattr(room, name)
            fields = getattr(kind, "__annotations__", {}) if inspect.isclass(kind) else {}
            holds = [field for field, of in fields.items() if "ndarray" in str(of) or "Array" in str(of)]
            if holds:
                written_in = inspect.unwrap(kind.__repr__).__code__.co_filename
                assert "gnode" in Path(written_in).parts, f"{room.__name__}.{name} prints {holds} whole"
