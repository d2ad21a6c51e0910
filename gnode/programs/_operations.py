"""What each primitive of jax becomes in a program: the operations that programs have."""

from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from gnode.precision import double
from gnode.programs._moves import MOVES, NotKnown, Rule, shape_of
from gnode.programs._program import Builder, Value

UNKNOWN = "unknown"
"""The operation of a value that cannot be computed; it may stand where nothing depends on it."""

POINTWISE = {
    *("neg", "exp", "log", "log1p", "expm1", "tanh", "logistic", "erf", "sin", "cos", "tan", "abs", "sign", "sqrt"),
    *("rsqrt", "square", "floor", "ceil", "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "cbrt"),
    *("add", "sub", "mul", "div", "max", "min", "pow", "atan2", "rem"),
    *("lt", "le", "gt", "ge", "eq", "ne", "is_finite"),
}
"""Operations on one or two operands of the same shape, under the names that jax gives them."""

LOGICAL = {"and", "or", "xor", "not"}
"""Of truth values; jax also has them for the bits of whole numbers, which programs do not."""

SAME = {
    *("copy", "copy_p", "stop_gradient", "optimization_barrier", "sharding_constraint", "reduce_precision", "pvary"),
    *("name", "mesh_cast"),
}
"""Primitives that return their operands."""

REDUCTIONS = {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or"}
CUMULATIVE = {"cumsum", "cumprod", "cummax", "cummin"}


def operation(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    """Returns the results of an equation of jax, as values of the program."""
    name = equation.primitive.name
    known = _known(equation, operands)
    shapes = [shape_of(variable) for variable in equation.outvars]
    try:
        if any(jnp.issubdtype(variable.aval.dtype, jnp.complexfloating) for variable in equation.outvars):  # type: ignore[union-attr]
            raise NotKnown("on complex numbers")
        if name in SAME:
            return list(operands)
        if name in POINTWISE and not _divides_whole_numbers(name, equation):
            return [build.pointwise(name, operands, known=known)]
        if name in LOGICAL and equation.outvars[0].aval.dtype == bool:  # type: ignore[union-attr]
            return [build.pointwise(name, operands, known=known)]
        if name in RULES:
            found = RULES[name](build, equation, operands)
            if len(found) == 1 and found[0].known is None:
                found[0].known = known
            return found
        raise NotKnown("")
    except NotKnown as problem:
        what = f"the operation {name!r} of jax" + (f" ({problem})" if str(problem) else "")
        return [build.equation(UNKNOWN, operands, shape, known, what=what, part=i) for i, shape in enumerate(shapes)]


def _known(equation: JaxprEqn, operands: Sequence[Value]) -> Callable[[], np.ndarray] | None:
    """Returns a function that computes the result by jax, if all operands are known."""
    if len(equation.outvars) != 1 or any(value.known is None for value in operands):
        return None

    def compute() -> np.ndarray:
        with double():
            types = [variable.aval.dtype for variable in equation.invars]  # type: ignore[union-attr]
            numbers = [jnp.asarray(value.numbers(), dtype) for value, dtype in zip(operands, types)]
            result = equation.primitive.bind(*numbers, **equation.params)
            return np.asarray(result[0] if equation.primitive.multiple_results else result)

    return compute


def _divides_whole_numbers(name: str, equation: JaxprEqn) -> bool:
    return name in ("div", "rem", "pow") and jnp.issubdtype(equation.outvars[0].aval.dtype, jnp.integer)  # type: ignore[union-attr]


def _convert(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    # Truth values are 0 and 1 and whole numbers are doubles, so only two conversions change a number.
    before, after = equation.invars[0].aval.dtype, equation.params["new_dtype"]  # type: ignore[union-attr]
    if jnp.issubdtype(after, jnp.bool_) and not jnp.issubdtype(before, jnp.bool_):
        return [build.pointwise("ne", [operands[0], build.literal(0.0)])]
    if jnp.issubdtype(after, jnp.integer) and jnp.issubdtype(before, jnp.floating):
        return [build.pointwise("trunc", operands)]
    return list(operands)


def _dot_general(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    contracted, batched = ([list(map(int, axes)) for axes in both] for both in equation.params["dimension_numbers"])
    sides = list(operands)
    for side, value in enumerate(operands):
        # The transpose of a matrix is the matrix read along its other axis, as long as one axis is left to keep the order.
        if value.op == "transpose" and len(value.shape) == 2 and len(contracted[side]) == 1 and not batched[side]:
            sides[side] = value.operands[0]
            contracted[side] = [1 - contracted[side][0]]
    numbers = [contracted, batched]
    return [build.equation("dot_general", sides, shape_of(equation.outvars[0]), dimension_numbers=numbers)]


def _select_n(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    if len(set(map(id, operands[1:]))) == 1:
        return [operands[1]]
    return [build.pointwise("select_n", operands)]


def _clamp(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    least, value, most = operands
    return [build.pointwise("min", [build.pointwise("max", [value, least]), most])]


def _integer_pow(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    return [build.pointwise("integer_pow", operands, y=int(equation.params["y"]))]


def _exp2(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    return [build.pointwise("pow", [build.broadcast(build.literal(2.0), operands[0].shape), operands[0]])]


def _erfc(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    return [build.pointwise("sub", [build.literal(1.0), build.pointwise("erf", operands)])]


def _round(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    if equation.params["rounding_method"] != lax.RoundingMethod.TO_NEAREST_EVEN:
        raise NotKnown("away from zero")
    return [build.pointwise("round", operands)]


def _reduce(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    axes = [int(axis) for axis in equation.params["axes"]]
    return [build.equation(equation.primitive.name, operands, shape_of(equation.outvars[0]), axes=axes)]


def _cumulative(build: Builder, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    axis, reverse = int(equation.params["axis"]), bool(equation.params["reverse"])
    shape = shape_of(equation.outvars[0])
    return [build.equation(equation.primitive.name, operands, shape, axis=axis, reverse=reverse)]


RULES: dict[str, Rule] = MOVES | {
    "add_any": lambda build, equation, operands: [build.pointwise("add", operands)],
    "clamp": _clamp,
    "convert_element_type": _convert,
    "dot_general": _dot_general,
    "erfc": _erfc,
    "exp2": _exp2,
    "integer_pow": _integer_pow,
    "round": _round,
    "select_n": _select_n,
    **dict.fromkeys(REDUCTIONS, _reduce),
    **dict.fromkeys(CUMULATIVE, _cumulative),
}
"""How primitives that are not pointwise are written, by the name of the primitive."""

OPERATIONS = (
    POINTWISE
    | LOGICAL
    | REDUCTIONS
    | CUMULATIVE
    | {"integer_pow", "select_n", "trunc", "round", "dot_general", "broadcast_in_dim", "reshape", "transpose"}
    | {"concatenate", "slice", "take", "put", "iota"}
)
"""Every operation that a program may hold: who computes programs has to know these."""
