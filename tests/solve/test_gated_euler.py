"""The hand-written derivative against automatic differentiation of a plain loop, over shapes, modes and orders."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gated_cases import assert_close, gradients, plain_loop, random_case, states_and_gradients

from gnode import cells, rollout
from gnode._activation_functions import SLOPES
from gnode.activations import activation
from gnode.solve import Solver, rollout_batch
from gnode.solve import _gated_euler as gated_euler

RNG = np.random.default_rng(0)
EULER = Solver("euler")


def by_hand(cell, xs, h0, dt):
    return rollout_batch(cell, xs, h0, dt, EULER)


def by_vmap(cell, xs, h0, dt):
    return jax.vmap(lambda xs, h0, dt: rollout(cell, xs, h0, dt=dt, method="euler"))(xs, h0, dt)


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 30))])
def test_gradients_over_random_shapes(seed, x64, monkeypatch):
    """To 1e-10, for any number of bins per product."""
    rows = (1, 7, 10**6)[seed % 3]
    monkeypatch.setattr(gated_euler, "ROWS", {"cpu": rows})
    case = random_case(seed)
    states, reference = states_and_gradients(plain_loop, case)
    found, gradient = states_and_gradients(by_hand, case)
    np.testing.assert_allclose(found, states, rtol=1e-11, atol=1e-12)
    assert_close(gradient, reference, 1e-10)
    assert_close(gradients(by_vmap, case), reference, 1e-10)


def test_float32_gradients_to_1e_5():
    """Of two networks; one program for both."""
    xs, h0 = jnp.asarray(RNG.normal(size=(8, 50, 3)), jnp.float32), jnp.zeros((8, 6))
    networks = [cells.gnode(3, 6, widths=(40, 40), tau=0.01, key=seed) for seed in range(2)]
    found, reference = (
        eqx.filter_jit(lambda cell, run=run: gradients(run, (cell, xs, h0, jnp.full((8, 50), 0.01))))
        for run in (by_hand, plain_loop)
    )
    for cell in networks:
        assert_close(found(cell), reference(cell), 1e-5)


@pytest.mark.parametrize("seed", range(2))
def test_forward_mode(seed, x64):
    case = random_case(100 + seed)
    values, structure = eqx.partition(case, eqx.is_inexact_array)
    direction = jax.tree.map(lambda leaf: jnp.asarray(RNG.normal(size=leaf.shape)), values)

    @jax.jit
    def changes(values, direction):
        runs = (lambda values, run=run: run(*eqx.combine(values, structure)) for run in (by_hand, plain_loop))
        return [jax.jvp(run, (values,), (direction,))[1] for run in runs]

    np.testing.assert_allclose(*changes(values, direction), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("seed", [3, pytest.param(5, marks=pytest.mark.slow)])
def test_second_derivatives(seed, x64):
    cell, xs, h0, dt = random_case(seed)
    values, structure = eqx.partition(cell, eqx.is_inexact_array)
    flat, unflatten = jax.flatten_util.ravel_pytree(values)

    def hessian(run):
        def loss(flat):
            return jnp.sum(run(eqx.combine(unflatten(flat), structure), xs, h0, dt) ** 3)

        return jax.jit(jax.hessian(loss))(flat)

    reference = hessian(plain_loop)
    assert float(jnp.max(jnp.abs(reference))) > 1e-3
    np.testing.assert_allclose(hessian(by_hand), reference, rtol=1e-8, atol=1e-9)


def test_checkpointing_changes_no_gradient(x64):
    case = random_case(1)

    def checkpointed(cell, xs, h0, dt):
        return rollout_batch(cell, xs, h0, dt, Solver("euler", memory="checkpoint"))

    states, reference = states_and_gradients(plain_loop, case)
    found, gradient = states_and_gradients(checkpointed, case)
    np.testing.assert_allclose(found, states, rtol=1e-11)
    assert_close(gradient, reference, 1e-10)


@pytest.mark.parametrize(
    "solver", [Solver("heun"), Solver("euler", substeps=2), Solver("euler", interpolation="linear")]
)
def test_other_solvers_take_the_general_path(solver, x64):
    cell = cells.gnode(2, 3, widths=(6,), tau=0.5, key=1)
    xs, h0, dt = jnp.asarray(RNG.normal(size=(4, 9, 2))), jnp.zeros((4, 3)), jnp.full((4, 9), 0.2)
    one_by_one = [rollout(cell, *trial, dt=0.2, method=solver) for trial in zip(xs, h0)]
    np.testing.assert_allclose(rollout_batch(cell, xs, h0, dt, solver), jnp.stack(one_by_one), rtol=1e-12)


@pytest.mark.parametrize("name", ["gru", "lstm", "rate_rnn"])
def test_other_cells_take_the_general_path(name, x64):
    cell = cells.CELLS[name](2, 3, tau=0.5, bias_std=0.2, key=1)
    assert not gated_euler.has_hand_written_derivative(cell)
    case = (cell, jnp.asarray(RNG.normal(size=(4, 9, 2))), jnp.zeros((4, cell.state_size)), jnp.full((4, 9), 0.2))
    states, reference = states_and_gradients(plain_loop, case)
    found, gradient = states_and_gradients(by_hand, case)
    np.testing.assert_allclose(found, states, rtol=1e-12)
    assert_close(gradient, reference, 1e-10)


def test_a_grid_of_networks_by_vmap(x64):
    """The hand-written derivative also works with the leading axis of members of a sweep."""
    members = [cells.gnode(2, 3, widths=(6,), tau=0.5, key=seed) for seed in range(3)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *members)
    xs, h0, dt = jnp.asarray(RNG.normal(size=(4, 9, 2))), jnp.zeros((4, 3)), jnp.full((4, 9), 0.2)

    def loss(cell):
        return jnp.sum(rollout_batch(cell, xs, h0, dt, EULER) ** 2)

    together, alone = jax.jit(jax.vmap(jax.grad(loss)))(stacked), jax.jit(jax.grad(loss))
    for index, member in enumerate(members):
        for ours, theirs in zip(jax.tree.leaves(together), jax.tree.leaves(alone(member)), strict=True):
            np.testing.assert_allclose(ours[index], theirs, rtol=1e-10, atol=1e-12)


def test_slopes_from_values(x64):
    x = jnp.asarray(np.append(RNG.normal(size=50) * 3, 0.0))

    @jax.jit
    def slopes(x):
        return {name: (SLOPES[name](activation(name)(x)), jax.vmap(jax.grad(activation(name)))(x)) for name in SLOPES}

    for name, (found, expected) in slopes(x).items():
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=name)


def test_wide_layers_and_many_trials_take_the_plain_loop_on_a_cpu(x64, monkeypatch):
    """Both implementations give the same numbers."""
    case = random_case(2)
    reference = gradients(plain_loop, case)
    monkeypatch.setattr(gated_euler, "NARROW", 0)
    monkeypatch.setattr(gated_euler, "SMALL", 0)
    assert not gated_euler.pays(case[0], trials=1)
    assert_close(gradients(by_hand, case), reference, 1e-10)
