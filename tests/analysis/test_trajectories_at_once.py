"""Analyses and forecasts whose trajectories are computed all bins at once find what the loop finds."""

import dataclasses

import numpy as np
import pytest

import gnode
from gnode import Solver, analysis, cells
from gnode.tasks import arrays

AT_ONCE = Solver(time="parallel")
CELL = cells.gnode(1, 3, widths=(8,), tau=0.2, key=0)
STARTS = np.random.default_rng(0).normal(size=(5, 3))


def test_memory_lifetimes():
    loop, at_once = (
        analysis.memory_lifetime(CELL, STARTS, dt=0.02, horizon=1.0, method=method) for method in ("euler", AT_ONCE)
    )
    np.testing.assert_allclose(at_once.error_quartiles, loop.error_quartiles, atol=1e-12)
    np.testing.assert_array_equal(at_once.lifetimes, loop.lifetimes)


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_lyapunov_exponents(method):
    xs = np.random.default_rng(1).normal(size=(300, 1))
    loop, at_once = (
        analysis.lyapunov(CELL, STARTS[0], dt=0.02, steps=200, transient=100, xs=xs, method=Solver(method, time=time))
        for time in ("loop", "parallel")
    )
    np.testing.assert_allclose(at_once.exponents, loop.exponents, atol=1e-9)


def test_a_chaotic_network_is_followed_by_the_loop():
    """The rounds do not converge there, so the exponent is that of the loop."""
    cell = cells.rate_rnn(1, 60, init="critical", tau=0.1, key=0)
    cell = dataclasses.replace(cell, F=dataclasses.replace(cell.F, W=tuple(4 * W for W in cell.F.W)))
    start = np.random.default_rng(2).normal(size=60)
    how = {"dt": 0.1, "steps": 300, "transient": 50, "exponents": 1}
    loop, at_once = (analysis.lyapunov(cell, start, method=method, **how) for method in ("euler", AT_ONCE))
    assert loop.exponents[0] > 1.0
    np.testing.assert_allclose(
        at_once.exponents, loop.exponents, rtol=0.2
    )  # rounding errors grow by e in less than a second


def test_forecasts():
    time = np.arange(40) * 0.1
    series = np.stack([np.sin(time + phase) for phase in range(4)])[..., None].astype(np.float32)
    task = arrays(series[:, :-1], series[:, 1:], 0.1)
    net = gnode.build("gru", 1, 1, state=3, tau=0.2, key=0)
    other = gnode.build("gru", 1, 1, state=3, tau=0.2, solver={"time": "parallel"}, key=0)
    loop, at_once = (gnode.train.forecast(one, task.train, warm_up=10) for one in (net, other))
    np.testing.assert_allclose(at_once.closed_loop, loop.closed_loop, atol=1e-5)
    np.testing.assert_allclose(at_once.teacher_forced, loop.teacher_forced, atol=1e-5)
