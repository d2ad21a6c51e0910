"""Two-point correlators for arrays of covariances, from closed forms or Hermite series (Appendix A)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gnode.arguments import checked
from gnode.theory._kernels import closed_form, one_point
from gnode.theory._mean_field import RandomStack, recursion
from gnode.theory._pointwise import Array, Pointwise
from gnode.theory._quadrature import REACH, legendre

_HERMITE_TERMS, _MOST_TERMS = 400, 12_800
_PANELS, _PANEL_ORDER = 24, 40  # resolve the 400th Hermite function, whose wavelength is 2 pi / sqrt(400)
# The relative truncation errors at equal times below which no terms are added, of the derivative and of the value.
_LEFT_OUT, _SIGNAL_LEFT_OUT = 1e-9, 1e-7


def hermite_coefficients(phi: Pointwise, variance: float, terms: int = _HERMITE_TERMS) -> Array:
    """Computes the Hermite coefficients c_n = E[phi(sqrt(K) x) He_n(x)] / sqrt(n!), x ~ N(0, 1), for n < `terms`.

    Then E[phi(x_1) phi(x_2)] = sum_n c_n^2 (K_12 / K)^n for Gaussians of variance K, and C_phi(K) - sum_n c_n^2 is the
    truncation error.

    >>> from gnode.theory import pointwise
    >>> hermite_coefficients(pointwise("identity"), 4.0, terms=3).round(12) + 0.0
    array([0., 2., 0.])
    """
    nodes, weights = legendre(_PANEL_ORDER)
    panels = max(_PANELS, round(_PANELS / 2 * np.sqrt(terms / _HERMITE_TERMS)))
    edges = np.linspace(0.0, REACH, panels + 1)
    half = np.diff(edges)[:, None] / 2
    x = (edges[:-1, None] + half * (1 + nodes)).ravel()
    weighted = (half * weights).ravel() * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    right, left = (weighted * phi.function(sign * np.sqrt(variance) * x) for sign in (1, -1))
    of_parity = right + left, right - left  # He_n is even or odd, so half the line suffices
    before, here = np.zeros_like(x), np.ones_like(x)
    coefficients = np.empty(terms)
    for n in range(terms):
        coefficients[n] = of_parity[n % 2] @ here
        before, here = here, (x * here - np.sqrt(n) * before) / np.sqrt(n + 1)
    return coefficients


@dataclass(frozen=True)
class Correlator:
    """A vectorised function that maps covariances to output covariances and their derivatives.

    `left_out` is the relative truncation error of the derivative at equal times, where it is largest.
    """

    function: Callable[[Array], tuple[Array, Array]]
    left_out: float = 0.0

    def __call__(self, covariance: Array) -> tuple[Array, Array]:
        return self.function(covariance)


def correlator(phi: Pointwise, variance: float, with_slope: bool = True) -> Correlator:
    """Builds the function K_12 -> (C_phi, C_phi') for two points of equal variance K.

    It uses a closed form where one is known and a Hermite series otherwise. Terms are added until the derivative of the
    series at equal times agrees with C_phi'(K) by quadrature. A steep phi (large K) needs many terms. For a phi with a kink
    the series may not converge far enough, which `left_out` reports. Without `with_slope` only C_phi has to agree, which
    needs fewer terms.

    >>> from gnode.theory import pointwise
    >>> signal, slope = correlator(pointwise("tanh"), 1.0)(np.array([0.5]))
    >>> signal.round(6), slope.round(6)
    (array([0.186324]), array([0.384747]))
    """
    closed = closed_form(phi)
    if closed is not None:
        k = np.asarray(variance, float)
        return Correlator(lambda k12: (closed[0](k, k, k12), closed[1](k, k, k12)))
    if variance == 0:
        return Correlator(lambda k12: (phi.function(0 * k12) ** 2, phi.derivative(0 * k12) ** 2))
    signal, slope = one_point(phi, variance)
    whole, allowed = (slope * variance, _LEFT_OUT) if with_slope else (signal, _SIGNAL_LEFT_OUT)
    doublings = int(np.clip(np.ceil(np.log2(4 * variance / _HERMITE_TERMS)), 0, 4))  # an estimate of the number needed
    terms, left_out, powers = _HERMITE_TERMS * 2**doublings // 2, np.inf, np.zeros(0)
    while left_out > allowed and terms < _MOST_TERMS:
        terms *= 2
        powers = hermite_coefficients(phi, variance, terms) ** 2
        found = np.arange(terms) @ powers if with_slope else powers.sum()
        left_out = abs(whole - found) / max(whole, 1e-300)
    keep = max(2, int(np.sum(np.cumsum(powers[::-1])[::-1] > 1e-17 * powers.sum())))
    series = np.polynomial.Polynomial(powers[:keep])
    its_slope = series.deriv()
    return Correlator(lambda k12: (series(k12 / variance), its_slope(k12 / variance) / variance), left_out)


@checked
def two_time(stack: RandomStack, state_variance: float, with_slope: bool = True) -> Correlator:
    """Builds the function C_h(tau) -> (C_F(tau), chi_L(tau)) for a stationary state of variance C_h(0).

        K^(l+1)(tau) = sigma_l^2 C_phi(K^l(0), K^l(tau)) + sigma_b^2,   chi_L(tau) = dC_F(tau) / dC_h(tau)

    **Arguments:**

    - `stack`: the ensemble. Its input, if any, is constant in time.
    - `state_variance`: C_h(0).
    - `with_slope`: whether chi_L must be as accurate as C_F near tau = 0.

    **Returns:** a vectorised function. Its chi_L includes the factor of the final activation.

    >>> output, chi = two_time(RandomStack(1, 1.5), 1.0)(np.array([0.5]))
    >>> output, chi
    (array([1.125]), array([2.25]))
    """
    kernels = recursion(stack, state_variance).kernels
    itself = Correlator(lambda c: (c, np.ones_like(c)))
    first = [correlator(stack.phi, state_variance, with_slope) if stack.activate_state else itself]
    layers = first + [correlator(stack.phi, k, with_slope) for k in kernels[:-1]]
    last = correlator(stack.final_phi, kernels[-1], with_slope)

    def evaluate(covariance: Array) -> tuple[Array, Array]:
        signal, chi = np.asarray(covariance, float), 1.0
        for index, (layer, gain) in enumerate(zip(layers, stack.gains)):
            signal, slope = layer(signal)
            signal = gain * signal + (stack.sigma_b**2 if index else stack.offset)
            chi = chi * gain * slope
        signal, slope = last(signal)
        return signal, chi * slope

    return Correlator(evaluate, sum(layer.left_out for layer in (*layers, last)))
