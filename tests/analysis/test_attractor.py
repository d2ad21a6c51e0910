"""Continuous attractors that were built by hand, measured."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
import systems

from gnode import cells, errors
from gnode.analysis import (
    attractor,
    error_by_amplitude,
    fixed_points,
    hold_pulses,
    manifold,
    memory_lifetime,
    shape,
    slow_states,
)


def uniform(count, low, high, seed=0):
    return np.random.default_rng(seed).uniform(low, high, (count, len(low)))


def disk(count, inner, outer, seed=0):
    generator = np.random.default_rng(seed)
    angle = generator.uniform(0, 2 * np.pi, count)
    radius = np.sqrt(generator.uniform(inner**2, outer**2, count))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


def test_line_attractor():
    found = fixed_points(systems.line_attractor, uniform(400, [-1, -1, -1], [1, 1, 1]), dt=0.01)
    measured = attractor(systems.line_attractor, found.points, dt=0.01, horizon=5)
    assert measured.dimension == 1
    assert measured.spectral_dimension == 1
    assert measured.shape.name == "interval"
    np.testing.assert_allclose([measured.shape.low[0], measured.shape.high[0]], [-1, 1], atol=0.03)
    assert measured.speed.max() < 1e-6
    assert measured.normal_rate == pytest.approx(1.0)
    assert measured.normal_abscissa == pytest.approx(-1.0)
    assert measured.gap > 1e6
    assert measured.memory.surviving == 1.0
    assert measured.is_continuous_attractor
    assert [check.item for check in measured.definition] == ["1", "2", "3", "3, consequence"]


def test_ring_attractor():
    found = fixed_points(systems.ring_attractor, disk(600, 1.0, 3.0), dt=0.01)
    measured = attractor(systems.ring_attractor, found.points, dt=0.01, horizon=5)
    assert measured.dimension == 1
    assert measured.shape.name == "ring"
    assert measured.shape.measures["radius"] == pytest.approx(2.0, abs=1e-6)
    assert measured.speed.max() < 1e-6
    assert measured.output_speed.max() < 1e-6
    assert measured.normal_rate == pytest.approx(3.0, rel=1e-6)
    assert measured.is_continuous_attractor


def test_plane_attractor():
    found = fixed_points(systems.plane_attractor, uniform(900, [-1] * 4, [1] * 4))
    measured = attractor(systems.plane_attractor, found.points)
    assert measured.dimension == 2
    assert measured.spectral_dimension == 2
    assert measured.is_continuous_attractor
    assert measured.memory is None
    assert np.linalg.norm(found.points, axis=1).max() <= 2.0  # no start is thrown along the plane
    off_plane = found.points - (found.points @ systems.plane_basis().T) @ systems.plane_basis()
    assert np.abs(off_plane).max() < 1e-8


def test_isolated_points_are_no_continuous_attractor():
    cell = systems.rnn_with(systems.BISTABLE_GAIN * np.eye(3))
    # The dt of test_fixed_points, so that both share a compilation.
    found = fixed_points(cell, uniform(800, [-1.5] * 3, [1.5] * 3), dt=0.5)
    measured = attractor(cell, found.points, dt=0.5)
    assert measured.dimension == 0
    assert measured.shape.name == "points"
    assert measured.geometry.parts == 27
    assert not measured.is_continuous_attractor
    assert not measured.definition[0].holds


def test_a_leaky_line_fails_item_3_and_forgets():
    leaky = systems.linear(np.diag([-0.5, -5.0]), [0.0, 0.0])
    line = np.stack([np.linspace(-1, 1, 200), np.zeros(200)], axis=1)
    measured = attractor(leaky, line, dt=0.01, horizon=3, error_tolerance=0.1)
    assert [check.holds for check in measured.definition] == [True, False, False, True]
    assert measured.tangent_rate == pytest.approx(0.5)
    assert measured.gap == pytest.approx(10.0)


def test_memory_lifetime_of_a_decay_is_known():
    decay = systems.linear([[-0.5]], [0.0])
    found = memory_lifetime(decay, [[1.0], [0.05]], dt=0.001, tolerance=0.1, horizon=1.0)
    # 1 - exp(-t / 2) = 0.1 at t = -2 ln 0.9; the small state can never be off by 0.1
    assert found.lifetimes[0] == pytest.approx(-2 * np.log(0.9), abs=2e-3)
    assert np.isinf(found.lifetimes[1])
    assert found.surviving == 0.5
    np.testing.assert_allclose(found.error_quartiles[:, 0], 0)


def test_slow_states_settle_on_the_ring():
    settled = slow_states(systems.ring_attractor, disk(100, 0.5, 3.0), dt=0.01, settle=10.0)
    assert len(settled) == 100
    np.testing.assert_allclose(np.linalg.norm(settled, axis=1), 2.0, atol=1e-6)
    moving = slow_states(systems.limit_cycle, disk(50, 0.5, 1.5), dt=0.01, settle=10.0)
    assert len(moving) == 0


def test_gate_and_drift_on_the_attractor():
    # F(h) = h everywhere: the drift vanishes and the gate need not.
    cell = cells.gnode(1, 2, widths=(), tau=0.01, key=0)
    cell = eqx.tree_at(lambda c: (c.F.W, c.F.b), cell, ((jnp.eye(2),), (jnp.zeros(2),)))
    cell = systems.with_gate_bias(cell, np.log(0.1 / 0.9))
    measured = attractor(cell, uniform(400, [-1, -1], [1, 1]), dt=0.01)
    np.testing.assert_allclose(measured.gating.components, 0.1, rtol=1e-5)
    assert measured.gating.drift_norm < 1e-6
    assert measured.gating.drift_is_smaller
    assert measured.dimension == 2
    assert measured.normal_rate is None


def test_many_outputs_take_no_hull():
    """A hull of 500 points in 18 dimensions would take hours."""
    found = shape(uniform(500, [-1] * 18, [1] * 18), 6)
    assert (found.name, found.measures) == ("region", {})


@pytest.mark.parametrize(
    ("name", "outputs"),
    [
        ("square", uniform(900, [-1, -1], [1, 1])),
        ("rectangle", uniform(900, [-2, -1], [2, 1])),
        ("disk", disk(900, 0, 2)),
        ("annulus", disk(900, 1, 2)),
        ("ring", disk(900, 1.9, 2)),
        ("cuboid", uniform(1500, [-1, -1, -1], [1, 1, 1])),
    ],
)
def test_shapes_are_told_apart(name, outputs):
    dimension = 1 if name == "ring" else outputs.shape[1]
    assert shape(outputs, dimension).name == name
    turned = outputs @ np.linalg.qr(np.random.default_rng(1).standard_normal((outputs.shape[1],) * 2))[0]
    if name != "cuboid":
        assert shape(turned, dimension).name == name


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_dimension_of_a_curved_patch_in_many_dimensions(dimension):
    generator = np.random.default_rng(dimension)
    flat = generator.uniform(-1, 1, (4000, dimension))
    lift = generator.standard_normal((dimension, 20))
    bent = np.concatenate([flat @ lift, 0.3 * flat**2], axis=1)
    found = manifold(bent)
    assert found.dimension == dimension
    assert found.parts == 1


def test_two_separate_lines_are_two_parts():
    line = np.linspace(0, 1, 200)
    first = np.stack([line, 0 * line], axis=1)
    found = manifold(np.concatenate([first, first + [0, 1.0]]))
    assert found.dimension == 1
    assert found.parts == 2
    assert found.largest_part == pytest.approx(0.5, abs=0.02)


def test_an_integrator_holds_what_it_is_given_at_any_amplitude():
    net = systems.integrator_network()
    values = uniform(20, [-3, -3], [3, 3])
    for together in (True, False):
        np.testing.assert_allclose(hold_pulses(net, values, dt=0.01, together=together), values, atol=1e-5)
    errors_found = error_by_amplitude(net, dt=0.01, count=50)
    assert [(found.low, found.high) for found in errors_found] == [(0, 0.5), (0.5, 1), (1, 2), (2, 4)]
    assert all(found.mean_square < 1e-9 for found in errors_found)


def test_error_of_a_leaky_integrator_grows_with_the_square_of_the_amplitude():
    net = systems.integrator_network(decay=0.01)
    value = np.array([[2.0, 0.0]])
    kept = hold_pulses(net, value, dt=0.01, wait_bins=50)[0, 0]
    # two bins add 1 each; what is there loses 1% a bin
    assert kept == pytest.approx((0.99 + 1.0) * 0.99**50, rel=1e-4)
    ranges = [(1.0, 1.0001), (2.0, 2.0001)]
    near, far = error_by_amplitude(net, dt=0.01, ranges=ranges, count=20)
    assert far.mean_square / near.mean_square == pytest.approx(4.0, rel=1e-3)


def test_bad_input():
    with pytest.raises(errors.ArgumentError, match="points is empty"):
        attractor(systems.ring_attractor, np.zeros((0, 2)))
    with pytest.raises(errors.ArgumentError, match="values has shape"):
        hold_pulses(systems.integrator_network(), np.zeros((3, 5)), dt=0.01)
    with pytest.raises(errors.ArgumentError, match="0 <= low < high"):
        error_by_amplitude(systems.integrator_network(), dt=0.01, ranges=[(2, 1)])
