"""The root finder by itself: rates of convergence, the fallback, bounded memory, statuses."""

import jax.numpy as jnp
import numpy as np
import pytest

from gnode import errors
from gnode.analysis._fixed_points import newton
from gnode.analysis._fixed_points.newton import Newton, Problem, solve


def cubic(c, h):
    return h**3 - c


def test_finds_cube_roots_to_the_tolerance():
    values = np.array([8.0, 27.0])
    solution = solve(Problem(cubic, values), np.array([[1.0, 1.0], [5.0, 2.0]]))
    assert np.all(solution.outcomes == newton.CONVERGED)
    np.testing.assert_allclose(solution.points, [[2, 3], [2, 3]], atol=1e-9)


def test_convergence_is_quadratic():
    problem = Problem(lambda c, h: h**2 - 2.0, None)
    residuals = []
    for count in range(1, 6):
        step = solve(problem, np.array([[3.0]]), Newton(tolerance=1e-300, max_iterations=count))
        residuals.append(step.residuals[0])
    orders = np.log(residuals[1:4]) / np.log(residuals[0:3])
    assert orders[-1] > 1.8


def test_levenberg_marquardt_goes_to_the_nearest_point_of_a_continuum():
    # r = 0 on the unit circle; J has rank 1 everywhere, so Newton's step does not exist.
    def circle(c, h):
        return jnp.stack([h @ h - 1.0, 0.0 * h[0]])

    starts = np.array([[2.0, 0.0], [0.3, 0.4], [-1.0, 1.0]])
    solution = solve(Problem(circle, None), starts)
    assert np.all(solution.outcomes == newton.CONVERGED)
    np.testing.assert_allclose(solution.points, starts / np.linalg.norm(starts, axis=1)[:, None], atol=1e-6)


def test_a_minimum_of_the_residual_is_not_a_root():
    solution = solve(Problem(lambda c, h: h**2 + 1.0, None), np.array([[0.7], [-2.0]]))
    assert not np.any(solution.outcomes == newton.CONVERGED)
    assert np.all(solution.residuals >= 1)


def test_a_start_where_the_residual_is_nan_does_not_spoil_the_others():
    solution = solve(Problem(lambda c, h: jnp.sqrt(h) - 1.0, None), np.array([[-1.0], [4.0]]))
    assert solution.outcomes.tolist() == [newton.NOT_FINITE, newton.CONVERGED]
    np.testing.assert_allclose(solution.points[1], 1.0)


def test_chunks_do_not_change_the_answer():
    starts = np.random.default_rng(0).uniform(0.5, 5, (37, 2))
    whole = solve(Problem(cubic, np.array([8.0, 27.0])), starts)
    pieces = solve(Problem(cubic, np.array([8.0, 27.0])), starts, Newton(chunk=5))
    np.testing.assert_allclose(whole.points, pieces.points, atol=1e-12)
    np.testing.assert_array_equal(whole.iterations, pieces.iterations)


def test_single_precision_first_gives_double_precision_answers(monkeypatch):
    monkeypatch.setattr(newton, "SINGLE_PRECISION_PAYS", 0)
    solution = solve(Problem(cubic, np.array([8.0, 27.0])), np.array([[1.0, 1.0], [5.0, 2.0]]))
    np.testing.assert_allclose(solution.points, [[2, 3], [2, 3]], atol=1e-9)


def test_settings_are_checked():
    with pytest.raises(errors.ArgumentError, match="tolerance"):
        Newton(tolerance=0)
