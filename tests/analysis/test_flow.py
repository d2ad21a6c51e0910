"""Planes through phase space, the flow on them, and principal components."""

import jax.numpy as jnp
import numpy as np
import pytest
import systems

from gnode import cells, errors
from gnode.analysis import fixed_points, flow_field, output_plane, pca, pca_plane, points_plane, state_plane
from gnode.network import Network
from gnode.plots import analysis as draw


def test_a_window_around_little_is_wide_enough_to_see():
    """One state, states on a line, and one fixed point among visited states."""
    one = flow_field(systems.limit_cycle, state=2, around=[[0.0, 3.0]], resolution=3)
    assert (one.u[0], one.u[-1], one.v[0], one.v[-1]) == (-3.0, 3.0, 0.0, 6.0)
    line = flow_field(systems.limit_cycle, state=2, around=[[-2.0, 1.0], [2.0, 1.0]], resolution=3)
    assert (line.u[0], line.u[-1], line.v[0], line.v[-1]) == (-3.0, 3.0, 0.0, 2.0)
    net = Network(systems.rnn_with(np.zeros((2, 2))), outputs=1, key=0)
    visited = np.array([[-4.0, 1.0], [2.0, -0.5], [0.0, 5.0]])
    points = fixed_points(net, visited)
    assert len(points) == 1
    axes = draw.flow_field(net, points, resolution=3).axes[0]
    for (low, high), seen in zip((axes.get_xlim(), axes.get_ylim()), visited.T):
        assert low < seen.min()
        assert high > seen.max()


def test_flow_in_state_coordinates_is_the_field_itself():
    found = flow_field(systems.limit_cycle, state=2, limits=((-2, 2), (-1, 1)), resolution=5)
    u, v = found.u[3], found.v[1]
    expected = np.asarray(systems.limit_cycle(jnp.asarray([u, v]), None))
    np.testing.assert_allclose(found.velocity[1, 3], expected, rtol=1e-6)
    np.testing.assert_allclose(found.speed[1, 3], np.linalg.norm(expected), rtol=1e-6)
    assert found.share_leaving == 0


def test_flow_in_output_coordinates_moves_outputs():
    net = Network(cells.gnode(2, 2, widths=(8,), tau=0.01, key=0), outputs=2, key=1)
    found = flow_field(net, limits=((-1, 1), (-1, 1)), resolution=4)
    state = found.plane.lift(np.array([found.u[2], found.v[1]]))
    # the state really has that output, and its output really moves at that velocity
    y = np.asarray(net.read(jnp.asarray(state, dtype=jnp.float32)))
    np.testing.assert_allclose(y, [found.u[2], found.v[1]], atol=1e-5)
    width = 1e-4
    ahead = state + width * np.asarray(net.cell.vector_field(jnp.asarray(state, dtype=jnp.float32), jnp.zeros(2)))
    moved = np.asarray(net.read(jnp.asarray(ahead, dtype=jnp.float32)))
    np.testing.assert_allclose((moved - y) / width, found.velocity[1, 2], rtol=0.02, atol=0.02)
    assert found.share_leaving == pytest.approx(0, abs=1e-9)
    assert found.labels == ("output 1", "output 2")


def test_the_share_that_leaves_a_plane():
    # dh/dt = (1, 0, 2) everywhere: 4 / 5 of the squared speed leaves the plane of the first two coordinates.
    def constant(h, x):
        return jnp.asarray([1.0, 0.0, 2.0]) + 0 * h

    found = flow_field(constant, state=3, plane=state_plane(3), limits=((0, 1), (0, 1)), resolution=3)
    assert found.share_leaving == pytest.approx(0.8)
    np.testing.assert_allclose(found.velocity, np.broadcast_to([1.0, 0.0], (3, 3, 2)))


def test_output_plane_of_a_larger_network_reads_its_outputs():
    net = Network(cells.rnn(2, 6, key=0), outputs=3, key=1)
    origin = np.random.default_rng(0).normal(size=6)
    plane = output_plane(net, 0, 2, origin=origin)
    target = np.array([0.3, -0.7])
    y = np.asarray(net.read(jnp.asarray(plane.lift(target), dtype=jnp.float32)))
    np.testing.assert_allclose(y[[0, 2]], target, atol=1e-5)
    np.testing.assert_allclose(plane.project(plane.lift(target)), target, atol=1e-9)


def test_plane_through_three_points_holds_them():
    points = np.random.default_rng(0).normal(size=(3, 5))
    plane = points_plane(points)
    np.testing.assert_allclose(plane.lift(plane.project(points)), points, atol=1e-12)
    np.testing.assert_allclose(plane.project(points[1]), [np.linalg.norm(points[1] - points[0]), 0], atol=1e-12)


def test_pca_finds_the_plane_that_data_lie_in():
    basis = systems.plane_basis()
    weights = np.random.default_rng(0).normal(size=(10, 50, 2)) * [3.0, 1.0]
    found = pca(weights @ basis)
    np.testing.assert_allclose(found.explained[2:], 0, atol=1e-12)
    assert found.needed(1.0) == 2
    flat = weights.reshape(-1, 2)
    variances = np.linalg.eigvalsh(np.cov(flat.T, bias=True))[::-1]
    np.testing.assert_allclose(found.explained[:2], variances / variances.sum(), atol=1e-10)
    plane = pca_plane(weights @ basis)
    np.testing.assert_allclose(plane.lift(plane.project(weights @ basis)), weights @ basis, atol=1e-10)


def test_bad_input():
    net = Network(cells.rnn(2, 4, key=0), outputs=2, readout_widths=(5,), key=1)
    with pytest.raises(errors.ArgumentError, match="not affine"):
        output_plane(net)
    with pytest.raises(errors.ArgumentError, match="one line"):
        points_plane([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    with pytest.raises(errors.ArgumentError, match="limits"):
        flow_field(systems.limit_cycle, state=2)
    with pytest.raises(errors.ArgumentError, match="low < high"):
        flow_field(systems.limit_cycle, state=2, limits=((1, 0), (0, 1)))
    with pytest.raises(errors.ArgumentError, match="share"):
        pca([[0.0, 1.0], [1.0, 0.0]]).needed(2.0)
