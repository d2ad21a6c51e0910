"""The GPU kernels compiled for a real GPU, and what is built on them. Run them with `make test-gpu`."""

import os
import shutil

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

if os.environ.get("GNODE_TEST_GPU") != "1":
    pytest.skip("GNODE_TEST_GPU is not 1: these tests need a GPU (make test-gpu)", allow_module_level=True)
if jax.default_backend() != "gpu":
    pytest.skip(f"jax computes on the {jax.default_backend()}, not on a GPU", allow_module_level=True)

from gnode import Solver, build, cells, fit, resume_sweep, sweep, tasks
from gnode.solve import PRODUCTS, rollout, rollout_at_once, rollout_batch, rollout_batch_at_once
from gnode.solve.gpu import choice, fused
from gnode.solve.parallel import goes_at_once

SMALL = {"bias_std": 0.1, "key": 0}
FUSED = {
    "gnode": cells.gnode(3, 20, widths=(100, 100), hidden="tanh", **SMALL),
    "node": cells.node(3, 20, widths=(40,), hidden="tanh", learn_tau="per_unit", **SMALL),
    "deep gate": cells.gnode(3, 6, widths=(40,), gate_widths=(24,), hidden="tanh", leak=False, tau=2.0, **SMALL),
}
STREAMED = {
    "wide gnode": cells.gnode(3, 40, widths=(300,), hidden="tanh", **SMALL),
    "gru": cells.gru(3, 100, **SMALL),
    "lstm": cells.lstm(3, 40, learn_tau="shared", **SMALL),
    "lem": cells.lem(3, 100, learn_tau="per_unit", **SMALL),
    "lem without gates": cells.lem(3, 20, gate=False, **SMALL),
}
TOLERANCES = {"tf32": 1e-2, "bfloat16": 5e-2}
"""The maximum relative errors of states and gradients."""


def states_and_gradients(cell, solver, trials=37, bins=20):
    """The states of random trials, and the gradient of a loss of them for the cell, the inputs, the states and dt."""
    rng = np.random.default_rng(0)
    sizes = (trials, bins, 3), (trials, cell.state_size), (trials, bins)
    xs, h0, dt = (jnp.asarray(rng.normal(size=size), jnp.float32) for size in sizes)
    weight = jnp.asarray(rng.normal(size=(trials, bins, cell.state_size)), jnp.float32)

    def loss(given):
        states = rollout_batch(*given, solver, gradient_only=True)
        return jnp.mean(weight * states), states

    given = (cell, xs, h0, 0.1 + 0.1 * jnp.abs(dt))
    gradient, states = eqx.filter_jit(eqx.filter_grad(loss, has_aux=True))(given)
    return np.asarray(states), np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(gradient)])


def relative_error(found, exact):
    return np.linalg.norm(found - exact) / np.linalg.norm(exact)


def compare_with_the_loop(cell, kernel, products):
    method = cell.default_method
    with jax.default_matmul_precision("highest"):
        exact = states_and_gradients(cell, Solver(method, kernel="loop"))
    found = states_and_gradients(cell, Solver(method, kernel=kernel, products=products))
    for mine, theirs in zip(found, exact, strict=True):
        assert np.all(np.isfinite(mine))
        assert relative_error(mine, theirs) < TOLERANCES[products]


@pytest.mark.parametrize("products", PRODUCTS)
@pytest.mark.parametrize("name", FUSED)
def test_the_fused_kernel_agrees_with_the_loop(name, products):
    compare_with_the_loop(FUSED[name], "fused", products)


@pytest.mark.parametrize("products", PRODUCTS)
@pytest.mark.parametrize("name", [*FUSED, *STREAMED])
def test_the_streamed_kernel_agrees_with_the_loop(name, products):
    compare_with_the_loop((FUSED | STREAMED)[name], "streamed", products)


def test_more_trials_than_a_slab_of_the_streamed_kernel():
    cell = STREAMED["gru"]
    with jax.default_matmul_precision("highest"):
        exact = states_and_gradients(cell, Solver(kernel="loop"), trials=300, bins=5)
    found = states_and_gradients(cell, Solver(kernel="streamed"), trials=300, bins=5)
    assert max(map(relative_error, found, exact)) < TOLERANCES["tf32"]


def test_auto_chooses_the_fused_kernel_on_hopper():
    is_recent = float(jax.devices()[0].compute_capability) >= fused.OLDEST
    kernel = choice.kernel_for(FUSED["gnode"], Solver(), jnp.float32)
    assert fused.is_chosen_here() == is_recent
    assert (kernel is not None) == is_recent
    assert choice.kernel_for(STREAMED["wide gnode"], Solver(), jnp.float32) is None
    with jax.default_matmul_precision("highest"):
        assert choice.kernel_for(FUSED["gnode"], Solver(), jnp.float32) is None


@pytest.mark.parametrize(("model", "kernel"), [("gnode", "fused"), ("gnode", "streamed"), ("lem", "streamed")])
def test_training_by_the_kernel_agrees_with_training_by_the_loop(model, kernel):
    task = tasks.make("flipflop-fixed", bits=2, trials=40, validation=20, bins=30)
    widths = {"widths": (32,)} if model == "gnode" else {}
    curves = {}
    for chosen in ("loop", kernel):
        net = build(model, task.inputs, task.outputs, state=6, tau=0.01, solver={"kernel": chosen}, key=0, **widths)
        run = fit(net, task, epochs=4, batch_size=10, lr=1e-2, key=0, progress=False)
        curves[chosen] = run.curves["validation"]
    np.testing.assert_allclose(curves[kernel], curves["loop"], rtol=1e-2)
    assert curves["loop"][-1] < curves["loop"][0]


AT_ONCE = {
    "gnode": cells.gnode(3, 6, widths=(100, 100), **SMALL),
    "gru": cells.gru(3, 16, tau=0.3, **SMALL),
    "lstm": cells.lstm(3, 8, tau=0.3, **SMALL),
    "lem": cells.lem(3, 20, tau=0.3, **SMALL),
    "wide gnode": cells.gnode(3, 80, widths=(100,), **SMALL),  # diagonals of its Jacobians
}


@pytest.mark.parametrize("name", AT_ONCE)
def test_all_bins_at_once_agree_with_the_loop(name):
    """In float32, whatever precision products have by default: TF32 would keep the rounds from converging."""
    cell = AT_ONCE[name]
    with jax.default_matmul_precision("highest"):
        exact = states_and_gradients(cell, Solver(cell.default_method, kernel="loop", time="loop"), trials=4, bins=60)
    found = states_and_gradients(cell, Solver(cell.default_method, time="parallel"), trials=4, bins=60)
    for mine, theirs in zip(found, exact, strict=True):
        assert relative_error(mine, theirs) < 1e-4
    xs, dt = jnp.ones((4, 60, 3)), jnp.full((4, 60), 0.1)
    how = rollout_batch_at_once(cell, xs, jnp.zeros((4, cell.state_size)), dt, Solver(cell.default_method))
    assert bool(how.converged)
    assert int(how.rounds) <= 12


def test_auto_computes_long_trials_of_small_networks_all_at_once():
    cell = AT_ONCE["gnode"]
    assert goes_at_once(cell, Solver(), 1, 1000)
    assert not goes_at_once(cell, Solver(), 1, 999)
    assert not goes_at_once(cell, Solver(), 100, 1000)
    assert not goes_at_once(AT_ONCE["gru"], Solver(), 1, 20_000)
    xs, h0, dt = jnp.ones((1, 2000, 3)), jnp.zeros((1, 6)), jnp.full((1, 2000), 0.1)
    with jax.default_matmul_precision("highest"):
        exact = rollout_batch(cell, xs, h0, dt, Solver(kernel="loop", time="loop"))
    found = rollout_batch(cell, xs, h0, dt, Solver(), gradient_only=True)
    assert relative_error(np.asarray(found), np.asarray(exact)) < 1e-5
    task = tasks.make("flipflop-fixed", bits=2, trials=4, validation=2, bins=1000)
    net = build("gnode", task.inputs, task.outputs, state=3, widths=(20,), tau=0.01, key=0)
    run = fit(net, task, epochs=3, batch_size=2, lr=1e-3, key=0, progress=False)
    assert (run.curves["by_loop"] == 0).all()
    assert run.curves["rounds"][-1] <= run.curves["rounds"][0]  # a warm start


def test_chaos_falls_back_to_the_loop_and_says_so():
    cell = cells.rate_rnn(2, 60, init="critical", tau=0.1, key=0)
    cell = eqx.tree_at(lambda cell: cell.F.W, cell, replace_fn=lambda W: tuple(4 * matrix for matrix in W))
    h0 = jax.random.normal(jax.random.key(1), (60,))
    found = rollout_at_once(cell, jnp.zeros((1000, 2)), h0, dt=0.1, jacobian="full")
    assert not bool(found.converged)
    assert np.all(np.isfinite(found.states))
    with jax.default_matmul_precision("highest"):
        loop = rollout(cell, jnp.zeros((1000, 2)), h0, dt=0.1, time="loop")
    assert (
        relative_error(np.asarray(found.states[:5]), np.asarray(loop[:5])) < 1e-4
    )  # before rounding errors have grown


def test_a_sweep_as_one_program_is_finite_and_resumes(tmp_path):
    small = {"trials": 20, "bins": 20, "widths": (16,), "epochs": 3, "batch_size": 10}
    done = sweep("flipflop-square", tmp_path / "sweep", engine="one_program", progress=False, seed=[0, 1, 2], **small)
    losses = [done.result(index)["best_loss"] for index in range(3)]
    assert np.all(np.isfinite(losses))
    shutil.rmtree(done.member_folder(1))
    again = resume_sweep(tmp_path / "sweep", engine="one_program", progress=False)
    assert again.done() == [0, 1, 2]
    np.testing.assert_allclose([again.result(index)["best_loss"] for index in range(3)], losses, rtol=1e-2)
