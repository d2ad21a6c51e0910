"""The critical weight scale, at which rho(J) = 1, and its curve in the (sigma_b, sigma_w) plane (Appendix A)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnode import errors
from gnode.arguments import checked
from gnode.theory._mean_field import Aspect, FixedPoint, RandomStack, fixed_point, recursion
from gnode.theory._pointwise import pointwise
from gnode.theory._roots import bracketed_root

METHODS = ("auto", "closed", "numeric")

_HOMOGENEOUS = ("identity", "relu", "leaky_relu")  # phi(c x) = c phi(x), so C_phi' does not depend on K
_LOWEST, _HIGHEST = 1e-2, 1e3  # the range of weight scales in which the solution is searched
_STEP = 1.5
_RTOL = 1e-14
_BEYOND = 1.0  # replaces log rho where no fixed point exists
_AT_ONE = 1e-6  # the largest |rho - 1| at which the transition counts as a loss of stability
_WARM_STEP = 1.1  # the step of a search that starts from the previous point of a curve, which is close


@dataclass(frozen=True)
class Critical:
    """A critical weight scale. `float` returns its `sigma_w`.

    **Attributes:**

    - `sigma_w`: sigma_w*, at which rho(J) = 1.
    - `stack`: the `RandomStack` at that scale.
    - `radius`: rho(J) at that scale, 1 up to rounding.
    - `state_variance`: C_h at that scale; NaN where it diverges (a homogeneous activation with biases).
    - `method`: "closed" or "numeric".
    - `iterations`: the number of fixed points solved for.
    - `error`: a bound on the relative error of `sigma_w`.
    - `status`: "converged", or "runaway" if the fixed point ceases to exist before rho reaches 1, because the variance of
        the state diverges first (gelu and silu with biases, softplus without).

    >>> found = critical_sigma_w(3, "tanh")
    >>> found
    Critical(sigma_w=1, radius=1, state_variance=0, method='closed', status='converged')
    >>> float(found) == found.sigma_w
    True
    """

    sigma_w: float
    stack: RandomStack
    radius: float
    state_variance: float
    method: str
    iterations: int
    error: float
    status: str

    def __float__(self) -> float:
        return float(self.sigma_w)

    def __repr__(self) -> str:
        values = f"sigma_w={self.sigma_w:.12g}, radius={self.radius:.6g}, state_variance={self.state_variance:.6g}"
        return f"Critical({values}, method={self.method!r}, status={self.status!r})"


@checked
def critical_sigma_w(
    depth: int,
    activation: Any = "relu",
    scaling: str = "kaiming",
    sigma_b: float = 0.0,
    aspect: Aspect = 1.0,
    final: Any = "identity",
    activate_state: bool = False,
    *,
    input_variance: float = 0.0,
    method: str = "auto",
) -> Critical:
    """Computes the smallest sigma_w at which the fixed point of dh/dt = -h + F(h) loses stability.

        rho(J)^2 = chi_L(0) = prod_l sigma_w^2 / (1 + alpha_l) * prod_l C_phi'(K^l) = 1  at  C_h = K^L.

    There is a closed form where C_phi' does not depend on sigma_w, so that rho is sigma_w^L times a constant. This holds if
    the fixed point is 0 (no bias, no input, phi(0) = 0), or if phi is positively homogeneous and `final` is the identity
    (ReLU: sigma_w* = sqrt(2^(1 - 1/L)) under Kaiming scaling, sqrt 2 with `activate_state`). Otherwise Brent's method
    solves log rho(sigma_w) = 0, and the fixed point is recomputed at each step.

    Without the leak -h, stability requires rho = 0 and so sigma_w* = 0: no random field is stable.

    **Arguments:**

    - `depth`, `activation`, `scaling`, `sigma_b`, `aspect`, `final`, `activate_state`, `input_variance`: the ensemble, as in
        `RandomStack`.
    - `method`: "closed", "numeric", or "auto", which uses the closed form where there is one.

    **Returns:** a `Critical`. `float` converts it to sigma_w*.

    **Raises:** `ArgumentError` if no sigma_w makes the field critical (the step, whose derivative is 0), or if `method` is
    "closed" and there is no closed form.

    >>> round(float(critical_sigma_w(2)), 12)
    1.189207115003
    >>> round(critical_sigma_w(3, "tanh", sigma_b=0.1).sigma_w, 6)
    1.145384
    """
    settings = {
        "depth": depth,
        "activation": activation,
        "scaling": scaling,
        "sigma_b": sigma_b,
        "aspect": aspect,
        "final": final,
        "activate_state": activate_state,
        "input_variance": input_variance,
    }
    return _solve(settings, method)


def _solve(settings: dict, method: str, near: float | None = None) -> Critical:
    """Solves for the critical scale of the stack with these settings; a numeric search starts from `near` if given."""
    errors.one_of("method", method, METHODS)
    unit = RandomStack(sigma_w=1.0, **settings)
    if method != "numeric" and _has_closed_form(unit):
        return _closed(unit, settings)
    if method == "closed":
        raise errors.ArgumentError(
            "method is 'closed', but the critical scale has a closed form only where bias, input and phi(0) are 0, or for "
            f"{', '.join(_HOMOGENEOUS)} with final 'identity'."
        )
    return _numeric(settings, _LOWEST, _STEP) if near is None else _numeric(settings, near, _WARM_STEP)


def _has_closed_form(unit: RandomStack) -> bool:
    """Whether rho is sigma_w^L times a constant."""
    at_rest = unit.offset == 0 and recursion(unit, 0.0).output == 0.0
    if at_rest or unit.final_phi is not pointwise("identity"):
        return at_rest
    is_linear = unit.depth == 1 and not unit.activate_state  # phi does not occur
    return is_linear or any(unit.phi is pointwise(name) for name in _HOMOGENEOUS)


def _closed(unit: RandomStack, settings: dict) -> Critical:
    """Computes the critical scale from rho at sigma_w = 1."""
    gain = recursion(unit, 0.0 if unit.offset == 0 else 1.0).susceptibility
    # A slope that vanishes at the fixed point is evaluated next to it, where it is small but not 0.
    if gain == 0 or gain ** (-0.5 / unit.depth) > _HIGHEST:
        raise _never_critical(unit)
    sigma_w = gain ** (-0.5 / unit.depth)
    stack = RandomStack(sigma_w=sigma_w, **settings)
    radius = float(np.sqrt(recursion(stack, 0.0).susceptibility))
    variance = 0.0 if unit.offset == 0 else np.nan
    return Critical(sigma_w, stack, radius, variance, "closed", 0, float(np.finfo(float).eps), "converged")


def _numeric(settings: dict, low: float, step: float) -> Critical:
    """Scans upwards from `low` for the first loss of stability, then refines it by Brent's method."""
    solved: dict[float, FixedPoint | None] = {}

    def log_radius(sigma_w: float) -> float:
        stack = RandomStack(sigma_w=sigma_w, **settings)
        try:
            solved[sigma_w] = here = fixed_point(stack)
        except errors.ArgumentError:  # no fixed point exists, so sigma_w is above the transition
            solved[sigma_w] = None
            return _BEYOND
        return float(np.log(max(here.radius, 1e-300)))

    high = low
    while log_radius(high) < 0:
        low, high = high, step * high
        if high > _HIGHEST:
            raise _never_critical(RandomStack(sigma_w=1.0, **settings))
    if low == high:
        return _numeric(settings, low / (2 * step), step)  # the warm start was already unstable
    sigma_w = bracketed_root(log_radius, low, high, _RTOL)
    log_radius(sigma_w)
    here = solved[sigma_w]
    last = here or _last_stable(solved)
    status = "converged" if abs(last.radius - 1) < _AT_ONE else "runaway"
    stack = RandomStack(sigma_w=sigma_w, **settings)
    return Critical(sigma_w, stack, last.radius, last.variance, "numeric", len(solved), _RTOL, status)


def _last_stable(solved: dict[float, FixedPoint | None]) -> FixedPoint:
    """Returns the fixed point at the largest weight scale that has one."""
    return max(((s, point) for s, point in solved.items() if point is not None), key=lambda pair: pair[0])[1]


def _never_critical(stack: RandomStack) -> errors.ArgumentError:
    return errors.ArgumentError(
        f"activation is {stack.phi.name!r}, but no sigma_w up to {_HIGHEST:g} makes such a field critical, because the "
        "derivative vanishes; choose an activation with a nonzero derivative."
    )


@dataclass(frozen=True)
class CriticalCurve:
    """Critical lines in the (sigma_b, sigma_w) plane, one per depth.

    **Attributes:**

    - `depths`: the depths L.
    - `sigma_b`: the bias scales, of shape (n,).
    - `sigma_w`: the critical weight scales, of shape (depths, n). The network is chaotic above each line and stable below.
    - `state_variance`: C_h on the lines, of shape (depths, n).
    - `runaway`: whether the variance diverges before rho reaches 1, of shape (depths, n); see `Critical`.
    - `activation`: the name of phi.
    - `error`: a bound on the relative error of `sigma_w`.
    - `iterations`: the number of fixed points solved for.

    No example: made by `critical_curve`.
    """

    depths: tuple[int, ...]
    sigma_b: np.ndarray
    sigma_w: np.ndarray
    state_variance: np.ndarray
    runaway: np.ndarray
    activation: str
    error: float
    iterations: int

    def __repr__(self) -> str:
        biases = f"{self.sigma_b.size} bias scales from {self.sigma_b[0]:g} to {self.sigma_b[-1]:g}"
        return f"CriticalCurve({self.activation!r}, depths={errors.shown(self.depths)}, {biases})"


@checked
def critical_curve(
    depths: Sequence[int] = (2, 3, 4, 5, 6), sigma_b: Sequence[float] | None = None, **settings: Any
) -> CriticalCurve:
    """Computes sigma_w*(sigma_b) for several depths, as in the paper's figure of critical depth.

    **Arguments:**

    - `depths`: the depths L.
    - `sigma_b`: the bias scales in ascending order. The default is 21 values from 0 to 2, denser near 0, where the curves
        are steep.
    - `settings`: further arguments of `critical_sigma_w`. The default activation is tanh.

    **Returns:** a `CriticalCurve`.

    >>> curve = critical_curve(depths=(2,), sigma_b=(0.0, 0.5))
    >>> curve
    CriticalCurve('tanh', depths=(2,), 2 bias scales from 0 to 0.5)
    >>> curve.sigma_w.round(6)
    array([[1.      , 1.326803]])
    """
    biases = 2.0 * np.linspace(0.0, 1.0, 21) ** 2 if sigma_b is None else np.asarray(sigma_b, float)
    if biases.ndim != 1 or biases.size == 0 or not np.all(np.diff(biases) > 0):
        raise errors.ArgumentError(f"sigma_b is {errors.shown(sigma_b)}, but must be a list of ascending numbers.")
    depths = errors.wholes("depths", depths)
    if not depths:
        raise errors.ArgumentError("depths is empty, but must hold at least one depth.")
    named = ("sigma_w", "depth", "sigma_b")
    allowed = [*(name for name in RandomStack.__dataclass_fields__ if name not in named), "method", "depths", "sigma_b"]
    for name in settings:
        errors.one_of("a setting of the curve", name, allowed)
    stack = {"activation": "tanh", **settings}
    method = stack.pop("method", "auto")
    found: list[list[Critical]] = []
    for depth in depths:
        row: list[Critical] = []
        for bias in biases:
            near = row[-1].sigma_w / _WARM_STEP if row else None
            row.append(_solve({**stack, "depth": depth, "sigma_b": float(bias)}, method, near))
        found.append(row)
    every = [one for row in found for one in row]
    return CriticalCurve(
        depths=depths,
        sigma_b=biases,
        sigma_w=np.array([[one.sigma_w for one in row] for row in found]),
        state_variance=np.array([[one.state_variance for one in row] for row in found]),
        runaway=np.array([[one.status == "runaway" for one in row] for row in found]),
        activation=every[0].stack.phi.name,
        error=max(one.error for one in every),
        iterations=sum(one.iterations for one in every),
    )
