"""All bins at once: the same states and derivatives as the loop over bins, in a few rounds, or an honest fallback."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from at_once_cases import TIME, TRIALS, assert_same, compare, trials_for

from gnode import cells, errors
from gnode.cells import Cell
from gnode.solve import (
    Solver,
    _recurrence,
    parallel,
    rollout,
    rollout_at_once,
    rollout_batch,
    rollout_batch_at_once,
)
from gnode.solve._recurrence import solve_backwards, solve_recurrence
from gnode.solve.gpu.side_by_side import side_by_side


class Pendulums(Cell):
    """A user's own cell: damped pendulums, pushed by the input. The state holds angles, then velocities."""

    damping: jax.Array
    inputs: int = eqx.field(static=True, default=2)
    units: int = eqx.field(static=True, default=4)

    def vector_field(self, h, x):
        angle, velocity = h[:2], h[2:]
        return jnp.concatenate([velocity, -jnp.sin(angle) - jnp.exp(self.damping) * velocity + x])


CELLS = {
    "gnode": lambda: cells.gnode(2, 4, widths=(12,), tau=0.3, key=0),
    "rnn, a tau each": lambda: cells.rnn(2, 4, tau=[0.2, 0.3, 0.5, 1.0], learn_tau="per_unit", key=0),
    "gru": lambda: cells.gru(2, 4, tau=0.3, key=0),
    "lstm": lambda: cells.lstm(2, 4, tau=0.3, key=0),
    "lem": lambda: cells.lem(2, 4, tau=0.3, key=0),
    # Slow enough that no gradient explodes: where they do, the loop in float32 itself misses them by more than is allowed.
    "dale": lambda: cells.dale(2, 5, tau=1.0, key=0),
    "pendulums": lambda: Pendulums(jnp.zeros(2)),
}


FULL = [(name, "full", True) for name in CELLS]
DIAGONAL_OR_SINGLE = [("gnode", "diagonal", True), ("lem", "diagonal", True), ("lstm", "full", False)]


def compare_cell(name, jacobian, precise, seed=0):
    with jax.enable_x64(precise):
        cell = CELLS[name]()
        solver = Solver(cell.default_method, jacobian=jacobian)
        compare(cell, solver, trials_for(cell, seed), 1e-10 if precise else 1e-5)


@pytest.mark.parametrize(("name", "jacobian", "precise"), FULL + DIAGONAL_OR_SINGLE)
def test_states_and_gradients_are_the_loops(name, jacobian, precise):
    compare_cell(name, jacobian, precise)


@pytest.mark.slow
@pytest.mark.parametrize("precise", [False, True])
@pytest.mark.parametrize("jacobian", ["full", "diagonal"])
@pytest.mark.parametrize("name", CELLS)
def test_states_and_gradients_over_random_trials(name, jacobian, precise):
    for seed in range(1, 6):
        compare_cell(name, jacobian, precise, seed)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "rk4", "interpolation": "linear"},
        {"method": "midpoint", "interpolation": "linear", "substeps": 2},
        {"method": "euler", "interpolation": "linear", "substeps": 3},
    ],
)
def test_every_method_with_fixed_steps(options, x64):
    cell = CELLS["gnode"]()
    compare(cell, Solver(**options), trials_for(cell), 1e-10)


def test_noise_along_a_given_path(x64):
    cell = CELLS["gru"]()
    noise = 0.3 * jax.random.normal(jax.random.key(5), (TRIALS, TIME, 4))
    xs, h0, dt = trials_for(cell)
    given = xs, h0, dt + 0.1  # the size of a kick, sqrt(dt), has no derivative at zero
    compare(cell, Solver(), given, 1e-10, noise)


@pytest.mark.parametrize("options", [{"bins_at_once": 8}, {"memory": "checkpoint"}])
def test_chunks_of_bins_bound_the_memory_and_change_nothing(options, x64):
    cell = CELLS["gnode"]()
    compare(cell, Solver(time="parallel", **options), trials_for(cell), 1e-10)


def test_higher_derivatives_and_forward_mode(x64):
    cell = CELLS["gru"]()
    xs, h0, dt = trials_for(cell)

    def value(h0, solver):
        return jnp.sum(jnp.sin(rollout_batch(cell, xs, h0, dt, solver)))

    for derivative in (jax.hessian, jax.jacfwd):
        found, expected = (
            jax.jit(derivative(lambda h, s=s: value(h, s)))(h0) for s in (Solver(time="parallel"), Solver())
        )
        assert_same(found, expected, 1e-10)


def test_the_backward_pass_repeats_no_round():
    """The gradient is one linear recurrence: whatever the rounds, there is no loop in its program."""
    cell = CELLS["gnode"]()
    xs, h0, dt = trials_for(cell)
    _, backwards = jax.vjp(lambda h0: rollout_batch(cell, xs, h0, dt, Solver(time="parallel")), h0)
    program = jax.jit(backwards).lower(jnp.ones((TRIALS, TIME, 4))).compile().as_text()
    assert " while(" not in program


@pytest.mark.parametrize("reverse", [False, True])
def test_both_ways_to_compose_maps_agree(reverse, monkeypatch, x64):
    keys = jax.random.split(jax.random.key(0))
    A, b = 0.5 * jax.random.normal(keys[0], (37, 2, 3, 3)), jax.random.normal(keys[1], (37, 2, 3))
    solve = solve_backwards if reverse else solve_recurrence
    written_out = solve(A, b)
    monkeypatch.setattr(_recurrence, "DOUBLED", {"cpu": 3})
    assert_same(solve(A, b), written_out, 1e-14)
    diagonal = jnp.diagonal(A, axis1=-2, axis2=-1)
    by_doubling = solve(diagonal, b)
    monkeypatch.setattr(_recurrence, "DOUBLED", {})
    assert_same(by_doubling, solve(diagonal, b), 1e-14)


def test_a_guess_from_a_similar_network_saves_rounds():
    cell = CELLS["gnode"]()
    xs, h0, _ = trials_for(cell)
    first = rollout_at_once(cell, xs[0], h0[0], dt=0.1)
    again = rollout_at_once(cell, xs[0], h0[0], dt=0.1, guess=first.states)
    near = jax.tree.map(lambda leaf: leaf * (1 + 1e-4) if eqx.is_inexact_array(leaf) else leaf, cell)
    moved = rollout_at_once(near, xs[0], h0[0], dt=0.1, guess=first.states)
    assert int(first.rounds) >= 4
    assert int(again.rounds) == 1
    assert int(moved.rounds) < int(first.rounds)
    broken = rollout_at_once(cell, xs[0], h0[0], dt=0.1, guess=jnp.full((TIME, 4), 1e9))
    assert bool(broken.converged)
    assert_same(broken.states, first.states, 1e-5)


def test_rounds_do_not_grow_with_the_length_of_a_stable_trajectory():
    cell = CELLS["gnode"]()
    xs = jax.random.normal(jax.random.key(0), (10_000, 2))
    short, long = (rollout_at_once(cell, xs[:bins], jnp.zeros(4), dt=0.1) for bins in (200, 10_000))
    assert bool(short.converged)
    assert bool(long.converged)
    assert int(long.rounds) <= int(short.rounds) + 2 <= 8
    assert_same(long.states, rollout(cell, xs, jnp.zeros(4), dt=0.1, time="loop"), 1e-5)


def chaotic(state=60):
    """A rate network with four times the critical weights."""
    cell = cells.rate_rnn(2, state, init="critical", tau=0.1, key=0)
    return eqx.tree_at(lambda cell: cell.F.W, cell, replace_fn=lambda W: tuple(4 * matrix for matrix in W))


@pytest.mark.parametrize("jacobian", ["full", "diagonal"])
def test_chaos_falls_back_to_the_loop_and_says_so(jacobian):
    cell = chaotic()
    xs = jnp.zeros((300, 2))
    h0 = jax.random.normal(jax.random.key(1), (60,))
    found = rollout_at_once(cell, xs, h0, dt=0.1, jacobian=jacobian)
    assert not bool(found.converged)
    assert int(found.rounds) == 30
    np.testing.assert_array_equal(found.states, rollout(cell, xs, h0, dt=0.1, time="loop"))
    assert repr(found).startswith("AtOnce(states of shape (300, 60), rounds=30, converged=False")


@pytest.mark.parametrize("seed", range(1, 5))
def test_rounds_in_chaos_never_end_by_chance(seed):
    """A residual of rounding can ask for a correction as large as the states, or one that is not a number."""
    cell = cells.rate_rnn(1, 60, init="critical", tau=0.1, key=0)
    cell = eqx.tree_at(lambda cell: cell.F.W, cell, replace_fn=lambda W: tuple(4 * matrix for matrix in W))
    h0 = jnp.asarray(np.random.default_rng(seed).normal(size=60), jnp.float32)
    found = rollout_at_once(cell, jnp.zeros((300, 1)), h0, dt=0.1)
    assert not bool(found.converged)
    np.testing.assert_array_equal(found.states, rollout(cell, jnp.zeros((300, 1)), h0, dt=0.1, time="loop"))


def test_only_the_chunk_that_needs_it_falls_back():
    """The input of the second half makes the network contract, so only the first half is chaotic."""
    cell = chaotic()
    pull = eqx.tree_at(lambda cell: cell.F.U, cell, jnp.full((60, 2), 50.0))  # saturates every unit
    xs = jnp.concatenate([jnp.zeros((100, 2)), jnp.ones((100, 2))])
    h0 = jax.random.normal(jax.random.key(1), (1, 60))
    given = xs[None], h0, jnp.full((1, 200), 0.1)
    solver = Solver(time="parallel", bins_at_once=100, jacobian="full")
    found = jax.jit(lambda: rollout_batch_at_once(pull, *given, solver))()
    assert not bool(found.converged)
    loop = rollout_batch(pull, *given, Solver())
    assert_same(found.states[:, :5], loop[:, :5], 1e-5)  # before rounding errors have grown
    assert_same(found.states[:, -20:], loop[:, -20:], 1e-5)  # when they are forgotten


def test_along_an_axis_of_networks():
    """The rounds of several networks are counted for each; one that falls back does not change the others."""
    quiet, wild = cells.rate_rnn(2, 60, tau=0.1, key=0), chaotic()
    both = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(eqx.filter(cell, eqx.is_array) for cell in (quiet, wild)))
    static = eqx.filter(quiet, eqx.is_array, inverse=True)
    xs, h0, dt = jnp.zeros((1, 200, 2)), jax.random.normal(jax.random.key(1), (1, 60)), jnp.full((1, 200), 0.1)
    solver = Solver(time="parallel", jacobian="full")
    found = jax.jit(jax.vmap(lambda own: rollout_batch_at_once(eqx.combine(own, static), xs, h0, dt, solver)))(both)
    assert found.converged.tolist() == [True, False]
    assert_same(found.states[0], rollout_batch(quiet, xs, h0, dt, Solver()), 1e-5)


def test_recurrences_against_a_loop(x64):
    keys = jax.random.split(jax.random.key(0), 3)
    for size in (3, 14):  # products written as sums, and as matrix products
        A, b = jax.random.normal(keys[0], (9, 2, size, size)) / size, jax.random.normal(keys[1], (9, 2, size))
        D = jax.random.normal(keys[2], (9, 2, size)) / 2
        for matrices in (A, D):
            dense = np.asarray(matrices if matrices.ndim == 4 else matrices[..., None] * np.eye(size))
            forwards, backwards = np.zeros((9, 2, size)), np.zeros((9, 2, size))
            for t in range(9):
                before = forwards[t - 1] if t else np.zeros((2, size))
                forwards[t] = np.einsum("bij,bj->bi", dense[t], before) + b[t]
            for t in reversed(range(9)):
                backwards[t] = b[t] + (np.einsum("bji,bj->bi", dense[t + 1], backwards[t + 1]) if t < 8 else 0)
            np.testing.assert_allclose(solve_recurrence(matrices, b), forwards, atol=1e-12)
            np.testing.assert_allclose(solve_backwards(matrices, b), backwards, atol=1e-12)
            _, transposed = jax.vjp(lambda b, A=matrices: solve_recurrence(A, b), b)
            np.testing.assert_allclose(transposed(b)[0], backwards, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "tsit5"}, "method 'tsit5' chooses its steps one after another; use a method with fixed steps"),
        ({"adjoint": "optimise_then_discretise"}, "adjoint is 'optimise_then_discretise'; use the other one"),
        ({"kernel": "fused"}, "kernel 'fused' goes through time bin by bin; use kernel 'auto'"),
        ({"jacobian": "none"}, "jacobian is 'none'"),
        ({"rounds": -1}, "rounds is -1"),
        ({"bins_at_once": 1.5}, "bins_at_once is 1.5"),
        ({"time": "paralel"}, "parallel"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(options, sentence):
    with pytest.raises(errors.ArgumentError, match=sentence):
        Solver(**{"time": "parallel"} | options)


def test_a_guess_of_another_shape_is_refused():
    cell = CELLS["gru"]()
    with pytest.raises(errors.ArgumentError, match=r"guess has shape \(3, 4\), but must be \(5, 4\)"):
        rollout_at_once(cell, jnp.zeros((5, 2)), jnp.zeros(4), dt=0.1, guess=jnp.zeros((3, 4)))


@pytest.mark.parametrize(("states", "diagonal"), [(64, False), (65, True)])
def test_wide_states_take_diagonals_by_themselves(states, diagonal, monkeypatch):
    taken = []

    def noticed(newton, values, h0, bins, guess):
        taken.append(newton.diagonal)
        return bins[0].start, parallel.Rounds(jnp.int32(1), jnp.bool_(True))

    monkeypatch.setattr(parallel, "at_once", noticed)
    rollout_at_once(cells.rnn(states, states, key=0), jnp.zeros((2, states)), jnp.zeros(states), dt=0.1)
    assert taken == [diagonal]


@pytest.mark.parametrize(
    ("trials", "bins", "options", "chosen"),
    [
        (1, 1000, {}, True),
        (10, 1000, {}, True),
        (100, 1000, {}, False),
        (1, 999, {}, False),
        (1, 1000, {"time": "loop"}, False),
        (1, 1000, {"kernel": "fused"}, False),
        (1, 1000, {"method": "tsit5"}, False),
        (1, 1000, {"memory": "checkpoint"}, False),
        (100, 10, {"time": "parallel"}, True),
    ],
)
def test_it_is_chosen_on_a_gpu_where_it_won(trials, bins, options, chosen, monkeypatch):
    cell, solver = cells.gnode(3, 6, widths=(100, 100, 100), key=0), Solver(**options)
    assert parallel.goes_at_once(cell, solver, trials, bins) == (solver.time == "parallel")  # never on a CPU by itself
    monkeypatch.setattr(parallel, "is_on_gpu", lambda: True)
    assert parallel.goes_at_once(cell, solver, trials, bins) == chosen


def test_what_was_not_measured_takes_the_loop(monkeypatch):
    monkeypatch.setattr(parallel, "is_on_gpu", lambda: True)
    for cell in (cells.gru(3, 6, key=0), cells.gnode(3, 6, widths=(200,), key=0), Pendulums(jnp.zeros(2))):
        assert not parallel.goes_at_once(cell, Solver(), 1, 20_000)
    cell = cells.gnode(3, 6, widths=(100,), key=0)
    with side_by_side(27):
        assert not parallel.goes_at_once(cell, Solver(), 1, 20_000)
