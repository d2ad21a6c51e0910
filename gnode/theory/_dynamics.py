"""Two-time mean-field theory: C_h(tau) and the largest exponent of the chaotic phase (Appendix A).

In the stationary state C_h depends on tau = t - t' alone, and the two-time equation becomes Newton's,

    d^2 C / dtau^2 = C - C_F(C; C_0) = -dV/dC,      C(0) = C_0, C'(0) = 0, C(inf) = C_inf,

for a particle in a potential that its own starting point C_0 shapes. Energy conservation, V(C_0) = V(C_inf),
fixes C_0. This holds at every depth, since C_F at lag tau is a function of C_h at the same lag.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import interpolate, linalg

from gnode import errors
from gnode.theory._kernels import closed_form, one_point
from gnode.theory._mean_field import RandomStack, fixed_point, recursion
from gnode.theory._pointwise import Array, Pointwise
from gnode.theory._quadrature import REACH, legendre
from gnode.theory._roots import bracketed_root

_HERMITE_TERMS, _MOST_TERMS = 400, 12_800
_PANELS, _PANEL_ORDER = 24, 40  # resolve the 400th Hermite function, whose waves are 2 pi / sqrt(400) long
_LEFT_OUT, _SIGNAL_LEFT_OUT = (
    1e-9,
    1e-7,
)  # shares, at equal times, that a series may leave out before more terms are taken
_CELLS, _MOST_CELLS = 500, 16_000  # of the eigenvalue problem
_EXPONENT_ERROR = 1e-8
_NEAR = 1e-5  # share of C_0 by which a first solution may be off
_ENERGY_ORDER = 32
_PROFILE_CELLS, _PROFILE_ORDER = 300, 4
_PROFILE_REACH = 9.0  # sech(9)^2 is 6e-8: from there on C - C_inf is an exponential to more than single precision
_SMALLEST_FRACTION = 1e-6  # of the static C_h, from which C_0 is searched upwards


def hermite_coefficients(phi: Pointwise, variance: float, terms: int = _HERMITE_TERMS) -> Array:
    """c_n = E[phi(sqrt(K) x) He_n(x)] / sqrt(n!), x ~ N(0, 1), n = 0, ..., terms - 1.

    Then E[phi(x_1) phi(x_2)] = sum_n c_n^2 (K_12 / K)^n for Gaussians of variance K, and C_phi(K) - sum_n
    c_n^2 is what the truncation leaves out.

    >>> from gnode.theory.pointwise import pointwise
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
    of_parity = right + left, right - left  # He_n is even or odd, so half the line is enough
    before, here = np.zeros_like(x), np.ones_like(x)
    coefficients = np.empty(terms)
    for n in range(terms):
        coefficients[n] = of_parity[n % 2] @ here
        before, here = here, (x * here - np.sqrt(n) * before) / np.sqrt(n + 1)
    return coefficients


@dataclass(frozen=True)
class Correlator:
    """A function of covariances, for whole arrays of them: what they become, and the slope of that.

    `left_out` is the share of the slope at equal times that the series behind it lack; everywhere else they lack less.
    """

    function: Callable[[Array], tuple[Array, Array]]
    left_out: float = 0.0

    def __call__(self, covariance: Array) -> tuple[Array, Array]:
        return self.function(covariance)


def correlator(phi: Pointwise, variance: float, with_slope: bool = True) -> Correlator:
    """The function K_12 -> (C_phi, C_phi') of two points of equal variance K.

    Closed forms where they are known, a Hermite series otherwise. At equal times its slope is compared with C_phi'(K),
    which quadrature finds, and terms are added until they agree. A steep phi (a large K) needs many; one with a kink of
    its own never has enough, which `left_out` tells. Without `with_slope` it is C_phi that has to agree, which takes fewer.

    >>> from gnode.theory.pointwise import pointwise
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
    doublings = int(np.clip(np.ceil(np.log2(4 * variance / _HERMITE_TERMS)), 0, 4))  # a guess
    terms, left_out = _HERMITE_TERMS * 2**doublings // 2, np.inf
    while left_out > allowed and terms < _MOST_TERMS:
        terms *= 2
        powers = hermite_coefficients(phi, variance, terms) ** 2
        found = np.arange(terms) @ powers if with_slope else powers.sum()
        left_out = abs(whole - found) / max(whole, 1e-300)
    keep = max(2, int(np.sum(np.cumsum(powers[::-1])[::-1] > 1e-17 * powers.sum())))
    series = np.polynomial.Polynomial(powers[:keep])
    its_slope = series.deriv()
    return Correlator(lambda k12: (series(k12 / variance), its_slope(k12 / variance) / variance), left_out)


def two_time(stack: RandomStack, state_variance: float, with_slope: bool = True) -> Correlator:
    """The function C_h(tau) -> (C_F(tau), chi_L(tau)) for a stationary state of variance C_h(0).

        K^(l+1)(tau) = sigma_l^2 C_phi(K^l(0), K^l(tau)) + sigma_b^2,   chi_L(tau) = dC_F(tau) / dC_h(tau)

    Arguments:
        stack: the ensemble; its input, if any, is constant in time.
        state_variance: C_h(0).
        with_slope: whether chi_L is needed as precisely as C_F, near tau = 0.

    Returns:
        A vectorised function; chi_L includes the factor of the final activation.

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


@dataclass(frozen=True)
class ChaoticState:
    """The stationary state of the chaotic phase.

    Attributes:
        lags: tau, (n,), in units of the time constant.
        autocorrelation: C_h(tau), (n,).
        susceptibility: chi_L(tau), (n,).
        variance: C_0 = C_h(0).
        plateau: C_inf, the part of the variance that does not change in time.
        exponent: lambda, the largest Lyapunov exponent.
        exponent_error: difference between the last two grids of the eigenvalue problem, extrapolated, and what the
            series of the correlators leave out.
        energy_error: |V(C_0) - V(C_inf)|, relative to the depth of the potential.
        iterations: values of C_0 tried.
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


def chaotic_state(stack: RandomStack, max_lag: float = 40.0, points: int = 1601) -> ChaoticState:
    """C_h(tau) in the stationary chaotic state, and the exponent lambda from the eigenvalue equation for Q.

        (1 - d^2/dtau^2) C_h = C_F,          ((lambda + 1)^2 - d^2/dtau^2) Q = chi_L(tau) Q

    The second is a Schroedinger equation with potential -chi_L, whose ground state has energy -(lambda +
    1)^2. C_h' solves it at lambda = 0 and has a node, so the ground state lies lower: lambda > 0.

    Arguments:
        stack: the ensemble, in its chaotic phase.
        max_lag: largest tau.
        points: lags at which the answer is given.

    Returns:
        A `ChaoticState`. Below criticality, and where the state is unbounded, there is none, which is an
        error.

    >>> state = chaotic_state(RandomStack(2, 1.5, "tanh"))
    >>> round(state.exponent, 4), state.plateau
    (0.1448, 0.0)
    """
    errors.positive("max_lag", max_lag)
    errors.whole("points", points, at_least=3)
    try:
        static = fixed_point(stack, start=1.0)
    except errors.ArgumentError as problem:
        raise errors.ArgumentError(
            f"sigma_w is {stack.sigma_w!r}, where no fixed point exists: above its critical scale such a stack is not "
            "chaotic, it runs away; an activation with a bound after the last layer, such as final 'tanh', gives it a "
            "chaotic phase."
        ) from problem
    if static.variance == 0 or static.radius <= 1:
        raise errors.ArgumentError(
            f"sigma_w is {stack.sigma_w!r}, but the chaotic state exists only above the critical scale: here "
            f"the fixed point is stable, rho(J) = {static.radius:.6g}."
        )
    tried = 0

    def imbalance(variance: float, with_slope: bool = False) -> float:
        nonlocal tried
        tried += 1
        output = two_time(stack, variance, with_slope)
        plateau = _plateau(output, variance)  # at C_0 itself if C_F > C all the way: then the drop from 0 is positive
        return float(_potential_drop(output, plateau if plateau < variance else 0.0, variance))

    low = static.variance
    while imbalance(low) <= 0:
        low /= 1.3
        if low < _SMALLEST_FRACTION * static.variance:
            raise errors.ArgumentError(
                f"sigma_w is {stack.sigma_w!r}, but so near to the critical scale the chaotic state is too "
                "small to resolve. Choose a larger one."
            )
    variance = bracketed_root(imbalance, low, min(1.3 * low, static.variance), rtol=1e-14)
    near = variance * (1 - _NEAR), min(variance * (1 + _NEAR), static.variance)
    if imbalance(near[0], with_slope=True) > 0 > imbalance(near[1], with_slope=True):  # once more, with longer series
        variance = bracketed_root(partial(imbalance, with_slope=True), *near, rtol=1e-14)
    output = two_time(stack, variance)
    plateau = _plateau(output, variance)
    profile, reach = _profile(output, plateau, variance)
    lags = np.linspace(0.0, max_lag, points)
    correlation = profile(lags)
    exponent, exponent_error = _largest_exponent(lambda tau: output(profile(tau))[1], reach)
    # The ground state's energy moves by no more than its potential does.
    exponent_error += output.left_out * float(output(np.array(variance))[1]) / (2 * (1 + exponent))
    middle = (plateau + variance) / 2
    depth = abs(float(_potential_drop(output, middle, variance)))
    drift = abs(float(_potential_drop(output, plateau, variance))) / depth
    chi = output(correlation)[1]
    return ChaoticState(lags, correlation, chi, variance, plateau, exponent, exponent_error, drift, tried)


def _plateau(output: Correlator, variance: float) -> float:
    """C_inf, the smallest root of C_F(c) = c: C_F is convex in c, so Newton's method climbs to it from 0."""
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
    """V(upper) - V(lower), where -dV/dC = C - C_F, for arrays of limits."""
    nodes, weights = legendre(_ENERGY_ORDER)
    half = (np.asarray(upper) - lower)[..., None] / 2
    c = np.asarray(lower)[..., None] + half * (1 + nodes)
    return np.sum(half * weights * (output(c)[0] - c), axis=-1)


def _profile(output: Correlator, plateau: float, variance: float) -> tuple[Callable[[Array], Array], float]:
    """C_h as a function of tau: tau(C) by quadrature of dC / sqrt(2 (V(C_0) - V(C))), then inverted; and the lag from
    which on nothing is left of it but C_inf.

    C = C_inf + (C_0 - C_inf) sech(s)^2 takes the square root out of the turning point and the logarithm out
    of the tail, so that tau is a smooth function of s, nearly linear.
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
    """C'^2 / 2 at C = C_inf + gap, integrated from the nearer end, since from the other it would cancel."""
    here = plateau + gap
    from_above = _potential_drop(output, here, variance)
    from_below = -_potential_drop(output, plateau, here)
    return np.where(gap > (variance - plateau) / 2, from_above, from_below)


def _largest_exponent(chi: Callable[[Array], Array], reach: float) -> tuple[float, float]:
    """lambda on finer and finer grids, Richardson-extrapolated: the scheme is of second order.

    Q falls off at least as fast as C_h - C_inf, so where that has ended (`reach`) it may be set to 0.
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
    """lambda of the even solution: Q' = 0 at tau = 0, an edge of the grid's first cell, and Q = 0 far off."""
    width = reach / cells
    tau = (np.arange(cells) + 0.5) * width
    diagonal = 2 / width**2 - chi(tau)
    diagonal[0] -= 1 / width**2
    energy = linalg.eigh_tridiagonal(
        diagonal, np.full(cells - 1, -1 / width**2), eigvals_only=True, select="i", select_range=(0, 0)
    )[0]
    return float(np.sqrt(max(-energy, 0.0)) - 1)
