"""The fused kernel in Pallas' interpreter against automatic differentiation of a plain loop."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gated_cases import (
    assert_close,
    gradients,
    kernels_for_a_gpu,
    plain_loop,
    random_case,
    states_and_gradients,
)

import gnode
from gnode import cells, errors, tasks
from gnode.solve import PRODUCTS, Solver, rollout_batch
from gnode.solve.gpu import choice, fused, fused_kernels

FUSED = Solver("euler", kernel="fused")


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Runs the kernels in the interpreter: these tests need no GPU."""
    monkeypatch.setattr(choice, "INTERPRET", True)


def by_kernel(cell, xs, h0, dt, solver=FUSED):
    return rollout_batch(cell, xs, h0, dt, solver, gradient_only=True)


def a_case(trials=5, bins=4, state=6, seed=0, **options):
    cell = cells.gnode(3, state, key=seed, **{"widths": (20, 20), **options})
    keys = jax.random.split(jax.random.key(seed), 2)
    return (
        cell,
        jax.random.normal(keys[0], (trials, bins, 3)),
        jax.random.normal(keys[1], (trials, state)),
        jnp.full((trials, bins), 0.3),
    )


@pytest.mark.parametrize("seed", [*range(1), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 24))])
def test_values_and_gradients_over_random_shapes(seed):
    case = random_case(seed, jnp.float32)
    states, reference = states_and_gradients(plain_loop, case)
    found, gradient = states_and_gradients(by_kernel, case)
    np.testing.assert_allclose(found, states, rtol=2e-5, atol=2e-6)
    assert_close(gradient, reference, 1e-5)


@pytest.mark.slow
def test_results_do_not_depend_on_the_tiling(monkeypatch):
    case = a_case(trials=37)
    found = []
    for tile in (16, 64):
        monkeypatch.setattr(fused_kernels, "TILE", tile)
        found.append(states_and_gradients(by_kernel, case))
    for states, gradient in found[1:]:
        np.testing.assert_allclose(states, found[0][0], rtol=1e-6, atol=1e-7)
        assert_close(gradient, found[0][1], 1e-6)


def test_weights_that_do_not_stay_on_the_chip_are_read_again(monkeypatch):
    case = a_case()
    staying = gradients(by_kernel, case)
    monkeypatch.setattr(fused_kernels, "ON_CHIP", 3000)
    assert_close(gradients(by_kernel, case), staying, 1e-7)


def test_the_state_and_the_input_may_need_a_larger_power_of_two_than_the_state_alone():
    case = a_case(state=16)
    assert_close(gradients(by_kernel, case), gradients(plain_loop, case), 1e-5)


def test_coarse_products_are_coarse_and_no_more_than_that():
    def coarse(*case):
        return by_kernel(*case, solver=Solver(kernel="fused", products="bfloat16"))

    case = a_case(bins=20, trials=10)
    exact, found = (
        jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(gradients(f, case))]) for f in (plain_loop, coarse)
    )
    error = float(jnp.linalg.norm(found - exact) / jnp.linalg.norm(exact))
    assert 1e-4 < error < 2e-2


def test_a_group_of_networks_is_one_call():
    cases = [a_case(seed=seed) for seed in range(2)]
    values = jax.tree.map(lambda *all: jnp.stack(all), *(eqx.filter(case[0], eqx.is_inexact_array) for case in cases))
    cell, xs, h0, dt = cases[0]

    def gradient(values):
        return jax.grad(lambda values: jnp.sum(by_kernel(eqx.combine(values, cell), xs, h0, dt) ** 2))(values)

    together, of_one = jax.jit(jax.vmap(gradient))(values), jax.jit(gradient)
    alone = [of_one(eqx.filter(case[0], eqx.is_inexact_array)) for case in cases]
    assert_close(together, jax.tree.map(lambda *all: jnp.stack(all), *alone), 1e-6)


@pytest.mark.slow
def test_checkpointed_memory_gives_the_same_gradient():
    case = a_case(bins=11)
    checkpointed = Solver(kernel="fused", memory="checkpoint")
    assert_close(gradients(lambda *case: by_kernel(*case, solver=checkpointed), case), gradients(by_kernel, case), 1e-5)


@pytest.mark.parametrize("products", PRODUCTS)
@pytest.mark.parametrize("state", [6, 100])
def test_the_kernel_is_translated_for_a_gpu(products, state):
    """One kernel forwards and one backwards."""
    case = a_case(state=state, widths=(100, 100, 100))
    assert kernels_for_a_gpu(fused.fused_euler, *case, products) == 2


WRONG = {
    "wide layer": (cells.gnode(3, 6, widths=(200,), key=0), "at most 128 units, not 200"),
    "large state": (cells.gnode(3, 125, widths=(20,), key=0), "at most 127 units and inputs together, not 128"),
    "gru": (cells.gru(3, 6, key=0), "gated family only"),
    "activation": (cells.gnode(3, 6, widths=(20,), hidden="gelu", key=0), "whose value determines their slope"),
}


@pytest.mark.parametrize(("cell", "says"), WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_refused_or_takes_the_loop(cell, says):
    assert not fused.fits(cell, jnp.float32)
    xs, h0, dt = jnp.ones((2, 4, 3)), jnp.zeros((2, cell.state_size)), jnp.ones((2, 4))
    with pytest.raises(errors.ArgumentError, match=says):
        by_kernel(cell, xs, h0, dt)
    assert np.all(np.isfinite(by_kernel(cell, xs, h0, dt, Solver(cell.default_method))))


def test_doubles_are_refused():
    assert "float64" in fused.why_not(a_case()[0], jnp.float64)


def test_without_a_gradient_no_layer_is_written():
    """Validation runs all trials at once; the values of all layers would need many times the memory of the states."""
    cell, xs, h0, dt = a_case()
    values, structure = eqx.partition(cell, eqx.is_inexact_array)
    states, kept = fused._run_forward(structure, "tf32", True, values, h0, jnp.swapaxes(xs, 0, 1), dt.T, store=False)
    assert kept[-1] == fused.Layers([], [])
    np.testing.assert_allclose(states, jnp.swapaxes(plain_loop(cell, xs, h0, dt), 0, 1), rtol=2e-5, atol=2e-6)


def test_a_gpu_that_cannot_run_it_uses_the_loop(monkeypatch):
    """Without a GPU the attempt fails, which gives a warning and the loop."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(fused, "OLDEST", 0.0)
    fused._runs_here.cache_clear()
    with pytest.warns(UserWarning, match="uses the compiled loop"):
        assert not fused.is_chosen_here()
    fused._runs_here.cache_clear()


def test_full_precision_asks_for_the_loop(monkeypatch):
    monkeypatch.setattr(fused, "_runs_here", lambda: True)
    assert fused.is_chosen_here()
    with jax.default_matmul_precision("highest"):
        assert not fused.is_chosen_here()
    with jax.default_device(jax.devices("cpu")[0]):
        assert not fused.is_chosen_here()


def test_other_integrators_are_refused():
    with pytest.raises(errors.ArgumentError, match="forward Euler"):
        by_kernel(*a_case(), solver=Solver("rk4", kernel="fused"))


def test_training_by_the_kernel_is_training_by_the_loop():
    task = tasks.make("flipflop-fixed", bits=2, trials=20, validation=10, bins=20)
    losses = {}
    for kernel in ("loop", "fused"):
        net = gnode.build(
            "gnode", task.inputs, task.outputs, state=2, widths=(16,), tau=0.01, solver={"kernel": kernel}, key=0
        )
        losses[kernel] = gnode.fit(net, task, epochs=3, batch_size=10, lr=1e-2, key=0, progress=False).curves[
            "validation"
        ]
    np.testing.assert_allclose(losses["fused"], losses["loop"], rtol=1e-4)
    assert losses["loop"][-1] < losses["loop"][0]


def test_a_network_that_trains_by_the_kernel_still_has_all_derivatives():
    net = gnode.build("gnode", 3, 2, state=4, widths=(16,), tau=1.0, solver={"kernel": "fused"}, key=0)
    xs, dt = jnp.ones((1, 5, 3)), jnp.ones((1, 5))
    loss = jax.grad(lambda h: jnp.sum(net.batch(xs, dt, h[None]).outputs ** 2))
    hessian = jax.jit(jax.jacfwd(loss))(jnp.zeros(4))
    assert hessian.shape == (4, 4)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-5)


def test_the_kernel_can_be_tried_out_in_the_middle_of_a_trace():
    """The kernel is chosen while training is being traced; the attempt must not become part of that trace."""

    def traced(x):
        fused.try_out(interpret=True)
        return x**2

    assert jax.jit(jax.vmap(jax.grad(traced)))(jnp.ones(2)).tolist() == [2.0, 2.0]
