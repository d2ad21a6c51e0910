"""Finite networks drawn from a `RandomStack`, to stand beside its theory. Plain numpy, float64.

The rest of this room says what happens at infinite width; tests and the command line compare it with what is
drawn here.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from gnode import errors
from gnode.theory._mean_field import SCALINGS, RandomStack
from gnode.theory._pointwise import Array, Pointwise

_RUNAWAY = 1e12  # a mean of h^2 that means "grows without bound"
_RELAXATION_STEP = 0.5  # Euler: stable for every mode of -I + J whose eigenvalue of J lies in the unit disc
_SAME = 1e-4  # how far Jacobians may be apart, relative to their largest entry, to be the same one
_DISPLACEMENT = 1e-6  # a state at 0 is moved off it so far, since ReLU has no derivative there
_WARM_UP = 50.0  # time constants before a simulation is measured


@dataclass(frozen=True)
class SampledField:
    """One network of the ensemble: dh/dt = G(h) * (-h + F(h)), G = sigmoid(W_z h) or 1.

    Attributes:
        weights: W^0, ..., W^(L-1), each (N_(l+1), N_l).
        offsets: b^l, each (N_(l+1), 1); the first includes the constant input.
        phi, final_phi: the activations with their derivatives.
        activate_state: whether phi acts on the state before W^0.
        gate: W_z, (N, N), or None.
    """

    weights: tuple[Array, ...]
    offsets: tuple[Array, ...]
    phi: Pointwise
    final_phi: Pointwise
    activate_state: bool
    gate: Array | None = None

    def field(self, h: Array, tangent: Array | None = None) -> tuple[Array, Array]:
        """F(h) and, given tangents v, J v; states and tangents are columns, (N, batch)."""
        signal, push = h, tangent
        for layer, (weight, offset) in enumerate(zip(self.weights, self.offsets)):
            if layer or self.activate_state:
                push = None if push is None else self.phi.derivative(signal) * push
                signal = self.phi.function(signal)
            signal = weight @ signal + offset
            push = None if push is None else weight @ push
        push = None if push is None else self.final_phi.derivative(signal) * push
        return self.final_phi.function(signal), push

    def flow(self, h: Array, tangent: Array | None = None) -> tuple[Array, Array]:
        """dh/dt and, given tangents v, the derivative of dh/dt along them."""
        target, push = self.field(h, tangent)
        if self.gate is None:
            return target - h, None if push is None else push - tangent
        opening = special.expit(self.gate @ h)
        if push is None or tangent is None:
            return opening * (target - h), None
        turning = opening * (1 - opening) * (self.gate @ tangent)
        return opening * (target - h), turning * (target - h) + opening * (push - tangent)

    def jacobian(self, h: Array) -> Array:
        """J = dF/dh at one state of shape (N,), without the leak."""
        signal = h[:, None]
        product = np.diag(self.phi.derivative(h)) if self.activate_state else np.eye(h.size)
        signal = self.phi.function(signal) if self.activate_state else signal
        for layer, (weight, offset) in enumerate(zip(self.weights, self.offsets)):
            if layer:
                product = self.phi.derivative(signal) * product
                signal = self.phi.function(signal)
            signal = weight @ signal + offset
            product = weight @ product
        return self.final_phi.derivative(signal) * product


def draw(stack: RandomStack, state: int, seed: int = 0, sigma_z: float = 0.0) -> SampledField:
    """A network of the ensemble with N = `state` units; hidden widths follow the aspect ratio.

        W^l_ij ~ N(0, sigma_w^2 / N_l)  or  N(0, sigma_w^2 / (N_l + N_(l+1))),   W_z,ij ~ N(0, sigma_z^2 / N)

    Arguments:
        stack: the ensemble.
        state: N.
        seed: of numpy's generator.
        sigma_z: scale of the gate's weights; 0 leaves the gate out, so that time runs at its full rate.

    Returns:
        A `SampledField`.

    >>> draw(RandomStack(2, 1.0, aspect=3.0), state=10).weights[0].shape
    (30, 10)
    """
    errors.whole("state", state)
    errors.not_negative("sigma_z", sigma_z)
    rng = np.random.default_rng(seed)
    widths = _widths(stack, state)
    weights, offsets = [], []
    for layer, (before, after) in enumerate(itertools.pairwise(widths)):
        fan = before if stack.scaling == SCALINGS[0] else before + after
        weights.append(rng.normal(0.0, stack.sigma_w / np.sqrt(fan), (after, before)))
        scale = np.sqrt(stack.offset) if layer == 0 else stack.sigma_b
        offsets.append(scale * rng.normal(size=(after, 1)))
    gate = rng.normal(0.0, sigma_z / np.sqrt(state), (state, state)) if sigma_z > 0 else None
    return SampledField(tuple(weights), tuple(offsets), stack.phi, stack.final_phi, stack.activate_state, gate)


def _widths(stack: RandomStack, state: int) -> list[int]:
    if not isinstance(stack.aspect, Sequence | np.ndarray):
        return [state] + [max(1, round(stack.aspect * state))] * (stack.depth - 1) + [state]
    return [max(1, round(width / stack.aspect[0] * state)) for width in stack.aspect]


@dataclass(frozen=True)
class Measured:
    """The Jacobian of one drawn network, at a state where it rests or at typical states.

    Attributes:
        eigenvalues: of J = dF/dh, (places, N) complex.
        state: h, (N,).
        state_variance: mean of h^2, to compare with C_h.
        residual: root mean square of -h + F(h).
        steps: relaxation steps taken.
        status: "at rest" (residual below the tolerance), "moving" (still above it after the last step), "runs
            away" (the state grew without bound), "zero", or "typical".
    """

    eigenvalues: Array
    state: Array
    state_variance: float
    residual: float
    steps: int
    status: str

    @property
    def radius(self) -> float:
        """max |eigenvalue of J|, to compare with rho; the mean over places."""
        return float(np.abs(self.eigenvalues).max(-1).mean())

    def abscissa(self, leak: float = 1.0) -> float:
        """Largest real part of the spectrum of -leak I + J; the mean over places."""
        return float(self.eigenvalues.real.max(-1).mean()) - leak


def measure(
    stack: RandomStack, state: int, seed: int = 0, max_steps: int = 4000, tolerance: float = 1e-8, places: int = 1
) -> Measured:
    """Draws a network, lets it relax, and takes the spectrum of its Jacobian there.

    Without bias and input the state of rest is 0, and the Jacobian is taken next to it. Where phi has a kink at 0 (ReLU) it
    is another one in every direction; `places` of them are averaged over.

    Arguments:
        stack: the ensemble, stable or critical: above that there is no rest to be found.
        state: N.
        seed: of numpy's generator.
        max_steps: relaxation steps of half a time constant.
        tolerance: residual at which the state counts as resting.
        places: directions from a state of rest at 0.

    Returns:
        A `Measured`.

    >>> measure(RandomStack(2, 0.5), state=50).status
    'zero'
    """
    errors.whole("places", places)
    network = draw(stack, state, seed)
    rng = np.random.default_rng(seed + 1)
    h = rng.normal(size=(state, 1))
    at_zero = np.zeros_like(h)
    if np.all(network.field(at_zero)[0] == 0):
        directions = [h[:, 0], *rng.normal(size=(places - 1, state))]
        near = [_DISPLACEMENT * direction for direction in directions]
        return Measured(_spectra(network, near), at_zero[:, 0], 0.0, 0.0, 0, "zero")
    residual, steps = np.inf, 0
    while residual > tolerance and steps < max_steps:
        velocity, _ = network.flow(h)
        residual = float(np.sqrt(np.mean(velocity**2)))
        h = h + _RELAXATION_STEP * velocity
        steps += 1
        if np.mean(h**2) > _RUNAWAY:
            break
    values = np.linalg.eigvals(network.jacobian(h[:, 0]))
    status = "at rest" if residual <= tolerance else "moving"
    status = "runs away" if np.mean(h**2) > _RUNAWAY else status
    return Measured(values[None], h[:, 0], float(np.mean(h**2)), residual, steps, status)


def measure_typical(stack: RandomStack, state: int, variance: float, seed: int = 0, places: int = 1) -> Measured:
    """The Jacobian of the network that `measure` draws, at states drawn without regard to its weights: h_i ~ N(0, variance).

    With the theory's variance C_h this is what the formula for rho speaks of. A finite network comes to rest at states that
    are not typical: only at stable ones, to begin with.

    Arguments:
        stack, state, seed: as in `measure`.
        variance: of the states.
        places: states to average over.

    Returns:
        A `Measured`; `state` and `residual` are those of the last state.

    >>> measure_typical(RandomStack(2, 0.5, "tanh"), state=50, variance=0.1, places=3).eigenvalues.shape
    (3, 50)
    """
    errors.whole("places", places)
    network = draw(stack, state, seed)
    scale = np.sqrt(errors.positive("variance", variance))
    states = scale * np.random.default_rng(seed + 1).normal(size=(places, state))
    h = states[-1]
    residual = float(np.sqrt(np.mean(network.flow(h[:, None])[0] ** 2)))
    return Measured(_spectra(network, states), h, float(np.mean(states**2)), residual, 0, "typical")


def _spectra(network: SampledField, states: Sequence[Array] | Array) -> Array:
    """The spectra at some states; one, if all have the same Jacobian."""
    found = [network.jacobian(h) for h in states]
    close = _SAME * np.abs(found[0]).max()
    if all(np.allclose(J, found[0], rtol=0, atol=close) for J in found):
        found = found[:1]
    return np.stack([np.linalg.eigvals(J) for J in found])


@dataclass(frozen=True)
class Simulation:
    """What a drawn network does in its stationary state.

    Attributes:
        lags: tau, (n,), in units of the time constant.
        autocorrelation: C_h(tau) = <h_i(t) h_i(t + tau)> over units, times and trajectories, (n,).
        exponent: the largest Lyapunov exponent.
        exponent_error: its standard error over trajectories and quarters of the run.
    """

    lags: Array
    autocorrelation: Array
    exponent: float
    exponent_error: float


def simulate(
    network: SampledField, duration: float = 100.0, step: float = 0.1, max_lag: float = 10.0, batch: int = 4,
    warm_up: float = _WARM_UP, seed: int = 0,
) -> Simulation:  # fmt: skip
    """C_h(tau) and the largest exponent of a drawn network, gated or not, by the Runge-Kutta method.

    Arguments:
        network: from `draw`.
        duration: time measured, in time constants, after `warm_up` of them.
        step: of the integrator and of the lags.
        max_lag: largest tau.
        batch: trajectories from independent starts, each with one tangent vector.
        warm_up: time thrown away.
        seed: of the starts.

    Returns:
        A `Simulation`.

    >>> simulate(draw(RandomStack(1, 0.5), state=20), duration=5.0, max_lag=1.0, warm_up=5.0).lags.size
    11
    """
    rng = np.random.default_rng(seed)
    state = network.weights[0].shape[1]
    h, v = rng.normal(size=(2, state, batch))
    states, growth = [], []
    for index in range(round((warm_up + duration) / step)):
        h, v = _runge_kutta(network, h, v, step)
        size = np.linalg.norm(v, axis=0)
        v = v / size
        if index * step >= warm_up:
            states.append(h)
            growth.append(np.log(size) / step)
    rates = np.array([part.mean(0) for part in np.array_split(np.array(growth), 4)])
    history = np.array(states)  # (times, N, batch)
    lags = np.arange(min(round(max_lag / step) + 1, len(history)))
    correlation = np.array([np.mean(history[: len(history) - k] * history[k:]) for k in lags])
    return Simulation(lags * step, correlation, float(rates.mean()), float(rates.std() / np.sqrt(rates.size)))


def _runge_kutta(network: SampledField, h: Array, v: Array, step: float) -> tuple[Array, Array]:
    dh: Array = np.zeros_like(h)
    dv: Array = np.zeros_like(v)
    sum_h, sum_v = np.zeros_like(h), np.zeros_like(v)
    for fraction, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
        dh, dv = network.flow(h + fraction * step * dh, v + fraction * step * dv)
        sum_h, sum_v = sum_h + weight * dh, sum_v + weight * dv
    return h + step / 6 * sum_h, v + step / 6 * sum_v
