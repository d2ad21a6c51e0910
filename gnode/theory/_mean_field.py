"""Mean-field theory of dh/dt = -h + F(h), where F is a random feed-forward stack (Appendix A).

A `RandomStack` describes the ensemble. The functions compute its layer recursion and its fixed points.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.theory._kernels import one_point
from gnode.theory._pointwise import Pointwise, pointwise
from gnode.theory._roots import bracketed_root

Aspect = float | Sequence[Any]
SCALINGS = ("kaiming", "glorot")

_DEEPEST = 100_000  # every layer has factors of its own
_SMALL = 1e-14  # the state variance at which the slope of the kernel at 0 is evaluated
_VANISHING = 1e-18  # below this the state variance is taken to decay to 0
_HUGE = 1e13  # above this the state variance is taken to grow without bound
_LARGEST = 1e50  # the squares and products of such scales are well within float64
_STEP = 2.0  # the ratio of successive variances when a fixed point is bracketed


def _plain(aspect: Any) -> Aspect:
    """Returns an array as plain numbers, and anything else as it is."""
    return aspect.tolist() if isinstance(aspect, np.ndarray | np.number) else aspect


@checked
def layer_factors(depth: int, scaling: str, aspect: Aspect) -> tuple[float, ...]:
    """Computes the L factors sigma_l^2 / sigma_w^2, where Var W^l_ij = sigma_l^2 / N_l.

    Kaiming scaling divides by N_l, so each factor is 1. Glorot scaling divides by N_l + N_(l+1), so each factor is
    1 / (1 + alpha_(l+1)) with alpha_(l+1) = N_(l+1) / N_l. If all hidden layers have width H, the first ratio is H / N and
    the last is N / H.

    **Arguments:**

    - `depth`: L, the number of weight matrices.
    - `scaling`: "kaiming" or "glorot".
    - `aspect`: H / N if all hidden layers have width H, or the L + 1 widths N_0, ..., N_L.

    **Returns:** one factor per weight matrix, starting with the first layer.

    >>> layer_factors(3, "glorot", 3.0)
    (0.25, 0.5, 0.75)
    """
    depth = errors.whole("depth", depth, at_most=_DEEPEST)
    errors.one_of("scaling", scaling, SCALINGS)
    aspect = _plain(aspect)
    if isinstance(aspect, Sequence):
        widths = [errors.positive("aspect", width) for width in aspect]
        if len(widths) != depth + 1 or widths[0] != widths[-1]:
            raise errors.ArgumentError(
                f"aspect is {errors.shown(tuple(aspect))}, but as a list it must hold the depth + 1 = {depth + 1} widths "
                "N_0, ..., N_L, the last equal to the first."
            )
    else:
        widths = [1.0] + [errors.positive("aspect", aspect)] * (depth - 1) + [1.0]
    if scaling == "kaiming":
        return (1.0,) * depth
    return tuple(before / (before + after) for before, after in itertools.pairwise(widths))


@checked_class
@dataclass(frozen=True)
class RandomStack:
    """An ensemble of random fields F: L layers with their scales and activations.

        a^1     = W^0 h + U x + b^0            (W^0 phi(h) with `activate_state`)
        a^(l+1) = W^l phi(a^l) + b^l           l = 1, ..., L - 1
        F       = Phi(a^L)

    **Attributes:**

    - `depth`: L, the number of weight matrices.
    - `sigma_w`: the scale of the weights, with Var W^l_ij = sigma_w^2 / N_l (Kaiming) or sigma_w^2 / (N_l + N_(l+1))
        (Glorot).
    - `activation`: phi, a name of `gnode.activations` or a vectorised function.
    - `scaling`: "kaiming" or "glorot".
    - `sigma_b`: the scale of the biases.
    - `aspect`: H / N, or the widths N_0, ..., N_L; see `layer_factors`.
    - `final`: Phi, the activation after the last layer. The default is the identity.
    - `activate_state`: whether phi also acts on the state before W^0.
    - `input_variance`: sigma_u^2 C_x, the variance that a constant input adds to a^1.

    >>> RandomStack(2, 1.5, sigma_b=0.1)
    RandomStack(depth=2, sigma_w=1.5, sigma_b=0.1)
    >>> RandomStack(depth=2, sigma_w=1.0, scaling="glorot").gains
    (0.5, 0.5)
    """

    depth: int
    sigma_w: float
    activation: Any = "tanh"
    scaling: str = "kaiming"
    sigma_b: float = 0.0
    aspect: Aspect = 1.0
    final: Any = "identity"
    activate_state: bool = False
    input_variance: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", errors.whole("depth", self.depth, at_most=_DEEPEST))
        for name, largest in (("sigma_w", _LARGEST), ("sigma_b", _LARGEST), ("input_variance", _LARGEST**2)):
            if errors.not_negative(name, getattr(self, name)) > largest:
                raise errors.ArgumentError(f"{name} is {getattr(self, name)!r}, but must be at most {largest:g}.")
            object.__setattr__(self, name, float(getattr(self, name)))
        object.__setattr__(self, "aspect", _plain(self.aspect))
        _ = self.gains, self.phi, self.final_phi  # validates the remaining arguments

    def __repr__(self) -> str:
        """Shows the arguments that differ from their defaults."""
        values = {field: getattr(self, field.name) for field in fields(self)}
        given = {f.name: v for f, v in values.items() if type(v) is not type(f.default) or v != f.default}
        return f"RandomStack({', '.join(f'{name}={errors.shown(value)}' for name, value in given.items())})"

    @cached_property
    def gains(self) -> tuple[float, ...]:
        """Returns sigma_l^2 for l = 0, ..., L - 1: sigma_w^2 times `layer_factors`."""
        factors = layer_factors(self.depth, self.scaling, self.aspect)
        return tuple(self.sigma_w**2 * factor for factor in factors)

    @cached_property
    def phi(self) -> Pointwise:
        """Returns the hidden activation with its derivative."""
        return pointwise(self.activation)

    @cached_property
    def final_phi(self) -> Pointwise:
        """Returns the activation after the last layer with its derivative."""
        return pointwise(self.final, "final")

    @property
    def offset(self) -> float:
        """Returns sigma_b^2 + sigma_u^2 C_x, the contribution of biases and input to K^1."""
        return self.sigma_b**2 + self.input_variance


@dataclass(frozen=True)
class Recursion:
    """The variances and susceptibilities of the layers of a stack.

    **Attributes:**

    - `kernels`: K^1, ..., K^L.
    - `susceptibilities`: chi_1, ..., chi_L of the layers.
    - `output`: C_F = C_Phi(K^L), which equals K^L if Phi is the identity.
    - `susceptibility`: dC_F^12 / dC_h^12 at equal times, which is chi_L C_Phi'(K^L) = rho(J)^2.

    No example: made by `recursion`.
    """

    kernels: tuple[float, ...]
    susceptibilities: tuple[float, ...]
    output: float
    susceptibility: float

    def __repr__(self) -> str:
        values = f"output={self.output:.6g}, susceptibility={self.susceptibility:.6g}"
        return f"Recursion({len(self.kernels)} layers, {values})"


@checked
def recursion(stack: RandomStack, state_variance: float) -> Recursion:
    """Computes K^l and chi_l of every layer for a state of variance C_h.

        K^1 = sigma_0^2 C_h + sigma_u^2 C_x + sigma_b^2,    K^(l+1) = sigma_l^2 C_phi(K^l) + sigma_b^2,
        chi_1 = sigma_0^2,                                  chi_(l+1) = sigma_l^2 C_phi'(K^l) chi_l.

    **Arguments:**

    - `stack`: the ensemble.
    - `state_variance`: C_h.

    **Returns:** a `Recursion`.

    >>> recursion(RandomStack(2, 1.0, "relu"), 4.0).kernels
    (4.0, 2.0)
    """
    state_variance = float(errors.not_negative("state_variance", state_variance))
    signal, slope = one_point(stack.phi, state_variance) if stack.activate_state else (state_variance, 1.0)
    kernels, chis = [], []
    for layer, gain in enumerate(stack.gains):
        if layer:
            signal, slope = one_point(stack.phi, kernels[-1])
        kernels.append(gain * signal + (stack.sigma_b**2 if layer else stack.offset))
        chis.append(gain * slope * (chis[-1] if layer else 1.0))
    output, last_slope = one_point(stack.final_phi, kernels[-1])
    return Recursion(tuple(kernels), tuple(chis), output, chis[-1] * last_slope)


@dataclass(frozen=True)
class FixedPoint:
    """A solution of C_h = C_F(C_h), and the stability of the corresponding fixed points of the network.

    **Attributes:**

    - `variance`: C_h.
    - `susceptibility`: chi_L(0), including the factor of the final activation.
    - `error`: |C_F(C_h) - C_h|.
    - `iterations`: the number of passes through the stack.
    - `status`: "zero" for the trivial fixed point, "found" for any other.

    No example: made by `fixed_point`.
    """

    variance: float
    susceptibility: float
    error: float
    iterations: int
    status: str

    @property
    def radius(self) -> float:
        """Returns the spectral radius rho(J) = sqrt(chi_L(0))."""
        return float(np.sqrt(self.susceptibility))

    @checked
    def abscissa(self, leak: float = 1.0) -> float:
        """Computes the spectral abscissa rho - leak of -leak I + J, which is never negative without a leak."""
        return self.radius - errors.finite("leak", leak)


@checked
def fixed_point(stack: RandomStack, start: float = 0.0) -> FixedPoint:
    """Finds the first fixed point C_h = C_F(C_h) from `start`, upwards if C_F > C_h there and downwards otherwise.

    From 0 (the default) this is the smallest fixed point, which is 0 without bias, input and phi(0). For a saturating
    activation above its transition, a positive start finds the nontrivial fixed point.

    **Arguments:**

    - `stack`: the ensemble.
    - `start`: the variance at which the search starts.

    **Returns:** a `FixedPoint`.

    **Raises:** `ArgumentError` if C_F exceeds C_h at every larger variance, so that there is no fixed point (ReLU above its
    critical scale).

    >>> round(fixed_point(RandomStack(2, 1.0, "relu", sigma_b=1.0)).variance, 9)  # (1 + 1/2) / (1 - 1/2)
    3.0
    """
    start = float(errors.not_negative("start", start))
    evaluated = 0

    def growth(variance: float) -> float:
        nonlocal evaluated
        evaluated += 1
        return recursion(stack, variance).output - variance

    def found(variance: float) -> FixedPoint:
        here = recursion(stack, variance)
        error = abs(here.output - variance)
        status = "found" if variance > 0 else "zero"
        return FixedPoint(variance, here.susceptibility, error, evaluated, status)

    at_start = growth(start)
    if at_start == 0.0:
        if start == 0.0 and growth(_SMALL) > 1e-13 * _SMALL:
            _bracket_above(growth, _SMALL, growth(_SMALL), stack)  # raises if 0 is unstable and the state is unbounded
        return found(start)
    if at_start > 0:
        low, high = _bracket_above(growth, start, at_start, stack)
    else:
        low, high = _bracket_below(growth, start)
        if high == 0.0:
            return found(0.0)
    return found(bracketed_root(growth, low, high))


def _bracket_above(
    growth: Callable[[float], float], low: float, at_low: float, stack: RandomStack
) -> tuple[float, float]:
    """Returns two variances above `low`, where the growth is `at_low`, between which it first turns negative."""
    tried = [(low, at_low)]
    while tried[-1][1] > 0 and tried[-1][0] < _HUGE:
        variance, rate = tried[-1]
        following = max(_STEP * variance, variance + rate)
        tried.append((following, growth(following)))
    if tried[-1][1] <= 0:
        return tried[-2][0], tried[-1][0]
    # Two roots may lie between successive variances: search for them where the relative growth was smallest.
    least = min(range(len(tried)), key=lambda i: tried[i][1] / max(tried[i][0], _SMALL))
    below, above = tried[max(least - 1, 0)][0], tried[min(least + 1, len(tried) - 1)][0]
    from scipy import optimize  # imported here as in `_roots`

    dip = optimize.minimize_scalar(
        lambda x: growth(x) / max(x, _SMALL),
        bounds=(below, above),
        method="bounded",
        options={"xatol": 1e-9 * above},
    )
    if dip.fun < 0:
        return below, float(dip.x)
    raise errors.ArgumentError(
        f"sigma_w is {stack.sigma_w!r}, but with activation {stack.phi.name!r}, depth {stack.depth} and sigma_b "
        f"{stack.sigma_b!r} the variance of the state grows without bound and no fixed point exists; choose a sigma_w below "
        "the critical one."
    )


def _bracket_below(growth: Callable[[float], float], high: float) -> tuple[float, float]:
    """Returns two variances below `high` between which the growth changes sign, or (0, 0) if the variance decays to 0."""
    low = high / _STEP
    while growth(low) < 0:
        low, high = low / _STEP, low
        if low < _VANISHING:
            return 0.0, 0.0
    return low, high
