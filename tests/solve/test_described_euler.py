"""The gradient for training by flat products against JAX's of the loop over single trials, for every described cell."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gated_cases import assert_close, gradients, random_case, states_and_gradients

from gnode import cells
from gnode.solve import Solver, advance, rollout_batch
from gnode.solve import _described_euler as described_euler

OTHERS = {
    "gru": lambda **options: cells.gru(2, 3, **options),
    "lstm": lambda **options: cells.lstm(2, 3, **options),
    "lem": lambda **options: cells.lem(2, 3, **options),
    "lem without gates": lambda **options: cells.lem(2, 3, gate=False, **options),
    "gelu": lambda **options: cells.gnode(2, 3, widths=(4, 5), hidden="gelu", final="sin", **options),
}
LEARN_TAU = ("no", "shared", "per_unit")


def for_training(method="euler", **options):
    return lambda *case: rollout_batch(*case, Solver(method, **options), gradient_only=True)


def one_by_one(method="euler"):
    """The reference: the steps of single trials in a `lax.scan`, differentiated by JAX."""

    def run(cell, xs, h0, dt):
        step = jax.vmap(lambda h, x, length: advance(cell, h, (x, x, length), Solver(method)))

        def over_bin(h, bin):
            h = step(h, *bin)
            return h, h

        return jnp.swapaxes(jax.lax.scan(over_bin, h0, (jnp.swapaxes(xs, 0, 1), dt.T))[1], 0, 1)

    return run


def case_of(name, learn_tau="per_unit", seed=0, trials=4, bins=9):
    rng = np.random.default_rng(seed)
    cell = OTHERS[name](tau=0.5, bias_std=0.2, learn_tau=learn_tau, key=seed)
    arrays = rng.normal(size=(trials, bins, 2)), rng.normal(size=(trials, cell.state_size))
    return cell, *(jnp.asarray(part) for part in (*arrays, rng.uniform(0.1, 0.3, (trials, bins))))


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 30))])
def test_the_gated_family_over_random_shapes(seed, x64):
    case = random_case(seed)
    states, reference = states_and_gradients(one_by_one(), case)
    found, gradient = states_and_gradients(for_training(), case)
    np.testing.assert_allclose(found, states, rtol=1e-11, atol=1e-12)
    assert_close(gradient, reference, 1e-10)


@pytest.mark.parametrize("name", OTHERS)
def test_other_cells(name, x64):
    """With each kind of tau; one program for all of them."""
    methods = ("euler", "forward_backward_euler") if name.startswith("lem") else ("euler",)
    cases = [(method, case_of(name, learn_tau)) for method in methods for learn_tau in LEARN_TAU]

    @eqx.filter_jit
    def both(cases):
        return [
            [states_and_gradients(run(method), case) for run in (one_by_one, for_training)] for method, case in cases
        ]

    for (states, reference), (found, gradient) in both(cases):
        np.testing.assert_allclose(found, states, rtol=1e-11, atol=1e-12)
        assert_close(gradient, reference, 1e-10)


def test_float32_gradients_to_1e_5():
    drawn = [cells.gnode(3, 6, widths=(40, 40), tau=0.01, key=0), cells.lstm(3, 6, tau=0.01, key=0)]
    xs = jnp.asarray(np.random.default_rng(0).normal(size=(8, 50, 3)), jnp.float32)
    for cell in drawn:
        case = cell, xs, jnp.zeros((8, cell.state_size)), jnp.full((8, 50), 0.01)
        assert_close(gradients(for_training(), case), gradients(one_by_one(), case), 1e-5)


def test_checkpointing_changes_no_gradient(x64):
    case = case_of("lstm")
    assert_close(gradients(for_training(memory="checkpoint"), case), gradients(for_training(), case), 1e-11)


def test_a_grid_of_networks_by_vmap(x64):
    members = [case_of("lem", seed=seed)[0] for seed in range(3)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *members)
    rest = case_of("lem")[1:]

    def loss(cell):
        return jnp.sum(for_training("forward_backward_euler")(cell, *rest) ** 2)

    together, alone = jax.jit(jax.vmap(jax.grad(loss)))(stacked), jax.jit(jax.grad(loss))
    for index, member in enumerate(members):
        for ours, theirs in zip(jax.tree.leaves(together), jax.tree.leaves(alone(member)), strict=True):
            np.testing.assert_allclose(ours[index], theirs, rtol=1e-10, atol=1e-12)


def test_gradients_for_states_inputs_and_lengths_only(x64):
    """No weight is differentiated: the products that only their gradients need are not there to fail."""
    cell, *rest = case_of("gru")
    found, reference = (
        jax.jit(jax.grad(lambda rest, run=run: jnp.sum(jnp.sin(run(cell, *rest)))))(rest)
        for run in (for_training(), one_by_one())
    )
    for mine, theirs in zip(found, reference, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)


class Slower(cells.GRU):
    """A cell of a user's: it has the weights of a GRU and another vector field."""

    def vector_field(self, h, x):
        return super().vector_field(h, x) / 2


def test_a_subclass_and_other_solvers_take_the_general_path(x64):
    cell, *rest = case_of("gru")
    slower = Slower(**{name: getattr(cell, name) for name in ("W", "U", "b", "c", "timescale", "inputs", "units")})
    assert described_euler.is_described(cell, Solver("euler"))
    assert not described_euler.is_described(slower, Solver("euler"))
    for solver in (Solver("heun"), Solver("euler", substeps=2), Solver("euler", interpolation="linear")):
        assert not described_euler.is_described(cell, solver)
    assert not described_euler.is_described(cells.rate_rnn(2, 3, key=0), Solver("euler"))
    assert_close(gradients(for_training(), (slower, *rest)), gradients(one_by_one(), (slower, *rest)), 1e-10)


def test_only_what_is_needed_is_kept():
    """A relu's value, not its pre-activation beside it; for the LSTM nothing but the pre-activations."""
    from gnode.solve.gpu.cell_steps import step_of

    def plan_of(cell):
        step, weights = step_of(cell, "euler")
        return described_euler._Plan(step, tuple(described_euler._blocks(step, weights)))

    gated = plan_of(cells.gnode(2, 3, widths=(4, 5), key=0))
    assert [gated.kept_groups(block) for block in gated.blocks] == [["G0"], [], ["F2"]]
    assert [gated.is_stored(block) for block in gated.blocks] == [False, True, True]
    lstm = plan_of(cells.lstm(2, 3, key=0))
    assert [lstm.kept_groups(block) for block in lstm.blocks] == [["i", "f", "g", "o"]]
    assert not lstm.is_stored(lstm.blocks[0])
