"""Two-time mean-field theory: C_h(tau) and the largest Lyapunov exponent of the chaotic phase (Appendix A).

In the stationary state C_h depends only on tau = t - t', and the two-time equation becomes Newton's equation,

    d^2 C / dtau^2 = C - C_F(C; C_0) = -dV/dC,      C(0) = C_0, C'(0) = 0, C(inf) = C_inf,

for a particle in a potential that depends on its starting point C_0. Energy conservation, V(C_0) = V(C_inf), determines
C_0. This holds at every depth, because C_F at lag tau is a function of C_h at the same lag.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import interpolate, linalg

from gnode import errors
from gnode.arguments import checked
from gnode.theory._correlators import Correlator, two_time
from gnode.theory._mean_field import FixedPoint, RandomStack, fixed_point
from gnode.theory._pointwise import Array
from gnode.theory._quadrature import legendre
from gnode.theory._roots import bracketed_root

_CELLS, _MOST_CELLS = 500, 16_000  # grid sizes of the eigenvalue problem
_EXPONENT_ERROR = 1e-8  # the grid is refined until lambda changes by less
_NEAR = 1e-5  # the relative half-width of the bracket in which C_0 is refined with longer series
_ENERGY_ORDER = 32
_PROFILE_CELLS, _PROFILE_ORDER = 300, 4
_PROFILE_REACH = 9.0  # sech(9)^2 is 6e-8: beyond it C - C_inf is exponential to better than single precision
_SMALLEST_FRACTION = 1e-6  # of the static C_h: the smallest C_0 searched


@dataclass(frozen=True)
class ChaoticState:
    """The stationary state of the chaotic phase.

    **Attributes:**

    - `lags`: tau in units of the time constant, of shape (n,).
    - `autocorrelation`: C_h(tau), of shape (n,).
    - `susceptibility`: chi_L(tau), of shape (n,).
    - `variance`: C_0 = C_h(0).
    - `plateau`: C_inf, the part of the variance that is constant in time.
    - `exponent`: lambda, the largest Lyapunov exponent.
    - `exponent_error`: the change of the extrapolated exponent between the last two grids, plus the effect of the terms that
        the series of the correlators omit.
    - `energy_error`: |V(C_0) - V(C_inf)| relative to the depth of the potential.
    - `iterations`: the number of values of C_0 tried.

    No example: made by `chaotic_state`.
    """

    lags: Array
    autocorrelation: Array
    susceptibility: Array
    variance: float
    plateau: float
    exponent: float
    exponent_error: float
    energy_error: float
    iterations: int

    def __repr__(self) -> str:
        values = f"exponent={self.exponent:.6g}, variance={self.variance:.6g}, plateau={self.plateau:.6g}"
        return f"ChaoticState({values}, {self.lags.size} lags up to {self.lags[-1]:g})"


@checked
def chaotic_state(stack: RandomStack, max_lag: float = 40.0, points: int = 1601) -> ChaoticState:
    """Computes C_h(tau) in the stationary chaotic state, and the largest Lyapunov exponent lambda.

        (1 - d^2/dtau^2) C_h = C_F,          ((lambda + 1)^2 - d^2/dtau^2) Q = chi_L(tau) Q

    The second equation is a Schroedinger equation with potential -chi_L, whose ground state has energy -(lambda + 1)^2.
    C_h' solves it at lambda = 0 and has a node, so the ground state has a lower energy: lambda > 0.

    **Arguments:**

    - `stack`: the ensemble, in its chaotic phase.
    - `max_lag`: the largest tau of the result.
    - `points`: the number of lags of the result.

    **Returns:** a `ChaoticState`.

    **Raises:** `ArgumentError` below the critical scale and where the state is unbounded.

    >>> state = chaotic_state(RandomStack(2, 1.5, "tanh"))
    >>> round(state.exponent, 4), state.plateau
    (0.1448, 0.0)
    """
    errors.positive("max_lag", max_lag)
    points = errors.whole("points", points, at_least=3)
    errors.affordable("points", points, 64.0 * points)
    variance, tried = _starting_variance(stack, _unstable_fixed_point(stack).variance)
    output = two_time(stack, variance)
    plateau = _plateau(output, variance)
    profile, reach = _profile(output, plateau, variance)
    lags = np.linspace(0.0, max_lag, points)
    correlation = profile(lags)
    exponent, exponent_error = _largest_exponent(lambda tau: output(profile(tau))[1], reach)
    # The energy of the ground state changes by no more than the potential does.
    exponent_error += output.left_out * float(output(np.array(variance))[1]) / (2 * (1 + exponent))
    middle = (plateau + variance) / 2
    depth = abs(float(_potential_drop(output, middle, variance)))
    drift = abs(float(_potential_drop(output, plateau, variance))) / depth
    chi = output(correlation)[1]
    return ChaoticState(lags, correlation, chi, variance, plateau, exponent, exponent_error, drift, tried)


def _unstable_fixed_point(stack: RandomStack) -> FixedPoint:
    """Returns the nontrivial fixed point, which must be unstable for a chaotic state to exist."""
    try:
        static = fixed_point(stack, start=1.0)
    except errors.ArgumentError as problem:
        raise errors.ArgumentError(
            f"sigma_w is {stack.sigma_w!r}, where no fixed point exists: above its critical scale such a stack is not "
            "chaotic, it runs away; choose a bounded activation after the last layer, such as final 'tanh'."
        ) from problem
    if static.variance == 0 or static.radius <= 1:
        raise errors.ArgumentError(
            f"sigma_w is {stack.sigma_w!r}, but the chaotic state exists only above the critical scale: here the fixed "
            f"point is stable, with rho(J) = {static.radius:.6g}."
        )
    return static


def _starting_variance(stack: RandomStack, highest: float) -> tuple[float, int]:
    """Solves V(C_0) = V(C_inf) for C_0 below `highest`; returns it and the number of values tried."""
    tried = 0

    def imbalance(variance: float, with_slope: bool = False) -> float:
        nonlocal tried
        tried += 1
        output = two_time(stack, variance, with_slope)
        # If C_F > C up to C_0, `_plateau` returns C_0. The potential drop from 0 is then positive, as it should be.
        plateau = _plateau(output, variance)
        return float(_potential_drop(output, plateau if plateau < variance else 0.0, variance))

    low = highest
    while imbalance(low) <= 0:
        low /= 1.3
        if low < _SMALLEST_FRACTION * highest:
            raise errors.ArgumentError(
                f"sigma_w is {stack.sigma_w!r}, but so close to the critical scale the chaotic state is too small to "
                "resolve; choose a larger one."
            )
    variance = bracketed_root(imbalance, low, min(1.3 * low, highest), rtol=1e-14)
    near = variance * (1 - _NEAR), min(variance * (1 + _NEAR), highest)
    if imbalance(near[0], with_slope=True) > 0 > imbalance(near[1], with_slope=True):
        variance = bracketed_root(partial(imbalance, with_slope=True), *near, rtol=1e-14)  # now with longer series
    return variance, tried


def _plateau(output: Correlator, variance: float) -> float:
    """Finds C_inf, the smallest root of C_F(c) = c: C_F is convex in c, so Newton's method from 0 converges to it."""
    c = np.array(0.0)
    for _ in range(200):
        value, slope = output(c)
        if slope >= 1:
            break
        step = (value - c) / (1 - slope)
        c = c + step
        if c >= variance or step <= 1e-16 * variance:
            break
    return float(min(c, variance)) if c > 1e-15 * variance else 0.0


def _potential_drop(output: Correlator, lower: Array | float, upper: Array | float) -> Array:
    """Integrates V(upper) - V(lower), where -dV/dC = C - C_F, for arrays of limits."""
    nodes, weights = legendre(_ENERGY_ORDER)
    half = (np.asarray(upper) - lower)[..., None] / 2
    c = np.asarray(lower)[..., None] + half * (1 + nodes)
    return np.sum(half * weights * (output(c)[0] - c), axis=-1)


def _profile(output: Correlator, plateau: float, variance: float) -> tuple[Callable[[Array], Array], float]:
    """Returns C_h as a function of tau, and the lag beyond which it differs from C_inf by a negligible amount.

    Quadrature of dC / sqrt(2 (V(C_0) - V(C))) gives tau(C), which is then inverted. The substitution
    C = C_inf + (C_0 - C_inf) sech(s)^2 removes the square-root singularity at the turning point and the logarithm of the
    tail, so that tau is a smooth and nearly linear function of s.
    """
    span = variance - plateau
    s = np.linspace(0.0, _PROFILE_REACH, _PROFILE_CELLS + 1)
    nodes, weights = legendre(_PROFILE_ORDER)
    half = np.diff(s)[:, None] / 2
    inner = s[:-1, None] + half * (1 + nodes)
    fraction = 1 / np.cosh(inner) ** 2
    speed = np.sqrt(2 * _kinetic_energy(output, plateau, variance, span * fraction))
    slope = 2 * span * np.tanh(inner) * fraction / speed
    lag = np.concatenate([[0.0], np.cumsum(np.sum(half * weights * slope, axis=1))])
    mirrored = np.concatenate([-lag[:0:-1], lag]), np.concatenate([-s[:0:-1], s])
    spline = interpolate.make_interp_spline(*mirrored, k=5)  # s is odd in tau
    rate = np.sqrt(max(0.0, 1 - float(output(np.array(plateau))[1])))  # C - C_inf decays as exp(-rate tau)

    def evaluate(tau: Array) -> Array:
        tau = np.abs(np.asarray(tau, float))
        inside = 1 / np.cosh(spline(np.minimum(tau, lag[-1]))) ** 2
        return plateau + span * inside * np.exp(-rate * np.maximum(tau - lag[-1], 0.0))

    return evaluate, float(lag[-1])


def _kinetic_energy(output: Correlator, plateau: float, variance: float, gap: Array) -> Array:
    """Computes C'^2 / 2 at C = C_inf + gap by integration from the nearer end, to avoid cancellation."""
    here = plateau + gap
    from_above = _potential_drop(output, here, variance)
    from_below = -_potential_drop(output, plateau, here)
    return np.where(gap > (variance - plateau) / 2, from_above, from_below)


def _largest_exponent(chi: Callable[[Array], Array], reach: float) -> tuple[float, float]:
    """Computes lambda on successively finer grids with Richardson extrapolation of the second-order scheme.

    Q decays at least as fast as C_h - C_inf, so it is set to 0 at `reach`.
    """
    cells, known, error = _CELLS, [_ground_state(chi, reach, _CELLS)], np.inf
    extrapolated: list[float] = []
    while cells < _MOST_CELLS and error > _EXPONENT_ERROR:
        cells *= 2
        known.append(_ground_state(chi, reach, cells))
        extrapolated.append(known[-1] + (known[-1] - known[-2]) / 3)
        error = float(abs(extrapolated[-1] - extrapolated[-2])) if len(extrapolated) > 1 else np.inf
    return extrapolated[-1], error


def _ground_state(chi: Callable[[Array], Array], reach: float, cells: int) -> float:
    """Computes lambda of the even solution: Q' = 0 at tau = 0, the edge of the first grid cell, and Q = 0 at `reach`."""
    width = reach / cells
    tau = (np.arange(cells) + 0.5) * width
    diagonal = 2 / width**2 - chi(tau)
    diagonal[0] -= 1 / width**2
    energy = linalg.eigh_tridiagonal(
        diagonal, np.full(cells - 1, -1 / width**2), eigvals_only=True, select="i", select_range=(0, 0)
    )[0]
    return float(np.sqrt(max(-energy, 0.0)) - 1)
