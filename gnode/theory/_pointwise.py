"""Activations phi and their derivatives phi' as float64 numpy functions, for quadrature.

`gnode.activations` defines the same activations as jax functions. Quadrature calls phi thousands of times on a few hundred
points, where numpy is faster, so the named activations are defined again here. A test compares each with its jax
counterpart and with the automatic derivative.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special

from gnode import activations, errors, precision
from gnode.arguments import checked, checked_class

Array = Any  # a float64 array, or the numpy scalar that replaces a 0-dimensional one
Function = Callable[[Array], Array]

LEAKY_SLOPE = 0.01  # the negative slope of gnode.activations.leaky_relu
_GELU_SCALE = np.sqrt(2 / np.pi)  # of the tanh approximation, which jax.nn.gelu uses as well
_GELU_CUBIC = 0.044715
_PROBE = np.array([-1.7, -0.4, 0.3, 0.9, 2.1])  # irregular, so that a mean or a sum is not mistaken for a pointwise map
_REACH, _SUSPECTS = 10.0, 8  # the interval searched for kinks, and the number of candidates examined
_DIFFERENCE_STEP = 2e-3  # truncation error h^6 / 140 * phi^(7), about 1e-17; rounding error 1e-16 / h, about 1e-13


@checked_class
@dataclass(frozen=True)
class Pointwise:
    """A scalar function phi and its derivative phi', both float64 and vectorised.

    **Attributes:**

    - `name`: the name of phi.
    - `function`: phi.
    - `derivative`: phi'.

    >>> Pointwise("square", lambda x: x**2, lambda x: 2 * x).derivative(np.array([3.0]))
    array([6.])
    """

    name: str
    function: Function
    derivative: Function


def _sigmoid_slope(x: Array) -> Array:
    return special.expit(x) * special.expit(-x)


def _gelu_slope(x: Array) -> Array:
    t = np.tanh(_GELU_SCALE * (x + _GELU_CUBIC * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t**2) * _GELU_SCALE * (1 + 3 * _GELU_CUBIC * x**2)


_NAMED = {
    p.name: p
    for p in (
        Pointwise("identity", lambda x: x, np.ones_like),
        Pointwise("relu", lambda x: np.maximum(x, 0.0), lambda x: (x > 0) * 1.0),
        Pointwise(
            "leaky_relu",
            lambda x: np.where(x > 0, x, LEAKY_SLOPE * x),
            lambda x: np.where(x > 0, 1.0, LEAKY_SLOPE),
        ),
        Pointwise("tanh", np.tanh, lambda x: 1 - np.tanh(x) ** 2),
        Pointwise("sigmoid", special.expit, _sigmoid_slope),
        Pointwise("erf", special.erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-(x**2))),
        Pointwise("softplus", lambda x: np.logaddexp(x, 0.0), special.expit),
        Pointwise(
            "gelu",
            lambda x: 0.5 * x * (1 + np.tanh(_GELU_SCALE * (x + _GELU_CUBIC * x**3))),
            _gelu_slope,
        ),
        Pointwise(
            "silu",
            lambda x: x * special.expit(x),
            lambda x: special.expit(x) + x * _sigmoid_slope(x),
        ),
        Pointwise(
            "elu",
            lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0.0))),
            lambda x: np.where(x > 0, 1.0, np.exp(np.minimum(x, 0.0))),
        ),
        Pointwise("sin", np.sin, np.cos),
        Pointwise("step", lambda x: (x > 0) * 1.0, np.zeros_like),
    )
}


@checked
def pointwise(activation: Any, argument: str = "activation") -> Pointwise:
    """Returns phi and phi' of a named activation or of a vectorised function.

    The derivative of a jax function is its automatic derivative in float64. For a function that jax cannot trace it is a
    central difference of order six, accurate to about 1e-12. Differences smear a kink, so the derivative of such a function
    raises an `ArgumentError` if the function has one.

    **Arguments:**

    - `activation`: a name of `gnode.activations`, a function, or a `Pointwise`, which is returned as it is.
    - `argument`: the name of the argument in error messages.

    **Returns:** a `Pointwise`.

    **Raises:** `ArgumentError` if the name is unknown, or if the function does not act elementwise.

    >>> pointwise("tanh").derivative(np.array([0.0]))
    array([1.])
    >>> float(pointwise(lambda x: x**3).derivative(np.array([2.0]))[0])
    12.0
    """
    argument = errors.shortened(argument)
    if isinstance(activation, Pointwise):
        _check_made(activation, argument)
        return activation
    if callable(activation):
        return _from_callable(activation, argument)
    return _NAMED[errors.one_of(argument, activation, activations.ACTIVATIONS)]


def _check_made(made: Pointwise, argument: str) -> None:
    """Checks the functions of a `Pointwise` that a user made."""
    if made is _NAMED.get(made.name):
        return
    _require_vectorised(lambda x: np.asarray(made.function(x), float), f"{argument} {made.name!r}")
    if not isinstance(made.derivative, _Differences):  # which is checked on first use
        _require_vectorised(
            lambda x: np.asarray(made.derivative(x), float), f"the derivative of {argument} {made.name!r}"
        )


def _from_callable(function: Callable, argument: str) -> Pointwise:
    """Returns a `Pointwise` of a function, with its automatic derivative where jax can trace it."""
    name = getattr(function, "__name__", type(function).__name__)

    def value(x: Array) -> Array:
        with precision.double():
            return np.asarray(function(np.asarray(x, float)), float)

    _require_vectorised(value, f"{argument} {name!r}")
    try:
        with precision.double():
            slope = jax.jit(jax.vmap(jax.grad(lambda x: jnp.sum(function(x)))))
            slope(_PROBE)
    except Exception:  # a numpy function may raise anything on a tracer
        return Pointwise(name, value, _Differences(value, f"{argument} {name!r}"))

    def derivative(x: Array) -> Array:
        with precision.double():
            return np.asarray(slope(np.ravel(x))).reshape(np.shape(x))

    return Pointwise(name, value, derivative)


def _require_vectorised(value: Function, what: str) -> None:
    """Raises an `ArgumentError` unless the function acts elementwise and is finite."""
    allowed = "but must map an array to an array of the same shape, entry by entry."
    try:
        whole = value(_PROBE)
        parts = np.array([value(_PROBE[i : i + 1]) for i in range(_PROBE.size)])
    except Exception as error:
        problem = f"{type(error).__name__}: {errors.shortened(str(error))}"
        raise errors.ArgumentError(f"{what} fails on an array ({problem}), {allowed}") from error
    if whole.shape != _PROBE.shape or parts.shape != (_PROBE.size, 1):
        raise errors.ArgumentError(f"{what} maps shape {_PROBE.shape} to {whole.shape}, {allowed}")
    if not np.all(np.isfinite(whole)):
        raise errors.ArgumentError(f"{what} is not finite at every one of {_PROBE.tolist()}, but must be.")
    if not np.allclose(whole, parts[:, 0], rtol=1e-6, atol=1e-9):
        raise errors.ArgumentError(f"{what} mixes the entries of an array, {allowed}")


class _Differences:
    """The derivative of a smooth function by central differences of order six, checked for kinks on first use."""

    def __init__(self, value: Function, what: str):
        self._value, self._what, self._is_smooth = value, what, False

    def __call__(self, x: Array) -> Array:
        if not self._is_smooth:
            _require_smooth(self._value, self._what)
            self._is_smooth = True
        weights, h = ((1, 45.0), (2, -9.0), (3, 1.0)), _DIFFERENCE_STEP
        return sum(w * (self._value(x + k * h) - self._value(x - k * h)) for k, w in weights) / (60 * h)


def _require_smooth(value: Function, what: str) -> None:
    """Raises an `ArgumentError` at a kink, where the jump of the slope does not shrink with the step of the differences."""

    def jumps(x: Array, step: float) -> Array:
        return np.abs(value(x + step) - 2 * value(x) + value(x - step)) / step

    coarse = np.arange(-_REACH, _REACH, _DIFFERENCE_STEP)
    found = jumps(coarse, _DIFFERENCE_STEP)
    for place in np.argsort(found)[-_SUSPECTS:]:
        fine = _DIFFERENCE_STEP / 64
        near = jumps(coarse[place] + np.arange(-64, 65) * fine, fine).max()
        if found[place] > 1e-6 and near > found[place] / 4:
            where = round(float(coarse[place]), 2) + 0.0
            raise errors.ArgumentError(
                f"{what} has a kink near {where:g}, where finite differences fail; write it with jax.numpy, or pass a "
                "gnode.theory.Pointwise with its derivative."
            )
