"""Analyses and forecasts whose trajectories are computed all bins at once find what the loop finds, and say if it had to."""

import dataclasses
import warnings

import jax.numpy as jnp
import numpy as np
import pytest

import gnode
from gnode import Solver, analysis, cells
from gnode.solve import parallel, rollout
from gnode.tasks import arrays

AT_ONCE = Solver(time="parallel")
CELL = cells.gnode(1, 3, widths=(8,), tau=0.2, key=0)
STARTS = np.random.default_rng(0).normal(size=(5, 3))
TAKES_OVER = "all bins at once did not converge"


@pytest.fixture
def calls(monkeypatch):
    """How often a trajectory is computed all bins at once while programs are traced: the option is not ignored."""
    counted = []

    def counting(*arguments, **named):
        counted.append(arguments)
        return at_once(*arguments, **named)

    at_once = parallel.at_once
    monkeypatch.setattr(parallel, "at_once", counting)
    return counted


def both(found):
    """What the loop finds and what is found all at once, which must not warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return found(Solver(time="loop")), found(AT_ONCE)


def test_memory_lifetimes(calls):
    loop, at_once = both(lambda method: analysis.memory_lifetime(CELL, STARTS, dt=0.02, horizon=1.0, method=method))
    np.testing.assert_allclose(at_once.error_quartiles, loop.error_quartiles, atol=1e-12)
    np.testing.assert_array_equal(at_once.lifetimes, loop.lifetimes)
    assert len(calls) == 1


@pytest.mark.parametrize("interpolation", ["hold", "linear"])
@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_lyapunov_exponents(method, interpolation, calls):
    xs = np.random.default_rng(1).normal(size=(300, 1))
    loop, at_once = (
        analysis.lyapunov(CELL, STARTS[0], dt=0.02, steps=200, transient=100, xs=xs, method=solver)
        for solver in (Solver(method, interpolation=interpolation, time=time) for time in ("loop", "parallel"))
    )
    np.testing.assert_allclose(at_once.exponents, loop.exponents, atol=1e-9)
    assert len(calls) == 1


def test_lyapunov_exponents_under_straight_lines_are_those_of_the_rollout():
    """Along the states of `gnode.rollout`, the Jacobians of the two half steps of each bin, by differences."""
    solver = Solver(substeps=2, interpolation="linear")
    xs = 3 * np.random.default_rng(1).normal(size=(40, 1))
    found = analysis.lyapunov(CELL, STARTS[0], dt=0.1, steps=40, transient=0, xs=xs, method=solver)
    with gnode.precision.double():
        cell = gnode.precision.to_dtype(CELL, jnp.float64)
        states = np.asarray(rollout(cell, xs, STARTS[0], dt=0.1, method=solver))
        before, ends, Q, grown = [STARTS[0], *states], [*xs[1:], xs[-1]], np.eye(3), np.zeros(3)

        def moved(h, x, end):
            for share in (0.0, 0.5):
                h = h + 0.05 * np.asarray(cell.vector_field(jnp.asarray(h), jnp.asarray(x + share * (end - x))))
            return h

        for h, after, x, end in zip(before, states, xs, ends):
            np.testing.assert_allclose(moved(h, x, end), after, atol=1e-12)
            columns = [(moved(h + step, x, end) - moved(h - step, x, end)) / 2e-6 for step in 1e-6 * np.eye(3)]
            Q, R = np.linalg.qr(np.stack(columns, axis=1) @ Q)
            grown += np.log(np.abs(np.diagonal(R)))
    np.testing.assert_allclose(found.exponents, grown / (40 * 0.1), atol=1e-6)


def chaotic():
    cell = cells.rate_rnn(1, 60, init="critical", tau=0.1, key=0)
    return dataclasses.replace(cell, F=dataclasses.replace(cell.F, W=tuple(4 * W for W in cell.F.W)))


def test_a_chaotic_network_is_followed_by_the_loop_and_that_is_said(calls):
    """The rounds do not converge there, so the exponent is that of the loop."""
    start = np.random.default_rng(2).normal(size=60)
    how = {"dt": 0.1, "steps": 300, "transient": 50, "exponents": 1}
    loop = analysis.lyapunov(chaotic(), start, method="euler", **how)
    with pytest.warns(UserWarning, match=TAKES_OVER):
        at_once = analysis.lyapunov(chaotic(), start, method=AT_ONCE, **how)
    assert loop.exponents[0] > 1.0
    np.testing.assert_allclose(
        at_once.exponents, loop.exponents, rtol=0.2
    )  # rounding errors grow by e in less than a second
    with pytest.warns(UserWarning, match=TAKES_OVER):
        memory = analysis.memory_lifetime(chaotic(), start, dt=0.1, horizon=30.0, method=AT_ONCE)
    by_loop = analysis.memory_lifetime(chaotic(), start, dt=0.1, horizon=30.0)
    np.testing.assert_array_equal(memory.lifetimes, by_loop.lifetimes)
    assert len(calls) == 2


def waves(bins=40):
    time = np.arange(bins) * 0.1
    series = np.stack([np.sin(time + phase) for phase in range(4)])[..., None].astype(np.float32)
    return arrays(series[:, :-1], series[:, 1:], 0.1)


def test_forecasts(calls):
    def found(solver):
        net = gnode.build("gru", 1, 1, state=3, tau=0.2, solver={"time": solver.time}, key=0)
        return gnode.train.forecast(net, waves().train, warm_up=10)

    loop, at_once = both(found)
    np.testing.assert_allclose(at_once.closed_loop, loop.closed_loop, atol=1e-5)
    np.testing.assert_allclose(at_once.teacher_forced, loop.teacher_forced, atol=1e-5)
    assert len(calls) == 3  # the warm-up, the closed loop, and every sample observed


def test_forecasts_and_runs_of_a_chaotic_network_say_that_the_loop_took_over():
    nets = [gnode.Network(chaotic(), 1, method=solver, key=0) for solver in (Solver(), AT_ONCE)]
    trials = waves(400).train
    with pytest.warns(UserWarning, match=TAKES_OVER):
        found = gnode.train.forecast(nets[1], trials, warm_up=10)
    np.testing.assert_allclose(found.error[0], gnode.train.forecast(nets[0], trials, warm_up=10).error[0], rtol=1e-3)
    xs = np.zeros((1, 300, 1))
    h0 = np.random.default_rng(2).normal(size=60)
    with pytest.warns(UserWarning, match=TAKES_OVER):
        states = nets[1].run(xs, dt=0.1, h0=h0).states
    np.testing.assert_allclose(states[:, :5], nets[0].run(xs, dt=0.1, h0=h0).states[:, :5], atol=1e-4)
