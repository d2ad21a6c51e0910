"""Newton's method on all bins at once where its behaviour is known: linear, overflowing and chaotic maps."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from at_once_cases import TIME, TRIALS, assert_same, trials_for

from gnode.cells import Cell
from gnode.solve import Solver, _at_once, rollout, rollout_at_once, rollout_batch, rollout_batch_at_once


class Cubic(Cell):
    """dh/dt = x - h^3: far from zero its step overshoots and overflows."""

    inputs: int = eqx.field(static=True, default=2)
    units: int = eqx.field(static=True, default=2)

    def vector_field(self, h, x):
        return x - h**3


def test_every_round_makes_one_more_state_exact_also_where_corrections_overflow():
    xs = jax.random.normal(jax.random.key(0), (20, 2))
    guess = jnp.full((20, 2), 1e9)  # from where not even the stretches of the loop lead back
    found = rollout_at_once(Cubic(), xs, jnp.zeros(2), dt=0.1, guess=guess, rounds=25)
    assert bool(found.converged)
    assert_same(found.states, rollout(Cubic(), xs, jnp.zeros(2), dt=0.1, time="loop"), 1e-6)


class Logistic(Cell):
    """Whose Euler step of one second is the logistic map h <- 4 h (1 - h), the simplest chaos."""

    inputs: int = eqx.field(static=True, default=0)
    units: int = eqx.field(static=True, default=1)

    def vector_field(self, h, x):
        return 4 * h * (1 - h) - h


def test_states_that_miss_by_rounding_are_refused_where_the_correction_is_large(monkeypatch):
    """In chaos a residual of rounding asks for a correction of any size, which leads away from all trajectories."""
    monkeypatch.setattr(_at_once, "_side_by_side", lambda newton, values, h0, bins, guess: guess)
    given = Logistic(), jnp.zeros((60, 0)), jnp.array([0.3])
    loop = rollout(*given, dt=1.0, time="loop")
    found = rollout_at_once(*given, dt=1.0, guess=loop.at[5].add(1e-7), rounds=1)
    assert not bool(found.converged)
    np.testing.assert_array_equal(found.states, loop)


class Linear(Cell):
    """dh/dt = A h + x."""

    A: jax.Array
    inputs: int = eqx.field(static=True, default=4)
    units: int = eqx.field(static=True, default=4)

    def vector_field(self, h, x):
        return self.A @ h + x


@pytest.mark.parametrize("jacobian", ["full", "diagonal"])
def test_a_linear_network_is_solved_in_one_round(jacobian, x64):
    """From whatever guess, because Newton's method is exact there; more rounds only find that rounding is left."""
    A = 0.5 * jax.random.normal(jax.random.key(0), (4, 4)) - jnp.eye(4)
    cell = Linear(A if jacobian == "full" else jnp.diag(jnp.diagonal(A)))
    xs, h0, dt = trials_for(cell)
    guess = 10 * jax.random.normal(jax.random.key(1), (TRIALS, TIME, 4))
    solver = Solver(time="parallel", jacobian=jacobian)
    found = jax.jit(lambda: rollout_batch_at_once(cell, xs, h0, dt, solver, guess=guess))()
    assert int(found.rounds) <= 3
    assert_same(found.states, rollout_batch(cell, xs, h0, dt, Solver(time="loop")), 1e-12)
