"""Steps from a few products with the Jacobian: the same answers as with all of it, and a way out where they do not do."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import systems
from scipy.spatial.distance import cdist

from gnode.analysis import _threads as parallel
from gnode.analysis._fixed_points import krylov, newton
from gnode.analysis._fixed_points.newton import Newton, Problem, solve
from gnode.analysis._system import System, system
from gnode.precision import double

N = 80
PATTERNS = np.sign(np.random.default_rng(1).standard_normal((3, N)))
BASIS = np.linalg.qr(np.random.default_rng(2).standard_normal((N, N)))[0]


@pytest.fixture(autouse=True, scope="module")
def always_worth_it():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(newton, "KRYLOV_PAYS", 0)
        yield


def stored_patterns():
    return Problem(System.residual, system(systems.rnn_with(3.0 * PATTERNS.T @ PATTERNS / N)))


def starts_at_patterns(count=400):
    rng = np.random.default_rng(0)
    return PATTERNS[rng.integers(0, 3, count)] * rng.uniform(0.2, 1, (count, 1)) + rng.normal(size=(count, N)) * 0.3


def ring(basis, h):
    """A circle of radius 2 in a plane that no axis lies in; all else decays."""
    u = basis.T @ h
    r = jnp.sqrt(u[0] ** 2 + u[1] ** 2)
    return basis @ jnp.concatenate([u[:2] / r * (2 - r), -u[2:]])


def modes_used(monkeypatch):
    """Counts the steps in each mode from here on."""
    used = dict.fromkeys(newton.STEPS, 0)
    take = newton._take

    def counting(run, block, mode, *values):
        used[mode] += len(block)
        take(run, block, mode, *values)

    monkeypatch.setattr(newton, "_take", counting)
    return used


@pytest.fixture(scope="module")
def fast(always_worth_it):
    """The roots from starts near the patterns, by steps without the Jacobian, and the number of steps in each mode."""
    with pytest.MonkeyPatch.context() as patch:
        used = modes_used(patch)
        return solve(stored_patterns(), starts_at_patterns()), dict(used)


def test_the_basis_is_orthonormal_and_maps_as_stated():
    J, r = np.random.default_rng(0).standard_normal((2, 30, 30)) / 5
    with double():
        V, H = (np.asarray(x) for x in krylov.arnoldi(lambda v: jnp.asarray(J) @ v, jnp.asarray(r[0])))
    np.testing.assert_allclose(V @ V.T, np.eye(17), atol=1e-12)
    np.testing.assert_allclose(J @ V[:-1].T, V.T @ H, atol=1e-12)


def test_a_complete_space_ends_in_zeros_and_holds_the_solution():
    rng = np.random.default_rng(0)
    J, r = -np.eye(30) + rng.standard_normal((30, 2)) @ rng.standard_normal((2, 30)) / 30, rng.standard_normal(30)
    with double():
        V, H = krylov.arnoldi(lambda v: jnp.asarray(J) @ v, jnp.asarray(r))
        y, missed = krylov.least_squares(H, jnp.linalg.norm(jnp.asarray(r)))
    assert np.all(np.asarray(V)[3:] == 0)
    assert float(missed) < 1e-12
    np.testing.assert_allclose(np.asarray(y) @ np.asarray(V)[:-1], -np.linalg.solve(J, r), atol=1e-12)


def test_least_squares_and_damped_steps_agree_with_dense_algebra():
    H = np.triu(np.random.default_rng(0).standard_normal((17, 16)), -1)
    first = np.zeros(17)
    first[0] = 2.5
    with double():
        y, missed = krylov.least_squares(jnp.asarray(H), jnp.asarray(2.5))
        damped = krylov._damped(jnp.asarray(H), jnp.asarray(2.5), jnp.asarray(1.0))
    expected, squares = np.linalg.lstsq(H, -first)[:2]
    np.testing.assert_allclose(y, expected, atol=1e-10)
    assert float(missed) == pytest.approx(np.sqrt(squares[0]))
    for one, damping in zip(damped, krylov.DAMPINGS):
        np.testing.assert_allclose(one, np.linalg.solve(H.T @ H + damping * np.eye(16), -H.T @ first), atol=1e-7)


def test_it_finds_the_points_that_newton_with_the_jacobian_finds(fast, monkeypatch):
    solution, used = fast
    assert used[newton.KRYLOV] > 1000
    assert used[newton.NEWTON] == used[newton.DAMPED] == 0
    monkeypatch.setattr(newton, "PAYS_FROM", N + 1)
    plain = solve(stored_patterns(), starts_at_patterns())
    ends = [one.points[one.outcomes == newton.CONVERGED] for one in (solution, plain)]
    assert min(len(end) for end in ends) > 0.85 * 400
    # Each of the two also reaches a few of the many saddles that the other one does not.
    gap = cdist(*ends)
    assert np.mean(gap.min(axis=0) < 1e-8) > 0.95
    assert np.mean(gap.min(axis=1) < 1e-8) > 0.95
    assert cdist(PATTERNS, ends[0]).min(axis=1).max() < 0.1 * np.sqrt(N)  # the stored patterns themselves


def test_a_ring_of_fixed_points_is_met_where_it_is_nearest():
    starts = np.random.default_rng(0).normal(size=(400, N))
    solution = solve(Problem(ring, BASIS), starts)
    assert np.all(solution.outcomes == newton.CONVERGED)
    ends, begins = solution.points @ BASIS, starts @ BASIS
    np.testing.assert_allclose(np.linalg.norm(ends[:, :2], axis=1), 2, atol=1e-8)
    np.testing.assert_allclose(ends[:, 2:], 0, atol=1e-8)
    turned = np.angle((ends[:, 0] + 1j * ends[:, 1]) / (begins[:, 0] + 1j * begins[:, 1]))
    assert np.quantile(np.abs(turned), 0.9) < 1e-3


def test_a_step_that_the_space_misses_is_left_to_the_jacobian(monkeypatch):
    # J is a rotation of the axes by one: J^k r stays orthogonal to r for all k < N.
    used = modes_used(monkeypatch)
    goal = np.eye(N)[0]
    solution = solve(Problem(lambda b, h: jnp.roll(h, 1) - b, goal), np.zeros((400, N)))
    assert np.all(solution.outcomes == newton.CONVERGED)
    np.testing.assert_allclose(solution.points, np.tile(np.roll(goal, -1), (400, 1)), atol=1e-12)
    assert used[newton.KRYLOV] == used[newton.NEWTON] == 400
    assert np.all(solution.iterations == 1)


def test_threads_change_nothing_and_chunks_change_rounding_alone(fast, monkeypatch):
    """By rounding, a start on the border between two basins may end elsewhere: at most one in a hundred does."""
    whole = fast[0]
    pieces = solve(stored_patterns(), starts_at_patterns(), Newton(chunk=11))
    monkeypatch.setattr(newton, "threads_for", lambda *_: 1)
    alone = solve(stored_patterns(), starts_at_patterns())
    np.testing.assert_array_equal(whole.points, alone.points)
    np.testing.assert_array_equal(whole.outcomes, alone.outcomes)
    has_root = (whole.outcomes == newton.CONVERGED) & (pieces.outcomes == newton.CONVERGED)
    is_elsewhere = has_root & (np.abs(whole.points - pieces.points).max(axis=1) > 1e-8)
    assert np.mean((whole.outcomes != pieces.outcomes) | is_elsewhere) <= 0.01


def test_programs_that_leave_jax_are_not_run_at_once():
    h = jnp.ones(3)

    def solves(h):
        return jnp.linalg.solve(jnp.eye(3) + h[:, None], h)

    assert parallel.threads_for(lambda h: jax.nn.relu(jnp.tanh(h)), h) >= 1
    assert parallel.threads_for(solves, h) == 1
    assert parallel.threads_for(lambda h: jax.lax.cond(h[0] > 0, solves, jnp.tanh, h), h) == 1
    assert parallel.threads_for(lambda h: jax.lax.map(solves, h[None])[0], h) == 1
    assert parallel.threads_for(lambda h: jax.pure_callback(np.tanh, h, h), h) == 1


def test_threads_keep_the_order():
    assert list(parallel.in_threads(lambda x: x**2, list(range(50)), 4)) == [x**2 for x in range(50)]
    assert list(parallel.in_threads(lambda x: x, [], 4)) == []
