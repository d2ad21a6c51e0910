"""Balanced networks: the spectrum of weights that obey Dale's law, and their critical scale.

Signs give the weights of a column a mean, and the means an eigenvalue of order sqrt N. It vanishes if rows sum to zero.
Here the excitatory weights of each row sum to T and the inhibitory ones to -T, whatever was drawn (`BalancedNetwork`).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.theory._pointwise import pointwise
from gnode.theory._roots import bracketed_root

_ANGLES = 181  # of the boundary of the spectrum, in its upper half
_EXPECTED = 2 * math.log(2)  # eigenvalues beyond the median of the largest modulus; they come in conjugate pairs


@checked_class
@dataclass(frozen=True)
class BalancedNetwork:
    """An ensemble of sign-constrained weights W_ij = T s_j d_ij, which are balanced in every row.

    The first n_E units are excitatory (s = 1), the other n_I inhibitory (s = -1). A unit receives K_E excitatory and K_I
    inhibitory connections, a share `density` of all, from units chosen at random. Their d are gamma variables of shape k
    divided by their sum (a Dirichlet distribution), so they are positive and sum to 1 in either population. Hence

        W u_E = T 1,   W u_I = -T 1,   W 1 = 0          (u_E, u_I: the indicators of the two populations)

    in every draw: span(u_E, u_I) is invariant, W^2 is zero on it, and the means of the columns give no eigenvalue but zero.
    The other N - 2 eigenvalues are those of the fluctuations. The variances of a row sum, in population b of n_b units, to

        c_b = n_b var_b = T^2 [(k + 1) / (k K_b + 1) - 1 / n_b]

    and the spectrum fills a disc of radius sqrt(c_E + c_I) = sqrt(N [f var_E + (1 - f) var_I]) (Rajan and Abbott 2006).
    Without self connections the diagonal lacks its means, T / (n_E - 1) and -T / (n_I - 1). What is missing shifts the
    disc's two parts by d_b = -T / (n_E - 1) and T / (n_I - 1), and its boundary becomes
    c_E / |z - d_E|^2 + c_I / |z - d_I|^2 = 1. The shifts are of order 1 / sqrt N: still 7% of the radius at
    N = 1000 and f = 0.8.

    **Arguments:**

    - `units`: N.
    - `excitatory`: f, the share of excitatory units. Unless it is 0 or 1, there is at least one unit of either kind.
    - `density`: the share of connections that exist; at least one from either population.
    - `self_connections`: whether a unit may connect to itself.
    - `shape`: k; the weights of a population that exist have a coefficient of variation of about 1 / sqrt k.

    >>> BalancedNetwork(1000, excitatory=0.8, density=0.5).in_degrees.tolist()
    [[400, 100], [400, 100]]
    """

    units: int
    excitatory: float = 0.8
    density: float = 1.0
    self_connections: bool = True
    shape: int = 2

    def __post_init__(self):
        object.__setattr__(self, "units", errors.whole("units", self.units))
        object.__setattr__(self, "shape", errors.whole("shape", self.shape, at_most=100))
        object.__setattr__(self, "excitatory", errors.share("excitatory", self.excitatory))
        object.__setattr__(self, "density", errors.share("density", self.density, zero=False))

    @property
    def populations(self) -> tuple[int, int]:
        """n_E and n_I."""
        count = round(self.excitatory * self.units)
        if 0 < self.excitatory < 1 and self.units > 1:
            count = min(max(count, 1), self.units - 1)
        return count, self.units - count

    @property
    def sources(self) -> np.ndarray:
        """How many units could connect to a unit: rows for its population, columns for theirs."""
        return np.tile(self.populations, (2, 1)) - (0 if self.self_connections else 1) * np.eye(2, dtype=int)

    @property
    def in_degrees(self) -> np.ndarray:
        """How many units do connect to a unit: rows for its population, columns for theirs."""
        return np.where(self.sources > 0, np.maximum(1, np.round(self.density * self.sources)), 0).astype(int)

    @property
    def can_balance(self) -> bool:
        """Whether every unit receives both kinds of connections, and these vary between units."""
        return bool(np.all(self.sources > 0)) and sum(self._variances) > 1e-12

    @cached_property
    def edge(self) -> float:
        """The spectral radius at T = 1 as N grows: of the disc, or of its shifted form."""
        return float(self._boundary[0].max())

    @cached_property
    def radius(self) -> float:
        """The spectral radius at T = 1 of a drawn network: the median of the largest modulus of its N eigenvalues.

        It exceeds `edge` by about 1 / sqrt N. Beyond the boundary r(t) the density of eigenvalues falls from p(t), its value
        just inside, as in Ginibre's ensemble: p erfc(sqrt(2 pi p) y) / 2 at a distance y. So the expected number beyond R is

            n(R) = integral dt r p  integral_(R - r)^inf dy erfc(sqrt(2 pi p) y) / 2.

        Eigenvalues come in pairs, and n(R) / 2 = log 2 at the median of the largest.
        """
        boundary, density = self._boundary
        steep = np.sqrt(2 * np.pi * density)

        def excess(R: float) -> float:
            y = steep * (R - boundary)
            beyond = np.exp(-(y**2)) / np.sqrt(np.pi) - y * special.erfc(y)
            upper = np.pi * np.mean(boundary * density * beyond / (2 * steep))
            return float(2 * upper) - _EXPECTED

        low, high = 0.5 * self.edge, 3.0 * self.edge
        return bracketed_root(excess, low, high, 1e-12) if excess(low) > 0 > excess(high) else self.edge

    @property
    def _variances(self) -> tuple[float, float]:
        """c_E and c_I at T = 1, as means over the rows."""
        k, K, n = self.shape, np.maximum(self.in_degrees, 1), np.maximum(self.sources, 1)
        of_rows = np.asarray(self.populations) / self.units
        excitatory, inhibitory = of_rows @ ((k + 1) / (k * K + 1) - 1 / n)
        return float(excitatory), float(inhibitory)

    @cached_property
    def _boundary(self) -> tuple[np.ndarray, np.ndarray]:
        """The boundary of the spectrum at angles from 0 to pi, and the density of eigenvalues there.

        With q(z) = sum_b c_b / |z - d_b|^2 the boundary is q = 1, and the density on it |grad q|^2 / (4 pi sum_j c_j^2 /
        |z - d_j|^4), where the last sum is over units.
        """
        if not self.can_balance:
            raise errors.ArgumentError(
                f"units is {self.units} and excitatory is {self.excitatory:g}, but a balanced network needs at least two "
                "units that are excitatory and two that are inhibitory."
            )
        c, n = np.array(self._variances), np.array(self.populations)
        d = np.zeros(2) if self.self_connections else np.array([-1, 1]) / (n - 1)
        ray = np.exp(1j * np.linspace(0, np.pi, _ANGLES))
        low, high = np.full(_ANGLES, np.abs(d).max()), np.full(_ANGLES, np.abs(d).max() + np.sqrt(c.sum()))
        for _ in range(60):  # bisection: q falls along a ray, beyond the shifts
            middle = (low + high) / 2
            inside = (c / np.abs((middle * ray)[:, None] - d) ** 2).sum(1) > 1
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        apart = (high * ray)[:, None] - d
        slope = np.abs((2 * c / (np.conj(apart) * np.abs(apart) ** 2)).sum(1))
        return high, slope**2 / (4 * np.pi * (c**2 / n / np.abs(apart) ** 4).sum(1))


@checked
def critical_strength(network: BalancedNetwork, activation: Any = "relu", baseline: float = 1.0) -> float:
    """Computes T*, at which tau dh/dt = -h + W phi(h) + b is critical at its uniform fixed point.

    Rows sum to zero. With one bias b for all units, h = b 1 therefore is a fixed point for any phi, at any N. The recurrent
    part of the Jacobian there is phi'(b) W, whose spectral radius is 1 at

        T* = 1 / (phi'(b) rho),    rho = `BalancedNetwork.radius`.

    **Arguments:**

    - `network`: the ensemble of weights.
    - `activation`: phi, as in `pointwise`.
    - `baseline`: b. For ReLU it must be positive: at 0 there is a kink, and below no unit is active.

    **Returns:** T*, the sum of the excitatory weights of each row.

    **Raises:** `ArgumentError` if phi' is not positive at the baseline, or the network is too small to balance.

    >>> round(critical_strength(BalancedNetwork(1000), "sigmoid", 0.0) / critical_strength(BalancedNetwork(1000)), 12)
    4.0
    """
    baseline = float(errors.finite("baseline", baseline))
    phi = pointwise(activation)
    slope = float(np.asarray(phi.derivative(np.array([baseline])))[0])
    if not slope > 1e-6:
        raise errors.ArgumentError(
            f"baseline is {baseline:g}, where the slope of {phi.name} is {slope:g}, but a critical network needs a positive "
            "slope; choose another baseline, such as 1."
        )
    return 1 / (slope * network.radius)
