"""From a function of jax to a program: it is traced, what it calls is inlined, and short loops are written out."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from gnode import errors
from gnode.arguments import checked
from gnode.precision import double
from gnode.programs._operations import UNKNOWN, operation
from gnode.programs._pairs import Pair, is_of_pairs, numbers_of, operation_on_pairs
from gnode.programs._program import Builder, Shape, Value, needed, written

LONGEST_LOOP = 256
"""The largest number of turns of a loop that is written out."""

Constants = dict[str, np.ndarray]
"""Arrays by the name under which programs refer to them."""


class NotExportable(errors.ArgumentError):
    """Raised if a function uses an operation that programs do not have. No example: see `program`."""


class Purpose(NamedTuple):
    """What programs are made for, and how messages speak of it.

    - `cannot`: what a function cannot, of which there is no program: "be shown in the explorer".
    - `reader`: who does not know an operation: "the page".
    - `folds`: whether what depends on numbers alone is computed at once, by jax, whatever its operations.
    - `in_pairs`: whether complex numbers become pairs of real ones.

    >>> Purpose("be printed", "the printer").folds
    False
    """

    cannot: str
    reader: str
    folds: bool = False
    in_pairs: bool = False


@checked
def program(
    function: Callable[..., Any],
    arrays: Mapping[str, Any],
    inputs: Sequence[Shape],
    *,
    purpose: Purpose,
    own: Constants,
    what: str,
) -> dict[str, Any]:
    """Traces a function in float64 and writes it as a program.

    **Arguments:**

    - `function`: called with the mapping of arrays, and one array for each of `inputs`; it returns one array.
    - `arrays`: by name; the program refers to them, and does not hold their numbers.
    - `inputs`: the shapes of the inputs.
    - `purpose`: a `Purpose`.
    - `own`: arrays that the function closes over, to which those of this function are added.
    - `what`: what the function is, for messages: "the vector field of a GRU".

    **Returns:** the program: `inputs`, their shapes; `constants`, names; `literals`, numbers; `equations`; `outputs`. Values
    are numbered in this order; an equation has its operation `op`, operands `in`, result `out`, `shape` and parameters.

    **Raises:** `NotExportable` if it uses an operation that programs do not have, or fails.

    >>> shown = Purpose("be shown", "the page")
    >>> made = program(lambda named, h: -named["W"] * h, {"W": np.ones(2)}, [(2,)], purpose=shown, own={}, what="it")
    >>> [equation["op"] for equation in made["equations"]], made["constants"]
    (['neg', 'mul'], ['W'])
    """
    build = Builder()
    with double():
        named = {name: _like(array) for name, array in arrays.items()}
        try:
            traced = jax.make_jaxpr(function)(named, *(jax.ShapeDtypeStruct(shape, jnp.float64) for shape in inputs))
        except errors.GnodeError:
            raise
        except Exception as problem:  # whatever a user's function raises
            reason = errors.shortened(f"{type(problem).__name__}: {problem}")
            raise NotExportable(f"{what} cannot {purpose.cannot}: it fails when it is traced ({reason}).") from problem
    # jax sorts the keys of a dictionary.
    given = [build.constant(name, tuple(named[name].shape)) for name in sorted(named)]
    given += [build.input(place, shape) for place, shape in enumerate(inputs)]
    outputs = _Walk(build, own, purpose).closed(traced, given)
    unknown = next((value for value in needed(outputs) if value.op == UNKNOWN), None)
    if unknown is not None:
        raise NotExportable(
            f"{what} cannot {purpose.cannot}: it uses {unknown.parameters['what']}, which {purpose.reader} does not know."
        )
    return written(inputs, outputs)


def _like(array: Any) -> jax.ShapeDtypeStruct:
    dtype = jnp.float64 if jnp.issubdtype(array.dtype, jnp.floating) else array.dtype
    return jax.ShapeDtypeStruct(array.shape, dtype)


class _Walk:
    """Goes through the equations of a traced function and those of the functions that it calls."""

    def __init__(self, build: Builder, own: Constants, purpose: Purpose):
        self.build = build
        self.own = own
        self.purpose = purpose

    def closed(self, traced: ClosedJaxpr, given: Sequence[Any]) -> list[Any]:
        return self.open(traced.jaxpr, [self._closed_over(value) for value in traced.consts], given)

    def open(self, jaxpr: Jaxpr, constants: Sequence[Any], given: Sequence[Any]) -> list[Any]:
        found: dict[Any, Any] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *given], strict=True))

        def value_of(variable: Any) -> Any:
            return self._closed_over(variable.val) if isinstance(variable, Literal) else found[variable]

        for equation in jaxpr.eqns:
            results = self._results(equation, [value_of(variable) for variable in equation.invars])
            found.update(zip(equation.outvars, results, strict=True))
        return [value_of(variable) for variable in jaxpr.outvars]

    def _closed_over(self, numbers: Any) -> Any:
        """A number becomes a literal, an array of equal numbers a broadcast one, and any other a constant."""
        array = np.asarray(numbers)
        if array.dtype.kind == "c" and self.purpose.in_pairs:
            return Pair(self._closed_over(np.real(array)), self._closed_over(np.imag(array)))
        if array.dtype.kind not in "biuf":
            return self.build.equation(UNKNOWN, (), array.shape, what=f"numbers of the type {array.dtype}")
        if array.size and np.array_equal(array, np.full_like(array, array.flat[0]), equal_nan=True):
            value = self.build.broadcast(self.build.literal(float(array.flat[0])), array.shape)
        else:
            same = (name for name, other in self.own.items() if np.array_equal(other, array, equal_nan=True))
            name = next(same, f"constant.{len(self.own)}")
            self.own[name] = array
            value = self.build.constant(name, array.shape)
        if value.known is None:
            value.known = lambda: array
        return value

    def _results(self, equation: JaxprEqn, operands: Sequence[Any]) -> list[Any]:
        name = equation.primitive.name
        if self.purpose.folds:
            numbers = [numbers_of(operand) for operand in operands]
            if all(found is not None for found in numbers):
                return [self._closed_over(found) for found in _computed(equation, numbers)]
        if name == "scan":
            return self._scan(equation, operands)
        if name == "cond":
            return self._cond(equation, operands)
        inner = next(
            (equation.params[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in equation.params), None
        )
        if isinstance(inner, ClosedJaxpr):
            return self.closed(inner, operands)
        if isinstance(inner, Jaxpr):
            return self.open(inner, (), operands)
        if self.purpose.in_pairs and is_of_pairs(equation):
            return [operation_on_pairs(self.build, equation, operands)]
        return operation(self.build, equation, operands)

    def _scan(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """Writes out a loop with a known number of turns."""
        length, body = int(equation.params["length"]), equation.params["jaxpr"]
        if length > LONGEST_LOOP:
            return operation(self.build, equation, operands)  # which does not know it
        consts, carried = equation.params["num_consts"], equation.params["num_consts"] + equation.params["num_carry"]
        fixed, carry, stacked = operands[:consts], list(operands[consts:carried]), operands[carried:]
        turns: list[list[Value]] = []
        for turn in reversed(range(length)) if equation.params["reverse"] else range(length):
            results = self.closed(body, [*fixed, *carry, *(self._row(rows, turn) for rows in stacked)])
            carry = results[: carried - consts]
            turns.append(results[carried - consts :])
        if equation.params["reverse"]:
            turns.reverse()
        return carry + [
            self._stack(rows, variable) for rows, variable in zip(zip(*turns), equation.outvars[len(carry) :])
        ]

    def _row(self, rows: Value, turn: int) -> Value:
        width = math.prod(rows.shape[1:])
        indices = list(range(turn * width, (turn + 1) * width))
        known = None if rows.known is None else lambda: np.asarray(rows.numbers())[turn]
        return self.build.equation("take", [rows], rows.shape[1:], known, indices=indices)

    def _stack(self, rows: Sequence[Value], variable: Any) -> Value:
        lifted = [self.build.reshaped(row, (1, *row.shape)) for row in rows]
        return self.build.equation("concatenate", lifted, tuple(variable.aval.shape), dimension=0)

    def _cond(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """Computes every branch, and selects: branches have no side effects."""
        which, given = operands[0], operands[1:]
        branches = [self.closed(branch, given) for branch in equation.params["branches"]]
        chosen = which.numbers()
        if chosen is not None:
            return branches[min(max(int(chosen), 0), len(branches) - 1)]
        return [self.build.pointwise("select_n", [which, *cases]) for cases in zip(*branches)]


def _computed(equation: JaxprEqn, numbers: Sequence[Any]) -> list[np.ndarray]:
    """Computes the results of an equation from numbers, whatever it calls."""
    with double():
        types = [variable.aval.dtype for variable in equation.invars]  # type: ignore[union-attr]
        given = [jnp.asarray(found, dtype) for found, dtype in zip(numbers, types)]
        made: Any = equation.primitive.get_bind_params(equation.params)
        functions, parameters = made if isinstance(made, tuple) else ((), made)  # as in older versions of jax
        results = equation.primitive.bind(*functions, *given, **parameters)
        return [np.asarray(result) for result in (results if equation.primitive.multiple_results else [results])]
