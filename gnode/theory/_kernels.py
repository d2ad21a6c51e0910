"""Gaussian kernels C_phi and C_phi' of an activation, at one point and at two (Appendix A, "Correlation Functions").

    C_psi(K)    = int dx / sqrt(2 pi K) exp(-x^2 / 2K) psi(x)^2
    C_psi(Khat) = int d^2x / (2 pi sqrt(det Khat)) exp(-x^T Khat^-1 x / 2) psi(x_1) psi(x_2)

The paper omits the square roots of both measures; here the measures are normalised.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from gnode import errors
from gnode.arguments import checked
from gnode.theory._pointwise import LEAKY_SLOPE, Array, Pointwise, pointwise
from gnode.theory._quadrature import Estimate, gaussian_mean, gaussian_pair_mean

TwoPoint = Callable[[Array, Array, Array], Array]

# At K = 0 the kernels are evaluated at this variance, so that a kink at 0 contributes half from each side.
_SMALLEST_VARIANCE = 1e-40


def _cosine(k1: Array, k2: Array, k12: Array) -> Array:
    """Returns the correlation coefficient of two points."""
    size = np.sqrt(k1 * k2)
    return np.clip(k12 / np.where(size > 0, size, 1.0) + (size == 0), -1.0, 1.0)  # points of variance 0 coincide


def _relu(k1: Array, k2: Array, k12: Array) -> Array:
    rho = _cosine(k1, k2, k12)
    sine = np.sqrt((1 - rho) * (1 + rho))
    return np.sqrt(k1 * k2) / (2 * np.pi) * (sine + (np.pi - np.arccos(rho)) * rho)


def _half_space(k1: Array, k2: Array, k12: Array) -> Array:
    """Computes P(x > 0, y > 0), which is C_phi' of ReLU and C_phi of the step."""
    return (np.pi - np.arccos(_cosine(k1, k2, k12))) / (2 * np.pi)


def _leaky(k1: Array, k2: Array, k12: Array) -> Array:
    a = LEAKY_SLOPE  # phi = a x + (1 - a) relu(x), and E[x relu(y)] = K12 / 2
    return a * k12 + (1 - a) ** 2 * _relu(k1, k2, k12)


def _leaky_slope(k1: Array, k2: Array, k12: Array) -> Array:
    a = LEAKY_SLOPE
    return a + (1 - a) ** 2 * _half_space(k1, k2, k12)


def _erf(k1: Array, k2: Array, k12: Array) -> Array:
    return 2 / np.pi * np.arcsin(2 * k12 / np.sqrt((1 + 2 * k1) * (1 + 2 * k2)))


def _erf_slope(k1: Array, k2: Array, k12: Array) -> Array:
    return 4 / np.pi / np.sqrt((1 + 2 * k1) * (1 + 2 * k2) - 4 * k12**2)


def _sin(k1: Array, k2: Array, k12: Array) -> Array:
    damping = (k1 + k2) / 2  # exp(-damping) sinh(k12), written so that neither factor overflows
    return (np.exp(k12 - damping) - np.exp(-k12 - damping)) / 2


def _cos(k1: Array, k2: Array, k12: Array) -> Array:
    damping = (k1 + k2) / 2
    return (np.exp(k12 - damping) + np.exp(-k12 - damping)) / 2


# name: (E[phi phi], E[phi' phi']). phi' of the step is 0, its derivative almost everywhere, as in a Jacobian.
CLOSED_FORMS: dict[str, tuple[TwoPoint, TwoPoint]] = {
    "identity": (lambda k1, k2, k12: k12 * 1.0, lambda k1, k2, k12: np.ones_like(k12)),
    "relu": (_relu, _half_space),
    "leaky_relu": (_leaky, _leaky_slope),
    "erf": (_erf, _erf_slope),
    "sin": (_sin, _cos),
    "step": (_half_space, lambda k1, k2, k12: np.zeros_like(k12)),
}

METHODS = ("auto", "closed", "quadrature")


def closed_form(phi: Pointwise) -> tuple[TwoPoint, TwoPoint] | None:
    """Returns the closed two-point kernels (C_phi, C_phi') of a named activation, or `None`.

    >>> closed_form(pointwise("tanh")) is None
    True
    """
    is_named = phi.name in CLOSED_FORMS and pointwise(phi.name) is phi
    return CLOSED_FORMS[phi.name] if is_named else None


@checked
def kernel(
    activation: Any,
    variance: float,
    covariance: float | None = None,
    variance2: float | None = None,
    *,
    derivative: bool = False,
    method: str = "auto",
) -> Estimate:
    """Computes C_phi or C_phi' at one point (K) or at two (K_1, K_12, K_2), with an error estimate.

        C_phi(K) = E[phi(x)^2],  x ~ N(0, K)
        C_phi(Khat) = E[phi(x_1) phi(x_2)],  (x_1, x_2) ~ N(0, [[K_1, K_12], [K_12, K_2]])

    With `derivative`, phi' replaces phi. At K = 0, C_phi' is the limit K -> 0, so that a kink at 0 contributes half from
    each side.

    **Arguments:**

    - `activation`: a name of `gnode.activations` or a vectorised function.
    - `variance`: K, or K_1 (the paper's K_0).
    - `covariance`: K_12 (the paper's K_tau). Without it the kernel is that of one point.
    - `variance2`: K_2. The default is K_1.
    - `derivative`: whether to compute C_phi' instead of C_phi.
    - `method`: "closed", "quadrature", or "auto", which uses the closed form where one is known.

    **Returns:** an `Estimate` with the value, the error (0 for a closed form) and the number of evaluations.

    **Raises:** `ArgumentError` if `method` is "closed" and no closed form is known.

    >>> kernel("relu", 3.0).value, kernel("relu", 3.0, derivative=True).value
    (1.5, 0.5)
    >>> est = kernel("erf", 1.0, 0.5, method="quadrature")
    >>> abs(est.value - kernel("erf", 1.0, 0.5).value) < 1e-12 and est.error < 1e-12
    True
    """
    phi = pointwise(activation)
    errors.one_of("method", method, METHODS)
    k1 = float(errors.not_negative("variance", variance))
    k2 = k1 if variance2 is None else float(errors.not_negative("variance2", variance2))
    k12 = k1 if covariance is None else float(errors.finite("covariance", covariance))
    if covariance is None and variance2 is not None:
        raise errors.ArgumentError(f"variance2 is {k2!r} and covariance is None, but two points need both.")
    if not abs(k12) <= np.sqrt(k1 * k2) * (1 + 1e-12):
        raise errors.ArgumentError(
            f"covariance is {k12!r}, but its absolute value must be at most sqrt(K_1 K_2) = {float(np.sqrt(k1 * k2))!r}."
        )
    closed = closed_form(phi)
    if method == "closed" and closed is None:
        raise errors.ArgumentError(
            f"activation is {phi.name!r}, which has no closed form here, but with method 'closed' must be one of: "
            f"{', '.join(CLOSED_FORMS)}."
        )
    if closed is not None and method != "quadrature":
        value = closed[int(derivative)](np.float64(k1), np.float64(k2), np.float64(k12))
        return Estimate(float(value), 0.0, 0)
    psi = phi.derivative if derivative else phi.function
    s1, s2 = (np.sqrt(max(k, _SMALLEST_VARIANCE)) for k in (k1, k2))
    if k12 == k1 == k2:
        return gaussian_mean(lambda x: psi(s1 * x) ** 2)
    return gaussian_pair_mean(lambda x: psi(s1 * x), lambda y: psi(s2 * y), k12 / (s1 * s2))


def one_point(phi: Pointwise, variance: float) -> tuple[float, float]:
    """Computes (C_phi(K), C_phi'(K)) together, for the recursion over layers, without the checks of `kernel`.

    >>> one_point(pointwise("identity"), 2.0)
    (2.0, 1.0)
    """
    closed = closed_form(phi)
    if closed is not None:
        k = np.float64(variance)
        return float(closed[0](k, k, k)), float(closed[1](k, k, k))
    scale = np.sqrt(max(variance, _SMALLEST_VARIANCE))
    both = gaussian_mean(lambda x: np.square((phi.function(scale * x), phi.derivative(scale * x)))).value
    signal, slope = np.asarray(both).tolist()
    at_rest = variance == 0 and signal < _SMALLEST_VARIANCE * (1 + 2 * slope)  # phi is continuous and 0 at 0
    return (0.0 if at_rest else signal), slope
