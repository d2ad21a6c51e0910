"""Functions that jax cannot trace, such as those of numpy or PyTorch, as systems that the analyses take."""

import dataclasses
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Array, Float

from gnode import errors
from gnode.analysis._system import State, System, system
from gnode.arguments import check_takes, checked
from gnode.cells import Cell

STEP = float(np.cbrt(np.finfo(np.float64).eps))
"""The step of central differences, in units of each coordinate (of 1 for small ones): it leaves an error of about 1e-10."""
_MOST_ROWS = 16_384
"""How many states a function is called with at a time where derivatives are differences."""


@checked
def outside(
    function: Callable[..., Any],
    state: int,
    *,
    is_map: bool,
    inputs: int = 0,
    jacobian: Callable[..., Any] | None = None,
    dt: float | None = None,
) -> System:
    """Makes a system of a function that jax cannot trace, to be given to the analyses in place of a network.

        h -> function(h, x)             if `is_map`: fixed points solve function(h, x) = h, and stability is that of the map
        dh/dt = function(h, x)          otherwise: fixed points are its zeros

    The function is called with many states at once, one per row, and computes each row by itself. It takes and returns
    float64 arrays of numpy. For a module of PyTorch, `module.double()`, it converts them by `torch.from_numpy(h)` and
    `.numpy()`.

    **Arguments:**

    - `function`: of h, of shape (count, state), and x, of shape (count, inputs); returns an array of shape (count, state).
    - `state`: the number of dimensions N.
    - `is_map`: whether the function returns the state one step later, rather than dh/dt.
    - `inputs`: the number of input channels. The analyses take the constant input, zero by default.
    - `jacobian`: the derivative of the function by h, called like it; returns (count, state, state), whose rows belong to
      what the function returns. By default it is computed by central differences, with an error of about 1e-10 in units of
      the function where that varies over distances of about 1.
    - `dt`: the length of a step in seconds, 1 by default for a map; a function of dh/dt needs none.

    **Returns:** a `System`, which every analysis takes as its `source`.

    **Raises:** `ArgumentError` if the function fails on two states of zeros, or returns anything else.

    >>> from gnode.analysis import fixed_points
    >>> cubed = outside(lambda h, x: 1.5 * h - 0.5 * h**3, 1, is_map=True)
    >>> fixed_points(cubed, [[-2.0], [0.1], [1.4]]).kind.tolist()
    ['stable', 'unstable', 'stable']
    """
    units, channels = errors.whole("state", state), errors.whole("inputs", inputs, at_least=0)
    errors.affordable("state", state, 8.0 * units * units)
    errors.affordable("inputs", inputs, 8.0 * channels)
    calls = _Calls(function, jacobian, units, channels)
    for name, given in (("function", function), ("jacobian", jacobian)):
        if given is not None:
            check_takes(name, given, 2)
    calls.check()
    kind = OutsideMap if is_map else OutsideFlow
    return system(kind(calls=calls, inputs=channels, units=units), dt=1.0 if is_map and dt is None else dt)


@dataclasses.dataclass(frozen=True)
class _Calls:
    """How a function outside of jax is called, and how its derivative is found."""

    function: Callable[..., Any]
    jacobian: Callable[..., Any] | None
    units: int
    inputs: int

    def __call__(self, h: State, x: Float[Array, " inputs"]) -> State:
        """Calls the function for one state inside a compiled function; jax.vmap makes it a call for many."""

        @jax.custom_jvp
        def value(h: Array, x: Array) -> Array:
            return _called(self.values, (self.units,), h, x)

        def derivative(primals: tuple[Array, Array], tangents: tuple[Any, Any]) -> tuple[Array, Array]:
            by_state, by_input = tangents
            moved = jnp.zeros_like(primals[0])
            if not isinstance(by_state, SymbolicZero):
                moved += _called(self.jacobians, (self.units, self.units), *primals) @ by_state
            if not isinstance(by_input, SymbolicZero):
                moved += _called(self.input_jacobians, (self.units, self.inputs), *primals) @ by_input
            return value(*primals), moved

        value.defjvp(derivative, symbolic_zeros=True)
        return value(h, x)

    def values(self, h: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Calls the function with a state in each row."""
        return self._checked("function", self.function(h, x), (len(h), self.units))

    def jacobians(self, h: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Returns the derivative by the state for each row."""
        if self.jacobian is None:
            return _differences(lambda states, rows: self.values(states, x[rows]), h, self.units)
        return self._checked("jacobian", self.jacobian(h, x), (len(h), self.units, self.units))

    def input_jacobians(self, h: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Returns the derivative by the input for each row, by differences."""
        return _differences(lambda inputs, rows: self.values(h[rows], inputs), x, self.units)

    def check(self) -> None:
        """Raises an `ArgumentError` if the function, or its derivative, cannot be called with two states."""
        h, x = np.zeros((2, self.units)), np.zeros((2, self.inputs))
        for name, call in (("function", self.values), ("jacobian", self.jacobians)):
            try:
                call(h.copy(), x.copy())
            except errors.GnodeError:
                raise
            except Exception as problem:  # whatever a user's function raises
                reason = errors.shortened(f"{type(problem).__name__}: {problem}", 200)
                raise errors.ArgumentError(
                    f"{name} fails on states of shape {h.shape} and inputs of shape {x.shape} ({reason})."
                ) from problem

    def _checked(self, name: str, found: Any, shape: tuple[int, ...]) -> np.ndarray:
        found = np.asarray(found)
        if found.shape != shape:
            raise errors.ArgumentError(
                f"{name} returns an array of shape {found.shape} for {shape[0]} states, but must return {shape}, with a "
                f"state in each row."
            )
        if found.dtype != np.float64:
            raise errors.ArgumentError(
                f"{name} returns {found.dtype} numbers, but must compute in float64, in which fixed points are found; for a "
                f"module of PyTorch call its double()."
            )
        return found


class OutsideFlow(Cell):
    """A cell whose vector field is a function outside of jax."""

    calls: _Calls = eqx.field(static=True)
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def vector_field(self, h: State, x: Float[Array, " inputs"]) -> State:
        return self.calls(h, x)


class OutsideMap(Cell):
    """A cell whose step is a function outside of jax, of whatever length."""

    calls: _Calls = eqx.field(static=True)
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    @property
    def default_method(self) -> str:
        return "own"

    @property
    def is_flow(self) -> bool:
        return False

    def own_step(self, h: State, x: Float[Array, " inputs"], dt: Float[Array, ""] | float) -> State:
        return self.calls(h, x)

    def vector_field(self, h: State, x: Float[Array, " inputs"]) -> State:
        """Returns how far a step leads: a map has no flow."""
        return self.calls(h, x) - h


def _called(compute: Callable[..., np.ndarray], shape: tuple[int, ...], h: Array, x: Array) -> Array:
    """Calls a function of rows from a compiled function, for one state.

    Whether jax has float64 is a setting of each thread, and calls come from any: numbers go in and out as 32-bit words.
    """
    dtype = np.dtype(h.dtype)
    words = dtype.itemsize // 4

    def on_host(h: Any, x: Any) -> np.ndarray:
        h, x = (_numbers(array, dtype) for array in (h, x))
        leading = h.shape[:-1]
        rows = (np.array(a, np.float64).reshape(int(np.prod(leading)), a.shape[-1]) for a in (h, x))
        return _words(compute(*rows).reshape(*leading, *shape).astype(dtype), words)

    found = jax.ShapeDtypeStruct((*shape, words), jnp.uint32)
    given = (jax.lax.bitcast_convert_type(array.astype(dtype), jnp.uint32) for array in (h, x))
    given = (array.reshape(*array.shape[:1], words) for array in given)
    result = jax.pure_callback(on_host, found, *given, vmap_method="broadcast_all")
    return jax.lax.bitcast_convert_type(result if words > 1 else result[..., 0], dtype)


def _numbers(words: Any, dtype: np.dtype) -> np.ndarray:
    return np.ascontiguousarray(words).view(dtype)[..., 0]


def _words(numbers: np.ndarray, count: int) -> np.ndarray:
    return np.ascontiguousarray(numbers)[..., None].view(np.uint32).reshape(*numbers.shape, count)


def _differences(
    values: Callable[[np.ndarray, np.ndarray], np.ndarray], at: np.ndarray, units: int
) -> Float[np.ndarray, "count units variables"]:
    """Returns the derivative of `values(points, rows)` at each row of `at` by central differences."""
    count, size = at.shape
    found = np.empty((count, units, size))
    rows, columns = (index.ravel() for index in np.indices((count, size)))
    for start in range(0, len(rows), max(1, _MOST_ROWS // 2)):
        row, column = (index[start : start + _MOST_ROWS // 2] for index in (rows, columns))
        each = np.arange(len(row))
        step = STEP * np.maximum(1.0, np.abs(at[row, column]))
        ahead, behind = at[row], at[row]
        ahead[each, column] += step
        behind[each, column] -= step
        length = ahead[each, column] - behind[each, column]  # as the numbers have it
        moved = values(np.concatenate([ahead, behind]), np.concatenate([row, row]))
        found[row, :, column] = (moved[: len(row)] - moved[len(row) :]) / length[:, None]
    return found
