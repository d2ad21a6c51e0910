"""Gaussian kernels against closed forms, against jax, and against plain sampling."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from gnode import activations, errors, precision
from gnode.theory import kernel, pointwise
from gnode.theory._correlators import correlator
from gnode.theory._kernels import CLOSED_FORMS, one_point
from gnode.theory._quadrature import gaussian_mean

VARIANCES = (1e-3, 0.7, 40.0)
NOT_CLOSED = [name for name in activations.ACTIVATIONS if name not in CLOSED_FORMS]


@pytest.mark.parametrize("name", activations.ACTIVATIONS)
def test_host_activation_is_the_jax_one(name):
    x = np.linspace(-6, 6, 61) + 0.01  # misses 0, where the kinked ones have no derivative
    with precision.double():
        f = activations.activation(name)
        value, slope = f(jnp.asarray(x)), jax.vmap(jax.grad(f))(jnp.asarray(x))
    np.testing.assert_allclose(pointwise(name).function(x), value, atol=1e-14)
    np.testing.assert_allclose(pointwise(name).derivative(x), slope, atol=1e-13)


@pytest.mark.parametrize("derivative", [False, True])
@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_quadrature_agrees_with_closed_forms(name, derivative):
    for k in VARIANCES:
        points = [(k,), (k, 0.6 * k), (k, -0.9 * k), (k, 0.999999 * k), (k, 0.3 * k, 2 * k), (k, 0.0, 5 * k)]
        for point in points:
            found = kernel(name, *point, derivative=derivative, method="quadrature")
            exact = kernel(name, *point, derivative=derivative, method="closed")
            assert exact.error == 0
            assert abs(found.value - exact.value) < 1e-10 * max(1, k)
            assert abs(found.value - exact.value) <= max(found.error, 1e-13 * max(1, k))  # the error is not boasted


def test_closed_forms_of_the_paper():
    k0, kt = 1.7, 0.6
    arc = math.atan(kt / math.sqrt(k0**2 - kt**2))
    relu = kt / 4 * (1 + 2 / math.pi * arc) + math.sqrt(k0**2 - kt**2) / (2 * math.pi)
    assert kernel("relu", k0, kt).value == pytest.approx(relu, abs=1e-14)
    assert kernel("relu", k0, kt, derivative=True).value == pytest.approx((1 + 2 / math.pi * arc) / 4, abs=1e-14)
    assert kernel("relu", k0).value == k0 / 2


@pytest.mark.parametrize("name", NOT_CLOSED)
def test_quadrature_converges_and_agrees_with_sampling(name):
    """A million samples: five standard errors."""
    x, z = np.random.default_rng(0).normal(size=(2, 1_000_000))
    k, rho = 2.0, 0.4
    y = rho * x + np.sqrt(1 - rho**2) * z
    for derivative in (False, True):
        psi = pointwise(name).derivative if derivative else pointwise(name).function
        found = kernel(name, k, rho * k, derivative=derivative)
        samples = psi(np.sqrt(k) * x) * psi(np.sqrt(k) * y)
        assert found.error < 1e-12
        assert abs(found.value - samples.mean()) < 5 * stats.sem(samples)


@pytest.mark.parametrize("name", NOT_CLOSED)
def test_three_ways_to_one_kernel(name):
    """Polar quadrature, the Hermite series and, as the points merge, the one-point rule."""
    k = 1.3
    signal, slope = correlator(pointwise(name), k)(np.array([0.5, k]))
    assert signal[0] == pytest.approx(kernel(name, k, 0.5).value, abs=1e-10)
    assert slope[0] == pytest.approx(kernel(name, k, 0.5, derivative=True).value, abs=1e-10)
    assert kernel(name, k, k * (1 - 1e-14)).value == pytest.approx(kernel(name, k).value, abs=1e-11)
    # At coinciding points the series converges slowest: elu's kink in the second derivative leaves 1e-8 of
    # 400 terms.
    assert one_point(pointwise(name), k)[0] == pytest.approx(signal[1], abs=1e-7 if name == "elu" else 1e-10)


def test_the_sqrt_in_the_measure():
    """With the paper's 1 / (2 pi K), E[1] would be 1 / sqrt(2 pi K)."""
    assert gaussian_mean(np.ones_like).value == pytest.approx(1, abs=1e-14)


def test_adaptive_quadrature_finds_a_kink_away_from_zero():
    hard_tanh = kernel(lambda x: np.clip(x, -1, 1), 1.0)
    inside = stats.norm.cdf(1) - stats.norm.cdf(-1)
    exact = inside - 2 * stats.norm.pdf(1) + (1 - inside)
    assert abs(hard_tanh.value - exact) < 1e-12
    assert hard_tanh.error < 1e-11


def test_derivatives_of_functions():
    x = np.linspace(-2, 2, 9)
    by_jax = pointwise(lambda x: jnp.tanh(x) ** 3).derivative(x)
    by_difference = pointwise(lambda x: np.tanh(np.asarray(x)) ** 3)  # np.asarray refuses a tracer
    exact = 3 * np.tanh(x) ** 2 * (1 - np.tanh(x) ** 2)
    np.testing.assert_allclose(by_jax, exact, atol=1e-14)
    np.testing.assert_allclose(by_difference.derivative(x), exact, atol=1e-10)


@pytest.mark.parametrize(
    ("function", "place"),
    [
        (lambda x: np.maximum(x, 0), "0"),
        (lambda x: np.clip(x, -2, 1.3), "1.3"),
        (lambda x: np.where(np.asarray(x) > 0.7312, 1.0, 0.0), "0.73"),
    ],
)
def test_the_slope_of_a_numpy_function_with_a_kink_is_refused(function, place):
    """Differences smear it: ReLU's critical scale would come out 20% too large."""
    assert kernel(function, 1.0).value > 0
    with pytest.raises(errors.ArgumentError, match=f"kink near {place}, .* jax.numpy"):
        kernel(function, 1.0, derivative=True)


def test_a_steep_function_is_not_taken_for_one_with_a_kink():
    steep = pointwise(lambda x: np.tanh(50 * np.asarray(x)))
    np.testing.assert_allclose(steep.derivative(np.array([0.01])), 50 * (1 - np.tanh(0.5) ** 2), rtol=1e-5)


@pytest.mark.parametrize("variance", [1e4, 1e7, 1e10])
def test_flanks_that_are_narrow_beside_the_gaussian_are_seen(variance):
    """E[phi'^2] of a steep phi: the Gaussian is flat there, so it is its density at 0 times the integral of phi'^2, 4/3."""
    assert kernel("tanh", variance, derivative=True).value == pytest.approx(
        4 / 3 / np.sqrt(2 * np.pi * variance), rel=10 / variance
    )


@pytest.mark.parametrize(
    ("activation", "says"),
    [
        ("rleu", "Did you mean 'relu'"),
        (math.tanh, "fails on an array"),
        (np.mean, "entry by entry"),
        (lambda x: x / np.sum(x), "mixes the entries"),
        (lambda x: np.log(-np.abs(x) - 1), "not finite"),
        (3, "must be one of"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_bad_activations(activation, says):
    with pytest.raises(errors.ArgumentError, match=says):
        kernel(activation, 1.0)


def test_bad_kernel_arguments():
    with pytest.raises(errors.ArgumentError, match="variance is -1"):
        kernel("tanh", -1.0)
    with pytest.raises(errors.ArgumentError, match="covariance is 2"):
        kernel("tanh", 1.0, 2.0)
    with pytest.raises(errors.ArgumentError, match="no closed form"):
        kernel("tanh", 1.0, method="closed")
    with pytest.raises(errors.ArgumentError, match="two points need both"):
        kernel("tanh", 1.0, variance2=2.0)
