"""Flow and map: eigenvalues against closed forms, classes, disagreement."""

import jax.numpy as jnp
import numpy as np
import pytest
import systems

from gnode import cells, errors
from gnode.analysis import Stability, stability, system
from gnode.network import Network


def test_euler_map_and_flow_can_disagree():
    # lambda = -1 +- 3i: the flow spirals in; one Euler step of 0.5 has |mu| = |0.5 + 1.5i| = 1.58.
    spiral = systems.linear([[-1.0, -3.0], [3.0, -1.0]], [0.0, 0.0])
    found = stability(spiral, np.zeros((1, 2)), dt=0.5)
    assert found.flow_class.tolist() == ["stable"]
    assert found.map_class.tolist() == ["unstable"]
    assert found.disagrees.tolist() == [True]
    np.testing.assert_allclose(found.radius, np.hypot(0.5, 1.5), rtol=1e-12)
    np.testing.assert_allclose(found.abscissa, -1.0, rtol=1e-12)
    # A fine enough step agrees with the flow again.
    assert not stability(spiral, np.zeros((1, 2)), dt=0.01).disagrees.any()


def test_rk4_map_has_its_own_eigenvalues():
    decay = systems.linear([[-1.0]], [0.0])
    z = -0.8
    found = stability(decay, [[0.0]], dt=0.8, method="rk4")
    np.testing.assert_allclose(found.map_eigenvalues[0, 0], 1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24, rtol=1e-10)


def test_classes():
    diagonal = {"stable": [-1, -2], "saddle": [1, -1], "unstable": [1, 2], "marginal": [0, -1]}
    for name, rates in diagonal.items():
        found = stability(systems.linear(np.diag(rates), [0.0, 0.0]), np.zeros((1, 2)), dt=0.1)
        assert found.flow_class.tolist() == [name]
        assert found.map_class.tolist() == [name]
    assert found.marginal.tolist() == [1]


def test_what_has_no_derivative_is_not_called_stable():
    """The square root has none at zero: NaN is neither decay nor growth."""

    def root(h, x):
        return jnp.stack([-jnp.sqrt(h[0]) * jnp.sqrt(-h[0]), -h[1]])

    found = stability(root, [[0.0, 0.0]], dt=0.1)
    assert found.flow_class.tolist() == found.map_class.tolist() == ["undefined"]
    assert np.isnan(found.summary()["abscissa"]["median"])
    mixed = Stability(np.array([[-1.0, -2.0], [-1.0, np.nan]], complex), None, 0.01, None)
    assert mixed.flow_class.tolist() == ["stable", "undefined"]
    assert mixed.summary()["flow_classes"] == {"stable": 1, "undefined": 1}


def test_a_system_takes_another_input_and_bin():
    net = systems.rnn_with(np.zeros((2, 2)), U=np.eye(2))
    first = system(net, dt=0.1)
    other = system(first, x=[1.0, -1.0], dt=0.5, method="rk4")
    assert (other.dt, other.solver.method) == (0.5, "rk4")
    h = jnp.zeros(2)
    np.testing.assert_allclose(other.flow(h), np.tanh([1.0, -1.0]), rtol=1e-6)
    np.testing.assert_allclose(first.flow(h), 0, atol=1e-12)
    same = system(other)
    assert (same.dt, same.solver) == (other.dt, other.solver)
    np.testing.assert_array_equal(same.x, other.x)
    with pytest.raises(errors.ArgumentError, match="x has shape"):
        system(first, x=[1.0])
    with pytest.raises(errors.ArgumentError, match="dt is -1"):
        system(first, dt=-1)


def test_time_constants_are_in_seconds():
    cell = systems.rnn_with(np.zeros((2, 2)), tau=0.01)
    np.testing.assert_allclose(stability(cell, np.zeros((1, 2))).time_constants, 0.01, rtol=1e-6)


def test_lem_uses_its_own_map():
    cell = cells.lem(2, 2, key=0)
    net = Network(cell, outputs=1, key=1)
    h = np.random.default_rng(0).normal(size=(1, 4)) * 0.1
    found = stability(net, h, dt=0.3)
    width = 1e-3

    def next_state(state):
        return np.asarray(net.step(jnp.asarray(state, dtype=jnp.float32), jnp.zeros(2), 0.3))

    columns = [(next_state(h[0] + width * e) - next_state(h[0] - width * e)) / (2 * width) for e in np.eye(4)]
    expected = np.linalg.eigvals(np.stack(columns, axis=1))
    np.testing.assert_allclose(np.sort(np.abs(found.map_eigenvalues[0])), np.sort(np.abs(expected)), atol=2e-3)


def test_summary_gives_quartiles():
    net = systems.rnn_with(np.eye(2))
    states = np.random.default_rng(0).normal(size=(101, 2))
    found = stability(net, states, dt=0.1)
    summary = found.summary()
    rates = -1 + (1 - np.tanh(states) ** 2)
    assert summary["abscissa"]["median"] == pytest.approx(np.median(rates.max(axis=1)), abs=1e-6)
    assert summary["count"] == 101
    assert stability(net, np.zeros((0, 2))).summary() == {"count": 0}
