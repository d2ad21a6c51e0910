"""The batch's gradient is the gradient: against autodiff through a vmapped rollout, for every cell."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gnode import cells, rollout
from gnode.solve import Solver, rollout_batch

RNG = np.random.default_rng(0)
SMALL = {"gnode": {"widths": (6, 5), "gate_widths": (4,)}, "node": {"widths": (6,)}}
CASES = [(name, {}) for name in cells.CELLS] + [("gru", {"learn_tau": "per_unit"}), ("gnode", {"learn_tau": "shared"})]


def autodiff(cell, xs, h0, dt, solver):
    return jax.vmap(lambda xs, h0, dt: rollout(cell, xs, h0, dt=dt, method=solver))(xs, h0, dt)


def value_and_gradients(run, cell, xs, h0, dt, weights, solver):
    def loss(arguments):
        return jnp.sum(jnp.tanh(run(*arguments, solver)) * weights)

    return eqx.filter_value_and_grad(loss)((cell, xs, h0, dt))


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda part: str(part))
def test_states_and_gradients_are_those_of_autodiff(name, options, x64):
    cell = cells.CELLS[name](2, 3, tau=0.5, bias_std=0.2, key=1, **SMALL.get(name, {}), **options)
    xs, h0 = jnp.asarray(RNG.normal(size=(4, 9, 2))), jnp.asarray(RNG.normal(size=(4, cell.state_size)))
    dt = jnp.asarray(RNG.uniform(0.05, 0.3, (4, 9)))
    weights = jnp.asarray(RNG.normal(size=(4, 9, cell.state_size)))
    arguments = (cell, xs, h0, dt, weights, Solver("euler"))
    (fast, fast_bar), (plain, plain_bar) = (value_and_gradients(run, *arguments) for run in (rollout_batch, autodiff))
    assert float(fast) == pytest.approx(float(plain), rel=1e-12)
    leaves = list(zip(jax.tree.leaves(fast_bar), jax.tree.leaves(plain_bar), strict=True))
    assert len(leaves) >= 6
    for ours, theirs in leaves:
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "solver",
    [
        Solver("heun"),
        Solver("euler", substeps=2),
        Solver("euler", interpolation="linear"),
        Solver("euler", memory="checkpoint"),
    ],
)
def test_other_solvers_take_the_general_path(solver, x64):
    cell = cells.gnode(2, 3, widths=(6,), tau=0.5, key=1)
    xs, h0, dt = jnp.asarray(RNG.normal(size=(4, 9, 2))), jnp.zeros((4, 3)), jnp.full((4, 9), 0.2)
    np.testing.assert_allclose(rollout_batch(cell, xs, h0, dt, solver), autodiff(cell, xs, h0, dt, solver), rtol=1e-12)


def test_float32_gradients_to_1e_5():
    cell = cells.gnode(3, 6, widths=(40, 40), tau=0.01, key=1)
    xs, h0 = jnp.asarray(RNG.normal(size=(8, 50, 3)), jnp.float32), jnp.zeros((8, 6))
    dt = jnp.full((8, 50), 0.01)
    arguments = (cell, xs, h0, dt, jnp.ones((8, 50, 6)), Solver("euler"))
    fast, plain = (value_and_gradients(run, *arguments)[1] for run in (rollout_batch, autodiff))
    for ours, theirs in zip(jax.tree.leaves(fast), jax.tree.leaves(plain)):
        assert float(jnp.linalg.norm(ours - theirs)) <= 1e-5 * float(jnp.linalg.norm(theirs)) + 1e-7


def test_a_grid_of_networks_by_vmap(x64):
    """The leading axis of a sweep's group goes through the hand-written gradient as well."""
    members = [cells.gnode(2, 3, widths=(6,), tau=0.5, key=seed) for seed in range(3)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *members)
    xs, h0, dt = jnp.asarray(RNG.normal(size=(4, 9, 2))), jnp.zeros((4, 3)), jnp.full((4, 9), 0.2)

    def loss(cell):
        return jnp.sum(rollout_batch(cell, xs, h0, dt, Solver("euler")) ** 2)

    together = jax.vmap(jax.grad(loss))(stacked)
    for index, member in enumerate(members):
        for ours, theirs in zip(jax.tree.leaves(together), jax.tree.leaves(jax.grad(loss)(member)), strict=True):
            np.testing.assert_allclose(ours[index], theirs, rtol=1e-10, atol=1e-12)
