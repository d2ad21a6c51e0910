"""Lyapunov exponents against closed forms and the literature."""

import numpy as np
import pytest
import systems

from gnode import cells, errors
from gnode.analysis import lyapunov
from gnode.network import Network


def test_linear_map_is_exact():
    # h' = A h with A symmetric: exponents ln |eigenvalues of A| / dt, once Q holds A's eigenvectors.
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    factors = np.array([1.2, 0.7, 0.1])
    A = rotation @ np.diag(factors) @ rotation.T
    found = lyapunov(lambda h, x: (A - np.eye(3)) @ h, [0.0, 0.0, 0.0], dt=1.0, steps=200, transient=200)
    np.testing.assert_allclose(found.exponents, np.log(factors), atol=1e-10)
    assert found.status == "finished"
    assert found.sum == pytest.approx(np.log(np.abs(np.linalg.det(A))), abs=1e-10)


def test_lorenz():
    found = lyapunov(systems.lorenz, [1.0, 1.0, 1.0], dt=0.01, steps=40_000, transient=2_000, method="rk4")
    assert found.exponents[0] == pytest.approx(0.906, abs=0.03)
    assert found.exponents[1] == pytest.approx(0.0, abs=0.01)
    assert found.sum == pytest.approx(-(10 + 1 + 8 / 3), abs=1e-3)
    assert found.dimension == pytest.approx(2.06, abs=0.01)


def test_driven_trajectory_of_a_network_against_its_jacobians():
    net = Network(cells.rnn(1, 2, key=0), outputs=1, key=1)
    xs = np.random.default_rng(0).normal(size=(60, 1))
    found = lyapunov(net, np.zeros(2), dt=0.5, xs=xs, steps=60, transient=0, exponents=1)
    W, U, b = (np.asarray(a, float) for a in (net.cell.F.W[0], net.cell.F.U, net.cell.F.b[0]))
    h, v, grown = np.zeros(2), np.array([1.0, 0.0]), 0.0
    for x in xs:
        slope = 1 - np.tanh(W @ h + U @ x + b) ** 2
        v = v + 0.5 * (-v + slope * (W @ v))
        h = h + 0.5 * (-h + np.tanh(W @ h + U @ x + b))
        grown += np.log(np.linalg.norm(v))
        v /= np.linalg.norm(v)
    np.testing.assert_allclose(found.exponents, [grown / (60 * 0.5)], atol=1e-6)


def test_bad_input():
    with pytest.raises(errors.ArgumentError, match="exponents is 3"):
        lyapunov(systems.limit_cycle, [1.0, 0.0], dt=0.1, exponents=3)
    with pytest.raises(errors.ArgumentError, match="xs has shape"):
        lyapunov(cells.rnn(2, 2, key=0), [0.0, 0.0], dt=0.1, xs=np.zeros((5, 3)))
