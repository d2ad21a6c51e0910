"""Gaussian expectations by adaptive quadrature with error estimates.

Activations have kinks at 0 and steep flanks, for which Gauss-Hermite rules converge slowly or not at all. Both rules below
place a panel boundary at 0 and refine where necessary.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gnode import errors

Array = np.ndarray
Integrand = Callable[[Any], Any]

TOLERANCE = 1e-13
REACH = 12.0  # exp(-REACH^2 / 2) is 5e-32: the mass beyond it is below the resolution of float64
_SEAMS = np.array([0.0, 1.5, 3.0, 6.0, REACH])  # finer where the Gaussian has its mass
_INNER = np.array([1e-6, 1e-4, 1e-2])  # for large K, phi(sqrt(K) x) varies here, which one wide panel would miss
_ORDER = 20
_MAX_BISECTIONS = 50  # halves a panel of length 6 to 5e-15, where a kink no longer matters
_MAX_PANELS = 4096
_ANGULAR_NODES = (24, 48, 96, 192, 384)
_RADIAL_NODES = (16, 24, 32, 48, 64)


@dataclass(frozen=True)
class Estimate:
    """A value and an estimate of its error.

    **Attributes:**

    - `value`: the integral, a float, or an array of several integrals.
    - `error`: the difference between the last two refinements; 0 for a closed form.
    - `evaluations`: the number of points at which the integrand was evaluated.

    >>> Estimate(0.5, 1e-15, 480)
    Estimate(value=0.5, error=1e-15, evaluations=480)
    """

    value: float | Array
    error: float
    evaluations: int

    def __repr__(self) -> str:
        return f"Estimate(value={errors.shown(self.value)}, error={self.error:.3g}, evaluations={self.evaluations})"


@lru_cache
def legendre(order: int) -> tuple[Array, Array]:
    """Returns the nodes and weights of the Gauss-Legendre rule on [-1, 1], computed once per order."""
    return np.polynomial.legendre.leggauss(order)


def _on_panels(left: Array, right: Array) -> tuple[Array, Array]:
    """Returns nodes and weights (Gaussian density included), each of shape (panels, order)."""
    nodes, weights = legendre(_ORDER)
    half = (right - left)[:, None] / 2
    x = (left + right)[:, None] / 2 + half * nodes
    return x, half * weights * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def _refined(left: Array, right: Array) -> tuple[Array, Array, Array]:
    """Returns nodes and weights of the panels and of their halves, of shape (panels, 3, order), and the midpoints."""
    middle = (left + right) / 2
    rules = [_on_panels(left, right), _on_panels(left, middle), _on_panels(middle, right)]
    return np.stack([r[0] for r in rules], 1), np.stack([r[1] for r in rules], 1), middle


@lru_cache
def _first_pass() -> tuple[Array, Array, Array, Array, Array]:
    """Returns the panels before any refinement and their rules."""
    seams = np.sort(np.concatenate([_SEAMS, _INNER]))
    left = np.concatenate([-seams[:0:-1], seams[:-1]])
    right = np.concatenate([-seams[-2::-1], seams[1:]])
    return left, right, *_refined(left, right)


def gaussian_mean(integrand: Integrand, tolerance: float = TOLERANCE) -> Estimate:
    """Computes E[f(x)] for x ~ N(0, 1) by adaptive bisection of Gauss-Legendre panels with a boundary at 0.

        E[f] = int dx / sqrt(2 pi) exp(-x^2 / 2) f(x)

    **Arguments:**

    - `integrand`: f, which maps nodes of shape (n,) to values of shape (n,) or, for k integrals at once, (k, n).
    - `tolerance`: the tolerance of every integral, relative to the largest of them (or to 1 if that is larger).

    **Returns:** an `Estimate`. Its error exceeds the tolerance if the quadrature did not converge.

    >>> bool(abs(gaussian_mean(lambda x: np.abs(x)).value - np.sqrt(2 / np.pi)) < 1e-14)
    True
    """
    left, right, nodes, weights, middle = _first_pass()
    total, error, evaluations = 0.0, 0.0, 0
    for bisection in range(_MAX_BISECTIONS):
        values = np.asarray(integrand(nodes.ravel()))
        evaluations += nodes.size
        parts = np.einsum("...n,...n->...", values.reshape(*values.shape[:-1], *nodes.shape), weights)
        fine = parts[..., 1] + parts[..., 2]  # (..., panels)
        gap = np.abs(fine - parts[..., 0]).reshape(-1, nodes.shape[0]).max(0)
        allowed = tolerance / gap.size
        if gap.max() > allowed:  # the size of the integrals matters only in this case
            allowed *= max(1.0, float(np.max(np.abs(np.sum(fine, -1) + total))))
        rough = gap > allowed
        if not rough.any() or bisection == _MAX_BISECTIONS - 1 or np.sum(rough) > _MAX_PANELS:
            total, error = total + np.sum(fine, -1), error + float(np.sum(gap))
            break
        total, error = total + np.sum(fine[..., ~rough], -1), error + float(np.sum(gap[~rough]))
        ends = left[rough], middle[rough], right[rough]
        left, right = np.concatenate(ends[:2]), np.concatenate(ends[1:])
        nodes, weights, middle = _refined(left, right)
    return Estimate(total if np.ndim(total) else float(total), error, evaluations)


def gaussian_pair_mean(f: Integrand, g: Integrand, correlation: float, tolerance: float = TOLERANCE) -> Estimate:
    """Computes E[f(x) g(y)] for standard Gaussians x, y with the given correlation, in polar coordinates.

        E = int_0^inf dr r exp(-r^2 / 2) int_0^2pi dtheta / 2 pi  f(r cos theta) g(r cos(theta - arccos rho))

    The lines x = 0 and y = 0, where f and g may have kinks, are rays in these coordinates. The angular panels end at them.

    **Arguments:**

    - `f`, `g`: vectorised functions of one variable.
    - `correlation`: rho, between -1 and 1.
    - `tolerance`: the tolerance of the value, relative to it if it is above 1.

    **Returns:** an `Estimate`.

    >>> est = gaussian_pair_mean(lambda x: x, lambda y: np.maximum(y, 0), 0.3)
    >>> bool(abs(est.value - 0.15) < 1e-13)
    True
    """
    turn = float(np.arccos(np.clip(correlation, -1.0, 1.0)))
    quarter = np.pi / 2
    seams = np.unique([-quarter, turn - quarter, quarter, turn + quarter, 3 * quarter])
    evaluations, previous, value, error = 0, np.nan, np.nan, np.inf
    for angular, radial in zip(_ANGULAR_NODES, _RADIAL_NODES):
        theta, arc = _composite(seams, angular)
        r, length = _composite(_SEAMS, radial)
        area = np.outer(length * r * np.exp(-(r**2) / 2), arc / (2 * np.pi))
        value = float(np.sum(area * f(np.outer(r, np.cos(theta))) * g(np.outer(r, np.cos(theta - turn)))))
        evaluations += area.size
        error = abs(value - previous)
        if error <= tolerance * max(1.0, abs(value)):
            break
        previous = value
    return Estimate(value, error, evaluations)


def _composite(seams: Array, order: int) -> tuple[Array, Array]:
    """Returns the nodes and weights of a Gauss-Legendre rule on each interval between `seams`."""
    nodes, weights = legendre(order)
    half = np.diff(seams)[:, None] / 2
    return (seams[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()
