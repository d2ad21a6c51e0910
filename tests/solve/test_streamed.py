"""The streamed kernel in Pallas' interpreter against the compiled loop, for every kind of cell."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gated_cases import assert_close, gradients, kernels_for_a_gpu, random_case, states_and_gradients

import gnode
from gnode import cells, errors, tasks
from gnode.solve import Solver, rollout_batch
from gnode.solve.gpu import choice, streamed, streamed_kernels
from gnode.solve.gpu.side_by_side import side_by_side

SMALL = {"bias_std": 0.1, "key": 0}
CELLS = {
    "gnode": cells.gnode(3, 20, widths=(40, 24), hidden="tanh", **SMALL),
    "node": cells.node(3, 20, widths=(40,), hidden="gelu", final="tanh", learn_tau="per_unit", **SMALL),
    "deep gate": cells.gnode(3, 20, widths=(40,), gate_widths=(24,), hidden="tanh", **SMALL),
    "gru": cells.gru(3, 20, **SMALL),
    "lstm": cells.lstm(3, 20, learn_tau="shared", **SMALL),
    "lem": cells.lem(3, 20, learn_tau="per_unit", **SMALL),
    "lem without gates": cells.lem(3, 20, gate=False, **SMALL),
}
QUICK = [("gru", "euler"), ("lem", "forward_backward_euler")]
SLOW = [(name, cell.default_method) for name, cell in CELLS.items() if name not in ("gru", "lem")] + [("lem", "euler")]
CASES = QUICK + [pytest.param(*case, marks=pytest.mark.slow) for case in SLOW]


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Runs the kernels in the interpreter: these tests need no GPU."""
    monkeypatch.setattr(choice, "INTERPRET", True)


def a_case(cell, trials=7, bins=5):
    keys = jax.random.split(jax.random.key(1), 3)
    xs, h0 = jax.random.normal(keys[0], (trials, bins, 3)), jax.random.normal(keys[1], (trials, cell.state_size))
    return cell, xs, h0, jax.random.uniform(keys[2], (trials, bins))


def by(kernel, method):
    return lambda *case: rollout_batch(*case, Solver(method, kernel=kernel), gradient_only=True)


@pytest.fixture
def in_small_exact_blocks(monkeypatch):
    """Several blocks and tiles for a small network, and products of full precision."""
    for name, size in (("BLOCK", 16), ("DEPTH", 8), ("TILES", (16,))):
        monkeypatch.setattr(streamed, name, size)
    monkeypatch.setattr(streamed, "FACTORS", {"tf32": jnp.float32, "bfloat16": jnp.bfloat16})
    monkeypatch.setattr(streamed_kernels, "AT_ONCE", 2)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_values_and_gradients_are_the_loops(name, method, in_small_exact_blocks):
    compare_with_the_loop(a_case(CELLS[name]), method)


def compare_with_the_loop(case, method):
    states, reference = states_and_gradients(by("loop", method), case)
    found, gradient = states_and_gradients(by("streamed", method), case)
    np.testing.assert_allclose(found, states, rtol=2e-5, atol=2e-6)
    assert_close(gradient, reference, 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_values_and_gradients_over_random_shapes(seed, in_small_exact_blocks):
    compare_with_the_loop(random_case(seed, jnp.float32), "euler")


def test_more_trials_than_fit_are_taken_one_slab_after_another(monkeypatch):
    case = a_case(CELLS["gru"], trials=7)
    at_once = gradients(by("streamed", "euler"), case)
    monkeypatch.setattr(streamed, "SLAB", 3)  # three slabs of three trials; the last one holds two trials of padding
    states, gradient = states_and_gradients(by("streamed", "euler"), case)
    assert_close(gradient, at_once, 1e-3)
    np.testing.assert_allclose(states, jax.jit(by("loop", "euler"))(*case), rtol=1e-3, atol=1e-3)


def test_factors_of_16_bits_are_as_coarse_as_they_are_and_no_more():
    case = a_case(CELLS["gru"], trials=20, bins=20)
    exact, found = (
        jnp.concatenate([leaf.ravel() for leaf in jax.tree.leaves(gradients(by(kernel, "euler"), case))])
        for kernel in ("loop", "streamed")
    )
    error = float(jnp.linalg.norm(found - exact) / jnp.linalg.norm(exact))
    assert 1e-6 < error < 1e-3


def test_tiny_and_huge_cotangents_stay_within_16_bits():
    cell, xs, h0, dt = a_case(CELLS["gru"])

    @jax.jit
    def gradient(scale):
        return jax.grad(lambda h: scale * jnp.sum(jnp.sin(by("streamed", "euler")(cell, xs, h, dt))))(h0)

    for scale in (2.0**-40, 2.0**40):
        np.testing.assert_allclose(gradient(scale) / scale, gradient(1.0), rtol=1e-4, atol=1e-6)
    assert not np.any(gradient(0.0))


@pytest.mark.slow
def test_a_group_of_networks_is_one_call(in_small_exact_blocks):
    networks = [cells.gru(3, 20, key=seed) for seed in range(2)]
    _, xs, h0, dt = a_case(networks[0])
    values = jax.tree.map(lambda *all: jnp.stack(all), *(eqx.filter(cell, eqx.is_inexact_array) for cell in networks))

    def gradient(values):
        run = by("streamed", "euler")
        return jax.grad(lambda values: jnp.sum(run(eqx.combine(values, networks[0]), xs, h0, dt) ** 2))(values)

    of_one = jax.jit(gradient)
    alone = [of_one(eqx.filter(cell, eqx.is_inexact_array)) for cell in networks]
    for mine, theirs in zip(
        jax.tree.leaves(jax.jit(jax.vmap(gradient))(values)),
        jax.tree.leaves(jax.tree.map(lambda *all: jnp.stack(all), *alone)),
        strict=True,
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("name", "method"), CASES)
def test_the_kernel_is_translated_for_a_gpu(name, method):
    """One kernel forwards and one backwards."""
    assert kernels_for_a_gpu(streamed.streamed_euler, *a_case(CELLS[name]), method) == 2


def test_each_trial_has_its_own_scale():
    """The gradient of a trial with a weight of 1e-4 is as precise as if it were alone."""
    cell, xs, h0, dt = a_case(CELLS["gru"])
    weight = jnp.where(jnp.arange(len(h0)) == 0, 1e-4, 1.0)

    def gradient(kernel):
        run = by(kernel, "euler")

        def loss(h):
            return jnp.sum(weight[:, None] * jnp.sum(jnp.sin(run(cell, xs, h, 0.1 * dt)), axis=1))

        return jax.jit(jax.grad(loss))(h0)

    np.testing.assert_allclose(gradient("streamed")[0], gradient("loop")[0], rtol=3e-3, atol=1e-7)


def test_a_state_that_leaves_all_bounds_is_not_kept_within_them():
    grows = cells.node(3, 4, widths=(), key=0)
    grows = eqx.tree_at(lambda cell: cell.F.W[0], grows, 1e3 * jnp.eye(4))
    case = a_case(grows, bins=12)
    assert not np.all(np.isfinite(by("streamed", "euler")(*case)[:, -1]))


class OtherField(cells.Gated):
    def vector_field(self, h, x):
        return -h


class OtherLEM(cells.LEM):
    def fields_of_blocks(self, h, x):
        speed_z, speed_y = super().fields_of_blocks(h, x)
        return 2 * speed_z, speed_y


def as_a(kind, cell):
    return kind(**{name: getattr(cell, name) for name in cell.__dataclass_fields__})


REFUSED = {
    "activate_state": (cells.rate_rnn(3, 6, key=0), "euler", "activate_state"),
    "a cell of one's own": (as_a(OtherField, cells.gnode(3, 6, widths=(8,), key=0)), "euler", "not OtherField"),
    "another LEM": (as_a(OtherLEM, cells.lem(3, 6, key=0)), "euler", "not OtherLEM"),
    "rk4": (CELLS["gru"], "rk4", "by euler only, not by rk4"),
}


@pytest.mark.parametrize(("cell", "method", "says"), REFUSED.values(), ids=REFUSED)
def test_what_it_does_not_support_is_refused_or_takes_the_loop(cell, method, says):
    case = a_case(cell)
    with pytest.raises(errors.ArgumentError, match=says):
        by("streamed", method)(*case)
    np.testing.assert_allclose(by("auto", method)(*case), one_by_one(*case, method), rtol=1e-5, atol=1e-6)


def one_by_one(cell, xs, h0, dt, method):
    """Integrates bin by bin with the cell's vector field."""
    if method == "rk4":
        return by("loop", method)(cell, xs, h0, dt)
    states = []
    for bin in range(xs.shape[1]):
        h0 = h0 + dt[:, bin, None] * jax.vmap(cell.vector_field)(h0, xs[:, bin])
        states.append(h0)
    return jnp.stack(states, axis=1)


def test_it_computes_in_single_precision_one_step_per_bin():
    assert "float64" in streamed.why_not(CELLS["gru"], "euler", jnp.float64)
    with pytest.raises(errors.ArgumentError, match="one per bin"):
        rollout_batch(*a_case(CELLS["gru"]), Solver("euler", kernel="streamed", substeps=2), gradient_only=True)


def test_a_kernel_that_cannot_train_a_network_leaves_no_folder(tmp_path):
    task = tasks.make("flipflop-fixed", bits=2, trials=4, validation=2, bins=5)
    net = gnode.build(
        "lstm", task.inputs, task.outputs, state=3, tau=0.01, method="rk4", solver={"kernel": "streamed"}, key=0
    )
    with pytest.raises(errors.ArgumentError, match="not by rk4"):
        gnode.fit(net, task, epochs=1, key=0, out=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_training_by_the_kernel_is_training_by_the_loop():
    task = tasks.make("flipflop-fixed", bits=2, trials=20, validation=10, bins=20)
    losses = {}
    for kernel in ("loop", "streamed"):
        net = gnode.build("gru", task.inputs, task.outputs, state=6, tau=0.01, solver={"kernel": kernel}, key=0)
        run = gnode.fit(net, task, epochs=3, batch_size=10, lr=1e-2, key=0, progress=False)
        losses[kernel] = run.curves["validation"]
    np.testing.assert_allclose(losses["streamed"], losses["loop"], rtol=1e-3)
    assert losses["loop"][-1] < losses["loop"][0]


def test_without_a_gpu_the_loop_takes_its_place(monkeypatch):
    monkeypatch.setattr(choice, "INTERPRET", False)
    assert choice.kernel_for(CELLS["gru"], Solver("euler", kernel="streamed"), jnp.float32) is None
    case = a_case(CELLS["gru"], trials=3)
    np.testing.assert_array_equal(by("streamed", "euler")(*case), by("loop", "euler")(*case))
    with pytest.raises(errors.ArgumentError, match="integrates this cell by euler only"):
        choice.kernel_for(CELLS["gru"], Solver("rk4", kernel="streamed"), jnp.float32)


@pytest.mark.parametrize(
    ("widths", "networks", "trials", "pays"),
    [
        ((316, 316), 27, 256, True),
        ((512,), 27, 256, True),
        ((513,), 27, 256, False),  # too wide: the loop is as fast
        ((316, 316), 1, 256, False),  # one network does not fill the chip
        ((316, 316), 4, 256, True),
        ((316, 316), 2, 16, False),  # nor do two with a few trials
    ],
)
def test_by_itself_it_is_taken_where_several_wide_networks_fill_the_chip(widths, networks, trials, pays, monkeypatch):
    cell, taken = cells.gnode(3, 20, widths=widths, key=0), []
    monkeypatch.setattr(choice.fused, "is_chosen_here", lambda: True)
    monkeypatch.setattr(choice.streamed, "streamed_euler", lambda *given, **how: taken.append(given[0]))
    with side_by_side(networks):
        assert streamed.pays(cell, trials) == pays
        kernel = choice.kernel_for(cell, Solver(), jnp.float32, trials)
    assert (kernel is not None) == pays
    if kernel is not None:
        kernel(cell)(jnp.zeros((trials, 20)), (jnp.zeros((5, trials, 3)), jnp.zeros((5, trials))))
        assert taken == [cell]


def test_by_itself_it_is_not_taken_for_cells_that_were_not_compared(monkeypatch):
    monkeypatch.setattr(choice.fused, "is_chosen_here", lambda: True)
    with side_by_side(27):
        assert choice.kernel_for(cells.gru(3, 316, key=0), Solver(), jnp.float32, 256) is None
