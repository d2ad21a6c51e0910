"""Fixed points of systems that are known."""

import itertools

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
import systems
from scipy.optimize import fsolve

from gnode import cells, errors
from gnode.analysis import PRESETS, box_starts, fixed_points
from gnode.network import Network
from gnode.solve import rollout


def test_linear_system_has_its_one_point():
    A = np.array([[-1.0, 0.5], [0.0, -2.0]])
    b = np.array([1.0, 3.0])
    found = fixed_points(systems.linear(A, b), box_starts([-5, -5], [5, 5], 8, key=0), dt=0.1)
    assert len(found) == 1
    np.testing.assert_allclose(found.points[0], -np.linalg.solve(A, b), atol=1e-12)
    assert found.status.tolist() == ["equilibrium"]
    assert found.multiplicity.tolist() == [8]
    np.testing.assert_allclose(np.sort(found.stability.flow_eigenvalues[0].real), [-2, -1], atol=1e-12)
    np.testing.assert_allclose(found.stability.radius, 0.9, atol=1e-12)


def test_bistable_unit():
    cell = systems.rnn_with([[systems.BISTABLE_GAIN]], tau=0.5)
    found = fixed_points(cell, np.linspace(-2, 2, 41)[:, None], dt=0.1)
    root = fsolve(lambda h: h - np.tanh(2 * h), 1.0, xtol=1e-14)[0]
    np.testing.assert_allclose(found.points[:, 0], [-root, 0, root], atol=1e-10)
    assert root == pytest.approx(systems.BISTABLE_POINT, abs=1e-12)
    assert found.kind.tolist() == ["stable", "unstable", "stable"]
    slope = (2 * (1 - root**2) - 1) / 0.5
    np.testing.assert_allclose(found.stability.abscissa, [slope, 2.0, slope], rtol=1e-6)


def test_three_uncoupled_bistable_units_have_27_points_of_which_8_are_stable():
    cell = systems.rnn_with(systems.BISTABLE_GAIN * np.eye(3))
    found = fixed_points(cell, box_starts([-1.5] * 3, [1.5] * 3, 2000, key=1), dt=0.5)
    assert len(found) == 27
    with pytest.raises(errors.ArgumentError, match="Did you mean 'stable'"):
        found.select(kind="stabel")
    stable = found.select(kind="stable")
    expected = np.array(sorted(itertools.product([-systems.BISTABLE_POINT, systems.BISTABLE_POINT], repeat=3)))
    np.testing.assert_allclose(stable.points, expected, atol=1e-6)
    assert np.all(found.residual < 1e-9)
    assert np.all(found.speed < 1e-9)


def test_midpoints_lead_to_equilibria_that_no_start_leads_to():
    cell = systems.rnn_with(systems.BISTABLE_GAIN * np.eye(3))
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=3)))
    assert len(fixed_points(cell, corners)) == 8
    found = fixed_points(cell, corners, midpoints=True)
    one = np.array([-systems.BISTABLE_POINT, 0.0, systems.BISTABLE_POINT])
    expected = np.array(sorted(itertools.product(one, repeat=3)))
    np.testing.assert_allclose(found.points[np.lexsort(found.points.round(6).T[::-1])], expected, atol=1e-8)
    assert len(found.outcomes) == len(found.ends) == found.multiplicity.sum() > 8
    np.testing.assert_allclose(found.points[found.ends[:8]], corners * systems.BISTABLE_POINT, atol=1e-8)
    assert len(fixed_points(cell, corners[:1], midpoints=True)) == 1  # there is no pair


def test_hopfield_patterns_are_found():
    # Three orthogonal patterns in eight units, at a gain where the patterns are stable.
    patterns = np.array([[1] * 8, [1, 1, 1, 1, -1, -1, -1, -1], [1, 1, -1, -1, 1, 1, -1, -1]], float)
    cell = systems.rnn_with(3.0 * patterns.T @ patterns / 8)
    found = fixed_points(cell, np.random.default_rng(0).uniform(-1, 1, (500, 8)), dt=0.2)
    amplitude = fsolve(lambda m: m - np.tanh(3 * m), 1.0, xtol=1e-14)[0]
    for pattern in np.concatenate([patterns, -patterns]):
        distance = np.linalg.norm(found.points - amplitude * pattern, axis=1)
        nearest = int(np.argmin(distance))
        assert distance[nearest] < 1e-6
        assert found.kind[nearest] == "stable"


def test_a_constant_input_moves_the_point():
    cell = systems.rnn_with([[0.0]], U=[[1.0]])
    found = fixed_points(cell, [[0.0]], x=[0.3])
    np.testing.assert_allclose(found.points, np.tanh(np.float32(0.3)), atol=1e-7)


def test_a_line_of_fixed_points_stays_a_line():
    starts = np.random.default_rng(0).uniform(-1, 1, (300, 3))
    found = fixed_points(systems.line_attractor, starts, dt=0.01)
    assert len(found) == 300
    assert np.all(found.status == "equilibrium")
    assert np.all(found.on_continuum)
    np.testing.assert_allclose(np.sort(found.points[:, 0]), np.sort(starts[:, 0]), atol=1e-6)
    assert len(np.unique(found.ends)) == 300


def test_even_sample_of_a_continuum_is_even():
    starts = np.random.default_rng(0).uniform(-1, 1, (500, 3))
    sampled = fixed_points(systems.line_attractor, starts).sample(21)
    gaps = np.diff(np.sort(sampled.points[:, 0]))
    assert len(sampled) == 21
    assert gaps.max() < 3 * gaps.min()


def test_a_limit_cycle_gives_no_false_point():
    angles = np.linspace(0, 2 * np.pi, 8)  # a block of the smallest size, which is the only one to be compiled
    found = fixed_points(systems.limit_cycle, np.stack([np.cos(angles), np.sin(angles)], 1), dt=0.01)
    assert len(found.select(status="slow")) == 0
    np.testing.assert_allclose(found.points, np.zeros((1, 2)), atol=1e-9)
    assert found.kind.tolist() == ["unstable"]
    assert found.distance[0] == pytest.approx(1.0)


def test_a_shut_gate_is_not_an_equilibrium():
    cell = systems.with_gate_bias(cells.gnode(2, 3, widths=(8,), tau=0.01, key=0), -50.0)
    starts = np.random.default_rng(0).normal(size=(8, 3)) + 3.0
    found = fixed_points(cell, starts, dt=0.01)
    assert found.counts == {"closed_gate": 8}
    assert not np.any(found.status == "equilibrium")
    assert np.all(found.speed < 1e-10)


def test_without_a_root_a_shut_gate_is_reported_where_it_is_and_an_open_one_is_not():
    # F(h) = h + 1 has no fixed point at all.
    cell = cells.gnode(1, 1, widths=(), tau=0.01, key=0)
    one = jnp.ones((1, 1))
    cell = eqx.tree_at(lambda c: (c.F.W, c.F.b), cell, ((one,), (jnp.ones(1),)))
    shut = fixed_points(systems.with_gate_bias(cell, -50.0), [[0.5], [2.0]])
    assert shut.counts == {"closed_gate": 2}
    np.testing.assert_allclose(shut.residual, 1.0)
    np.testing.assert_allclose(shut.points[:, 0], [0.5, 2.0])
    moving = fixed_points(systems.with_gate_bias(cell, 0.0), [[0.5], [2.0]])
    assert moving.counts == {"not_converged": 2}
    assert str(moving).startswith("none found")


def test_opening_the_gate_changes_no_equilibrium():
    cell = cells.gnode(2, 4, widths=(16,), tau=0.01, hidden="tanh", key=3)
    starts = np.random.default_rng(0).normal(size=(8, 4))
    gated = fixed_points(systems.with_gate_bias(cell, -2.0), starts)
    bare = fixed_points(systems.with_gate_bias(cell, 2.0), starts)
    np.testing.assert_allclose(gated.points, bare.points, atol=1e-8)


def test_paper_preset_stops_as_soon_as_a_state_is_slow():
    slow = 0.005
    starts = np.array([[0.9, 1e-5, 0.0], [0.1, 0.4, 0.2]])
    found = fixed_points(systems.line_attractor, starts, preset="paper", keep="all")
    assert found.iterations.min() == 0
    np.testing.assert_allclose(found.points[found.iterations == 0][0], starts[0])
    assert np.all(found.speed < 0.01)
    assert PRESETS["paper"].max_iterations == 100
    assert slow < PRESETS["paper"].slow_speed


def test_points_far_from_the_trajectories_are_left_out():
    field = systems.linear([[-1.0]], [10.0])  # its point is at 10
    starts = [[1.0], [2.0]]
    assert fixed_points(field, starts, keep="box").counts == {"outside": 2}
    assert fixed_points(field, starts, keep="near").counts == {"outside": 2}
    assert len(fixed_points(field, starts, keep="all")) == 1


def test_residuals_are_those_of_the_definition():
    net = Network(cells.gnode(2, 3, widths=(8,), tau=0.02, key=0), outputs=2, key=1)
    found = fixed_points(net, np.random.default_rng(0).normal(size=(5, 3)), dt=0.02, preset="paper", keep="all")
    h = jnp.asarray(found.points, dtype=jnp.float32)
    zero = jnp.zeros(2)
    drift = np.stack([net.cell.drift(point, zero) for point in h])
    flow = np.stack([net.cell.vector_field(point, zero) for point in h])
    np.testing.assert_allclose(found.residual, np.linalg.norm(drift, axis=1), atol=1e-6)
    np.testing.assert_allclose(found.speed, np.linalg.norm(flow, axis=1), atol=1e-4)
    np.testing.assert_allclose(found.outputs, net.read(h), atol=1e-6)


def test_the_other_cells_have_fixed_points_too():
    for name in ("gru", "lstm", "lem"):
        cell = cells.CELLS[name](2, 4, key=0)
        starts = np.random.default_rng(0).normal(size=(8, cell.state_size)) * 0.3
        found = fixed_points(Network(cell, outputs=2, key=1), starts, dt=0.1)
        # a small random cell contracts to a single state: follow it there
        xs = jnp.zeros((3000, 2))
        h = rollout(cell, xs, jnp.zeros(cell.state_size), dt=0.1, method="euler")[-1]
        distance = np.linalg.norm(found.points - np.asarray(h), axis=1)
        assert distance.min() < 1e-4, name
        assert found.stability.abscissa[int(np.argmin(distance))] < 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"starts": np.zeros((0, 3))}, "starts is empty"),
        ({"starts": np.zeros((4, 5))}, "starts has shape"),
        ({"starts": np.full((1, 3), np.nan)}, "not finite"),
        ({"starts": np.zeros((1, 3)), "x": [1.0]}, "x has shape"),
        ({"starts": np.zeros((1, 3)), "x": [np.nan, 0.0]}, "finite"),
        ({"starts": np.zeros((1, 3)), "preset": "tigth"}, "Did you mean 'tight'"),
        ({"starts": np.zeros((1, 3)), "dt": 0.0}, "dt"),
        ({"starts": np.zeros((1, 3)), "tolerence": 1.0}, "Did you mean 'tolerance'"),
    ],
)
def test_bad_input_is_one_sentence(arguments, message):
    cell = cells.rnn(2, 3, key=0)
    with pytest.raises(errors.ArgumentError, match=message):
        fixed_points(cell, **arguments)


def test_a_field_that_is_nan_somewhere():
    found = fixed_points(lambda h, x: jnp.log(h) - 0.5, [[-1.0], [2.0]])
    assert found.counts == {"equilibrium": 1, "not_finite": 1}
    np.testing.assert_allclose(found.points, np.exp(0.5))
