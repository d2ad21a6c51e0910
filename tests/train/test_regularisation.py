"""Penalties on the flow against closed forms and finite differences, and what cells they are for."""

import itertools
import math
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flow_penalties import penalty, some_batch, whole_penalty

import gnode
from gnode import Network, build
from gnode.cells import CELLS, Cell, layers
from gnode.train.batch import Batch
from gnode.train.regularisation import derivative, euler_error, jacobian_norm, stiffness, taylor_mode_knows
from gnode.train.settings import PENALTIES

A = np.array([[-1.0, 2.0, 0.3], [-1.5, -0.5, 0.0], [0.4, 0.2, -2.0]])
H = np.array([0.7, -1.1, 0.4])


class Linear(Cell):
    """dh/dt = A h + x in all units."""

    A: jax.Array
    inputs: int = eqx.field(default=1, static=True)
    units: int = eqx.field(default=3, static=True)

    def vector_field(self, h, x):
        return self.A @ h + x[0]


class Falling(Cell):
    """dh/dt = -h^2, whose solution is h / (1 + h t)."""

    inputs: int = eqx.field(default=1, static=True)
    units: int = eqx.field(default=1, static=True)

    def vector_field(self, h, x):
        return -(h**2)


def mean_square(values):
    return np.mean(np.asarray(values) ** 2)


CLOSED = {
    "kinetic": lambda h, x, dt: mean_square(A @ h + x),
    "higher_derivatives": lambda h, x, dt: mean_square(A @ A @ (A @ h + x)),
    "solver_cost": lambda h, x, dt: math.sqrt(mean_square(dt**2 / 2 * A @ (A @ h + x))),
    "stiffness": lambda h, x, dt: math.sqrt(mean_square(A @ (A @ h + x)) / mean_square(A @ h + x)) if dt else 0.0,
}
"""Of a linear flow at one state; the derivative is the third."""


@pytest.mark.parametrize("name", CLOSED)
def test_penalties_of_a_linear_flow(name, x64):
    """Weighted sums over the real bins of real trials only, whatever stands after their ends."""
    rng = np.random.default_rng(0)
    batch, net = some_batch(rng), Network(Linear(jnp.asarray(A)), outputs=1, key=0)
    states, starts = rng.normal(size=(4, 6, 3)), rng.normal(size=(4, 3))
    states[1, 4:], states[2, 1:] = np.inf, np.nan
    before = np.concatenate([starts[:, None], states[:, :-1]], axis=1)
    expected = np.mean(
        [
            sum(
                batch.dt[trial, bin]
                * CLOSED[name](before[trial, bin], batch.inputs[trial, bin, 0], float(batch.dt[trial, bin]))
                for bin in range(length)
            )
            for trial, length in enumerate([6, 4, 1])
        ]
    )
    order = {"derivative_order": 3} if name == "higher_derivatives" else {}
    found = penalty(net, batch, jnp.asarray(states), jnp.asarray(starts), **{name: 0.5}, **order)
    assert float(found) == pytest.approx(0.5 * expected, rel=1e-12)
    slope = jax.grad(lambda s: penalty(net, batch, s, jnp.asarray(starts), **{name: 0.5}, **order))(jnp.asarray(states))
    assert bool(jnp.isfinite(slope).all())


def test_the_jacobian_is_exact_over_all_signs(x64):
    """The mean of |eps^T A|^2 over the eight vectors of signs is |A|_F^2; both are divided by the number of units."""
    signs = [jnp.asarray(signs) for signs in itertools.product((-1.0, 1.0), repeat=3)]
    found = [jacobian_norm(lambda h: jnp.asarray(A) @ h, jnp.asarray(H), probe) for probe in signs]
    assert np.mean(found) == pytest.approx(np.sum(A**2) / 3, rel=1e-12)
    assert np.std(found) > 0.1  # a single one is an estimate


def test_each_trial_has_signs_of_its_own(x64):
    """With 4000 trials of one bin of a second, the mean is |A|_F^2 / n within four standard errors."""
    trials = 4000
    ones = jnp.ones((trials, 1))
    batch = Batch(jnp.zeros((trials, 1, 1)), jnp.zeros((trials, 1, 1)), ones, ones, jnp.ones(trials, int), ones[:, 0])
    net = Network(Linear(jnp.asarray(A)), outputs=1, key=0)
    found = float(penalty(net, batch, jnp.ones((trials, 1, 3)), jacobian_norm=1.0))
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
    error = np.std(np.mean((signs @ A) ** 2, axis=1)) / math.sqrt(trials)
    assert found == pytest.approx(np.sum(A**2) / 3, abs=4 * error)
    assert found != pytest.approx(np.sum(A**2) / 3, abs=1e-9)


@pytest.mark.parametrize("is_by_taylor", [True, False])
def test_derivatives_by_time(is_by_taylor, x64):
    """A^K h of a linear flow, and (-1)^K K! h^(K+1) of dh/dt = -h^2."""
    for order in range(1, 6):
        found = derivative(lambda h: jnp.asarray(A) @ h, jnp.asarray(H), order, is_by_taylor)
        np.testing.assert_allclose(found, np.linalg.matrix_power(A, order) @ H, rtol=1e-11)
        found = derivative(lambda h: -(h**2), jnp.asarray([0.7]), order, is_by_taylor)
        np.testing.assert_allclose(found, (-1) ** order * math.factorial(order) * 0.7 ** (order + 1), rtol=1e-11)


@pytest.mark.parametrize("name", ["rnn", "lstm", "ltc", "s4d", "layers"])
def test_both_ways_to_a_derivative_agree(name, x64):
    cell = layers("gru", 2, 3, count=2, key=0) if name == "layers" else CELLS[name](2, 3, key=0)
    h = 0.3 * jax.random.normal(jax.random.key(1), (cell.state_size,))
    x = jnp.asarray([0.3, -0.2])
    assert taylor_mode_knows(cell, 3)

    @jax.jit
    def both(h):
        return [derivative(lambda h: cell.vector_field(h, x), h, 3, way) for way in (True, False)]

    taylor, nested = both(h)
    np.testing.assert_allclose(taylor, nested, rtol=1e-10, atol=1e-12 * float(jnp.abs(nested).max()))


def test_operations_that_taylor_mode_does_not_know(x64):
    """A function whose derivative is its own, as relu of jax is, takes the other way and gives the same."""

    @jax.custom_jvp
    @jax.jit
    def own_tanh(h):
        return jnp.tanh(h)

    own_tanh.defjvps(lambda t, result, h: t * (1 - result**2))

    class Own(Falling):
        def vector_field(self, h, x):
            return -own_tanh(h)

    class Plain(Falling):
        def vector_field(self, h, x):
            return -jnp.tanh(h)

    batch, states = some_batch(np.random.default_rng(0)), 0.5 * jnp.ones((4, 6, 1))
    own, plain = (
        penalty(Network(cell, outputs=1, key=0), batch, states, higher_derivatives=1.0, derivative_order=3)
        for cell in (Own(), Plain())
    )
    assert float(own) == pytest.approx(float(plain), rel=1e-12)
    assert float(plain) > 0


def test_errors_and_stiffness_at_rest_have_derivatives(x64):
    for measure in (euler_error, stiffness):
        of_state = partial(measure, lambda h: -h, step=jnp.asarray(0.1))
        value, slope = jax.value_and_grad(of_state)(jnp.zeros(2))
        assert float(value) == 0.0
        assert slope.tolist() == [0.0, 0.0]


def test_the_error_is_that_of_one_of_the_steps_within_a_bin(x64):
    """With m substeps the error of a step is m^2 times smaller, and its integral over the bin too."""
    rng = np.random.default_rng(0)
    batch, states = some_batch(rng), jnp.asarray(rng.normal(size=(4, 6, 3)))
    one, four = (
        float(penalty(Network(Linear(jnp.asarray(A)), outputs=1, key=0, substeps=m), batch, states, solver_cost=1.0))
        for m in (1, 4)
    )
    assert four == pytest.approx(one / 16, rel=1e-12)


def test_a_state_is_that_after_the_jump(x64):
    """An ODE-LSTM moves by its flow from where the arrival of a sample left it; so does each of two layers."""
    rng = np.random.default_rng(0)
    batch = some_batch(rng, inputs=2)
    one = CELLS["ode_lstm"](2, 2, widths=(3,), key=0)
    two = layers("ode_lstm", 2, 2, count=2, widths=(3,), key=0)
    for cell in (one, two):
        states, starts = rng.normal(size=(4, 6, cell.state_size)), rng.normal(size=(4, cell.state_size))
        before = np.concatenate([starts[:, None], states[:, :-1]], axis=1)
        total = 0.0
        for trial, length in enumerate([6, 4, 1]):
            for bin in range(length):
                h, x = jnp.asarray(before[trial, bin]), batch.inputs[trial, bin]
                if cell is two:
                    below = cell.layers[0].jump(h[:4], x)
                    h = jnp.concatenate([below, cell.layers[1].jump(h[4:], below[:2])])
                else:
                    h = cell.jump(h, x)
                total += float(batch.dt[trial, bin]) * mean_square(cell.vector_field(h, x)) / 3
        net = Network(cell, outputs=1, key=0)
        found = penalty(net, batch, jnp.asarray(states), jnp.asarray(starts), kinetic=1.0)
        assert float(found) == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize("name", PENALTIES)
def test_gradients_are_finite_differences(name, x64):
    """Along a random direction of all trained values, through the rollout: fourth-order differences to 1e-7."""
    batch = some_batch(np.random.default_rng(3), inputs=2)
    net = build("gnode", 2, 1, state=3, widths=(5,), hidden="tanh", tau=0.3, initial="affine", key=1)
    params, rest = eqx.partition(net, gnode.trainable(net))
    params = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), params)
    keys = iter(jax.random.split(jax.random.key(2), 50))
    way = jax.tree.map(lambda leaf: jax.random.normal(next(keys), leaf.shape, leaf.dtype), params)

    @jax.jit
    def along(step):
        moved = jax.tree.map(lambda leaf, change: leaf + step * change, params, way)
        return whole_penalty(eqx.combine(moved, rest), batch, **{name: 1.0}, derivative_order=3)

    e = 1e-3
    differences = (8 * (along(e) - along(-e)) - (along(2 * e) - along(-2 * e))) / (12 * e)
    assert float(jax.grad(along)(0.0)) == pytest.approx(float(differences), rel=1e-7)
    assert abs(float(differences)) > 1e-4


@pytest.mark.parametrize("name", sorted(set(CELLS) - {"cfc"}))
def test_every_cell_can_be_regularised(name):
    """Smoke test: the gradient of all penalties together is traced for each cell, with its own default method."""
    net = build(name, 2, 1, state=2, key=0)
    batch = jax.tree.map(
        lambda values: jnp.asarray(values, jnp.float32), some_batch(np.random.default_rng(0), inputs=2)
    )
    params, rest = eqx.partition(net, gnode.trainable(net))
    states = jnp.zeros((4, 6, net.cell.state_size))
    weights = dict.fromkeys(PENALTIES, 1.0)
    found = jax.eval_shape(
        jax.grad(lambda p: penalty(eqx.combine(p, rest), batch, states, **weights, derivative_order=3)), params
    )
    assert jax.tree.structure(found) == jax.tree.structure(params)
