"""Gaussian expectations by quadrature that refines until it has converged, and says how far it got.

Activations have kinks at 0 and steep flanks, where Gauss-Hermite rules converge slowly or not at all. Both
rules below put a seam at 0 and refine where they must.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray
Integrand = Callable[[Any], Any]

TOLERANCE = 1e-13
REACH = 12.0  # exp(-REACH^2 / 2) is 5e-32: beyond it lies nothing that float64 could see
_SEAMS = np.array([0.0, 1.5, 3.0, 6.0, REACH])  # finer where the Gaussian has its mass
_INNER = np.array([1e-6, 1e-4, 1e-2])  # where phi(sqrt(K) x) has its flank if K is large: one wide panel would miss it
_ORDER = 20
_MAX_BISECTIONS = 50  # halving a panel of length 6 so often leaves 5e-15, less than the weight of any kink
_MAX_PANELS = 4096
_ANGULAR_NODES = (24, 48, 96, 192, 384)
_RADIAL_NODES = (16, 24, 32, 48, 64)


@dataclass(frozen=True)
class Estimate:
    """A value and an estimate of its error.

    Attributes:
        value: the integral, a float or an array of several at once.
        error: the difference between the last two refinements, 0 for a closed form.
        evaluations: how many points the integrand was evaluated at.
    """

    value: float | Array
    error: float
    evaluations: int


@lru_cache
def legendre(order: int) -> tuple[Array, Array]:
    """Nodes and weights of the Gauss-Legendre rule on [-1, 1], computed once per order."""
    return np.polynomial.legendre.leggauss(order)


def _on_panels(left: Array, right: Array) -> tuple[Array, Array]:
    """Nodes and weights (Gaussian density included), each of shape (panels, order)."""
    nodes, weights = legendre(_ORDER)
    half = (right - left)[:, None] / 2
    x = (left + right)[:, None] / 2 + half * nodes
    return x, half * weights * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def _refined(left: Array, right: Array) -> tuple[Array, Array, Array]:
    """Nodes and weights of the panels and of their halves: (panels, 3, order), and the midpoints."""
    middle = (left + right) / 2
    rules = [_on_panels(left, right), _on_panels(left, middle), _on_panels(middle, right)]
    return np.stack([r[0] for r in rules], 1), np.stack([r[1] for r in rules], 1), middle


@lru_cache
def _first_pass() -> tuple[Array, Array, Array, Array, Array]:
    seams = np.sort(np.concatenate([_SEAMS, _INNER]))
    left = np.concatenate([-seams[:0:-1], seams[:-1]])
    right = np.concatenate([-seams[-2::-1], seams[1:]])
    return left, right, *_refined(left, right)


def gaussian_mean(integrand: Integrand, tolerance: float = TOLERANCE) -> Estimate:
    """E[f(x)] for x ~ N(0, 1), by adaptive bisection of Gauss-Legendre panels with a seam at 0.

        E[f] = int dx / sqrt(2 pi) exp(-x^2 / 2) f(x)

    Arguments:
        integrand: f, mapping nodes of shape (n,) to values of shape (n,) or, for k integrals at once, (k, n).
        tolerance: asked of every integral, relative to the largest of them (or to 1 if that is larger).

    Returns:
        An `Estimate`; its error says what was reached if the tolerance was not.

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
        if gap.max() > allowed:  # only now does it matter how large the integrals are
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
    """E[f(x) g(y)] for standard Gaussians x, y with the given correlation, in polar coordinates.

        E = int_0^inf dr r exp(-r^2 / 2) int_0^2pi dtheta / 2 pi  f(r cos theta) g(r cos(theta - arccos rho))

    The lines x = 0 and y = 0, where f and g may have kinks, are rays in these coordinates: the seams of the
    angle.

    Arguments:
        f, g: vectorised functions of one variable.
        correlation: rho, between -1 and 1.
        tolerance: asked of the value, relative to it if it is above 1.

    Returns:
        An `Estimate`.

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
    nodes, weights = legendre(order)
    half = np.diff(seams)[:, None] / 2
    return (seams[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()
