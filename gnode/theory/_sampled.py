"""Networks of finite width drawn from a `RandomStack`, in numpy and float64.

The theory describes infinite width. Tests and the command line compare it with the networks drawn here.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from gnode import errors
from gnode.arguments import checked
from gnode.theory._mean_field import SCALINGS, RandomStack
from gnode.theory._pointwise import Array, Pointwise

_RUNAWAY = 1e12  # above this mean of h^2 the state is taken to grow without bound
_RELAXATION_STEP = 0.5  # of Euler's method, which is then stable if the eigenvalues of J lie in the unit disc
_SAME = 1e-4  # Jacobians that differ by less, relative to their largest entry, count as equal
_DISPLACEMENT = 1e-6  # the displacement of a state from 0, where ReLU has no derivative
_WARM_UP = 50.0  # time constants discarded before a simulation is measured


@dataclass(frozen=True)
class SampledField:
    """One network of the ensemble: dh/dt = G(h) * (-h + F(h)), G = sigmoid(W_z h) or 1.

    **Attributes:**

    - `weights`: W^0, ..., W^(L-1), each of shape (N_(l+1), N_l).
    - `offsets`: b^l, each of shape (N_(l+1), 1). The first includes the constant input.
    - `phi`, `final_phi`: the activations with their derivatives.
    - `activate_state`: whether phi acts on the state before W^0.
    - `gate`: W_z of shape (N, N), or `None`.

    No example: made by `draw`.
    """

    weights: tuple[Array, ...]
    offsets: tuple[Array, ...]
    phi: Pointwise
    final_phi: Pointwise
    activate_state: bool
    gate: Array | None = None

    def __repr__(self) -> str:
        widths = errors.shown((self.weights[0].shape[1], *(len(weight) for weight in self.weights)))
        gated = "ungated" if self.gate is None else "gated"
        return f"SampledField(widths={widths}, {self.phi.name!r}, final={self.final_phi.name!r}, {gated})"

    def _columns(self, h: Array, tangent: Array | None) -> tuple[Array, Array | None]:
        """Returns states and tangents as arrays of shape (N, batch)."""
        h = errors.array("h", h, (self.weights[0].shape[1], "batch"), finite=False)
        return h, None if tangent is None else errors.array("tangent", tangent, h.shape, finite=False)

    @checked
    def field(self, h: Array, tangent: Array | None = None) -> tuple[Array, Array]:
        """Computes F(h) and, given tangents v, J v. States and tangents have shape (N, batch)."""
        signal, push = self._columns(h, tangent)
        for layer, (weight, offset) in enumerate(zip(self.weights, self.offsets)):
            if layer or self.activate_state:
                push = None if push is None else self.phi.derivative(signal) * push
                signal = self.phi.function(signal)
            signal = weight @ signal + offset
            push = None if push is None else weight @ push
        push = None if push is None else self.final_phi.derivative(signal) * push
        return self.final_phi.function(signal), push

    @checked
    def flow(self, h: Array, tangent: Array | None = None) -> tuple[Array, Array]:
        """Computes dh/dt and, given tangents v, the derivative of dh/dt along them."""
        h, tangent = self._columns(h, tangent)
        target, push = self.field(h, tangent)
        if self.gate is None:
            return target - h, None if push is None else push - tangent
        opening = special.expit(self.gate @ h)
        if push is None or tangent is None:
            return opening * (target - h), None
        turning = opening * (1 - opening) * (self.gate @ tangent)
        return opening * (target - h), turning * (target - h) + opening * (push - tangent)

    @checked
    def jacobian(self, h: Array) -> Array:
        """Computes J = dF/dh at one state of shape (N,), without the leak."""
        h = errors.array("h", h, (self.weights[0].shape[1],), finite=False)
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


@checked
def draw(stack: RandomStack, state: int, seed: int = 0, sigma_z: float = 0.0) -> SampledField:
    """Draws a network of the ensemble with N = `state` units. The hidden widths follow from the aspect ratio.

        W^l_ij ~ N(0, sigma_w^2 / N_l)  or  N(0, sigma_w^2 / (N_l + N_(l+1))),   W_z,ij ~ N(0, sigma_z^2 / N)

    **Arguments:**

    - `stack`: the ensemble.
    - `state`: N.
    - `seed`: the seed of the random generator.
    - `sigma_z`: the scale of the gate's weights. With 0 there is no gate, that is, G = 1.

    **Returns:** a `SampledField`.

    >>> draw(RandomStack(2, 1.0, aspect=3.0), state=10).weights[0].shape
    (30, 10)
    """
    state, seed = errors.whole("state", state), errors.seed("seed", seed)
    errors.not_negative("sigma_z", sigma_z)
    widths = _widths(stack, state)
    errors.affordable("state", state, 8.0 * (state**2 + sum(a * b for a, b in itertools.pairwise(widths))))
    rng = np.random.default_rng(seed)
    weights, offsets = [], []
    for layer, (before, after) in enumerate(itertools.pairwise(widths)):
        fan = before if stack.scaling == SCALINGS[0] else before + after
        weights.append(rng.normal(0.0, stack.sigma_w / np.sqrt(fan), (after, before)))
        scale = np.sqrt(stack.offset) if layer == 0 else stack.sigma_b
        offsets.append(scale * rng.normal(size=(after, 1)))
    gate = rng.normal(0.0, sigma_z / np.sqrt(state), (state, state)) if sigma_z > 0 else None
    return SampledField(tuple(weights), tuple(offsets), stack.phi, stack.final_phi, stack.activate_state, gate)


def _widths(stack: RandomStack, state: int) -> list[int]:
    """Returns the widths N_0, ..., N_L of a network with N_0 = `state`."""
    if not isinstance(stack.aspect, Sequence | np.ndarray):
        return [state] + [max(1, round(stack.aspect * state))] * (stack.depth - 1) + [state]
    return [max(1, round(width / stack.aspect[0] * state)) for width in stack.aspect]


@dataclass(frozen=True)
class Measured:
    """The spectrum of the Jacobian of one drawn network, at a fixed point or at typical states.

    **Attributes:**

    - `eigenvalues`: the complex eigenvalues of J = dF/dh, of shape (places, N).
    - `state`: h, of shape (N,).
    - `state_variance`: the mean of h^2, to compare with C_h.
    - `residual`: the root mean square of -h + F(h).
    - `steps`: the number of relaxation steps.
    - `status`: "at rest" (the residual is below the tolerance), "moving" (it is still above it after the last step),
        "runs away" (the state grew without bound), "zero" (the fixed point is 0), or "typical".

    No example: made by `measure`.
    """

    eigenvalues: Array
    state: Array
    state_variance: float
    residual: float
    steps: int
    status: str

    def __repr__(self) -> str:
        values = f"abscissa={self.abscissa():.6g}, radius={self.radius:.6g}, state_variance={self.state_variance:.6g}"
        return f"Measured({self.state.size} units, {values}, status={self.status!r})"

    @property
    def radius(self) -> float:
        """Returns the largest |eigenvalue| of J, averaged over places, to compare with rho."""
        return float(np.abs(self.eigenvalues).max(-1).mean())

    @checked
    def abscissa(self, leak: float = 1.0) -> float:
        """Computes the spectral abscissa of -leak I + J, averaged over places."""
        return float(self.eigenvalues.real.max(-1).mean()) - errors.finite("leak", leak)


@checked
def measure(
    stack: RandomStack, state: int, seed: int = 0, max_steps: int = 4000, tolerance: float = 1e-8, places: int = 1
) -> Measured:
    """Draws a network, relaxes it to a fixed point, and computes the spectrum of its Jacobian there.

    Without bias and input the fixed point is 0, and the Jacobian is evaluated next to it. If phi has a kink at 0 (ReLU), the
    Jacobian depends on the direction of the displacement, and `places` directions are used.

    **Arguments:**

    - `stack`: the ensemble. It must be stable or critical for a fixed point to be found.
    - `state`: N.
    - `seed`: the seed of the random generator.
    - `max_steps`: the largest number of relaxation steps, of half a time constant each.
    - `tolerance`: the residual below which the state counts as a fixed point.
    - `places`: the number of directions of displacement from a fixed point at 0.

    **Returns:** a `Measured`.

    >>> measure(RandomStack(2, 0.5), state=50).status
    'zero'
    """
    state, seed = errors.whole("state", state), errors.seed("seed", seed)
    places, max_steps = errors.whole("places", places), errors.whole("max_steps", max_steps, at_least=0)
    errors.not_negative("tolerance", tolerance)
    network = draw(stack, state, seed)
    errors.affordable("places", places, 24.0 * places * state**2)
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
    values = _eigenvalues(network.jacobian(h[:, 0]))
    status = "at rest" if residual <= tolerance else "moving"
    status = "runs away" if np.mean(h**2) > _RUNAWAY else status
    return Measured(values[None], h[:, 0], float(np.mean(h**2)), residual, steps, status)


@checked
def measure_typical(stack: RandomStack, state: int, variance: float, seed: int = 0, places: int = 1) -> Measured:
    """Computes the Jacobian's spectrum of the network that `measure` draws at random states h_i ~ N(0, variance).

    The states are independent of the weights, as the formula for rho assumes if `variance` is C_h. The fixed points of a
    finite network are not typical states: relaxation only finds stable ones.

    **Arguments:**

    - `stack`, `state`, `seed`: as in `measure`.
    - `variance`: the variance of the states.
    - `places`: the number of states to average over.

    **Returns:** a `Measured`. Its `state` and `residual` are those of the last state.

    >>> measure_typical(RandomStack(2, 0.5, "tanh"), state=50, variance=0.1, places=3).eigenvalues.shape
    (3, 50)
    """
    places, state = errors.whole("places", places), errors.whole("state", state)
    seed = errors.seed("seed", seed)
    network = draw(stack, state, seed)
    errors.affordable("places", places, 24.0 * places * state**2)
    scale = np.sqrt(errors.positive("variance", variance))
    states = scale * np.random.default_rng(seed + 1).normal(size=(places, state))
    h = states[-1]
    residual = float(np.sqrt(np.mean(network.flow(h[:, None])[0] ** 2)))
    return Measured(_spectra(network, states), h, float(np.mean(states**2)), residual, 0, "typical")


def _spectra(network: SampledField, states: Sequence[Array] | Array) -> Array:
    """Computes the spectrum at each state, or a single one if all have the same Jacobian."""
    found = [network.jacobian(h) for h in states]
    close = _SAME * np.abs(found[0]).max()
    if all(np.allclose(J, found[0], rtol=0, atol=close) for J in found):
        found = found[:1]
    return np.stack([_eigenvalues(J) for J in found])


def _eigenvalues(J: Array) -> Array:
    """Computes the spectrum; NaN where the state has run away so far that the Jacobian is not finite."""
    return np.linalg.eigvals(J) if np.all(np.isfinite(J)) else np.full(len(J), np.nan + 0j)


@dataclass(frozen=True)
class Simulation:
    """Statistics of a drawn network in its stationary state.

    **Attributes:**

    - `lags`: tau in units of the time constant, of shape (n,).
    - `autocorrelation`: C_h(tau) = <h_i(t) h_i(t + tau)> over units, times and trajectories, of shape (n,).
    - `exponent`: the largest Lyapunov exponent.
    - `exponent_error`: its standard error over trajectories and quarters of the run.

    No example: made by `simulate`.
    """

    lags: Array
    autocorrelation: Array
    exponent: float
    exponent_error: float

    def __repr__(self) -> str:
        values = f"exponent={self.exponent:.4g}, exponent_error={self.exponent_error:.2g}"
        return f"Simulation({values}, {self.lags.size} lags up to {self.lags[-1]:g})"


@checked
def simulate(
    network: SampledField, duration: float = 100.0, step: float = 0.1, max_lag: float = 10.0, batch: int = 4,
    warm_up: float = _WARM_UP, seed: int = 0,
) -> Simulation:  # fmt: skip
    """Measures C_h(tau) and the largest Lyapunov exponent of a drawn network by the Runge-Kutta method of order four.

    **Arguments:**

    - `network`: a network from `draw`, gated or not.
    - `duration`: the measured time, in time constants.
    - `step`: the step of the integrator and of the lags.
    - `max_lag`: the largest tau.
    - `batch`: the number of trajectories from independent initial states, each with one tangent vector.
    - `warm_up`: the time discarded before the measurement, in time constants.
    - `seed`: the seed of the initial states.

    **Returns:** a `Simulation`.

    >>> simulate(draw(RandomStack(1, 0.5), state=20), duration=5.0, max_lag=1.0, warm_up=5.0).lags.size
    11
    """
    for name, value in (("duration", duration), ("step", step), ("max_lag", max_lag)):
        errors.positive(name, value)
    errors.not_negative("warm_up", warm_up)
    batch, state = errors.whole("batch", batch), network.weights[0].shape[1]
    steps = round(min((warm_up + duration) / step, 2.0 * errors.LARGEST_COUNT))
    errors.whole("the number of steps, duration / step,", steps)
    errors.affordable("duration", duration, 8.0 * duration / step * state * batch)
    rng = np.random.default_rng(errors.seed("seed", seed))
    h, v = rng.normal(size=(2, state, batch))
    states, growth = [], []
    for index in range(steps):
        h, v = _runge_kutta(network, h, v, step)
        size = np.linalg.norm(v, axis=0)
        v = v / size
        if index * step >= warm_up:
            states.append(h)
            growth.append(np.log(size) / step)
    if not states:
        raise errors.ArgumentError(f"duration is {duration!r}, but must be at least one step, {step!r}.")
    rates = np.array([part.mean(0) for part in np.array_split(np.array(growth), 4)])
    history = np.array(states)  # (times, N, batch)
    lags = np.arange(min(round(max_lag / step) + 1, len(history)))
    correlation = np.array([np.mean(history[: len(history) - k] * history[k:]) for k in lags])
    return Simulation(lags * step, correlation, float(rates.mean()), float(rates.std() / np.sqrt(rates.size)))


def _runge_kutta(network: SampledField, h: Array, v: Array, step: float) -> tuple[Array, Array]:
    """Advances states and tangents by one step of the classical Runge-Kutta method."""
    dh: Array = np.zeros_like(h)
    dv: Array = np.zeros_like(v)
    sum_h, sum_v = np.zeros_like(h), np.zeros_like(v)
    for fraction, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
        dh, dv = network.flow(h + fraction * step * dh, v + fraction * step * dv)
        sum_h, sum_v = sum_h + weight * dh, sum_v + weight * dv
    return h + step / 6 * sum_h, v + step / 6 * sum_v
