"""Complex numbers as pairs of real ones: programs hold no others."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.extend.core import JaxprEqn

from gnode.programs._moves import NotKnown
from gnode.programs._operations import RULES, UNKNOWN
from gnode.programs._program import LITERAL, Builder, Value


class Pair(NamedTuple):
    """The real and the imaginary part of a complex value."""

    re: Value
    im: Value


def numbers_of(value: Any) -> np.ndarray | None:
    """Returns the numbers of a value, real or complex, that depends on no input and no constant, otherwise None."""
    if isinstance(value, Value):
        return value.numbers()
    re, im = value.re.numbers(), value.im.numbers()
    return None if re is None or im is None else re + 1j * im


def is_of_pairs(equation: JaxprEqn) -> bool:
    """Whether an equation takes or gives complex numbers."""
    variables = [*equation.invars, *equation.outvars]
    return any(jnp.issubdtype(variable.aval.dtype, jnp.complexfloating) for variable in variables)  # type: ignore[union-attr]


def operation_on_pairs(build: Builder, equation: JaxprEqn, operands: Sequence[Any]) -> Any:
    """Returns the result of an equation on complex numbers, as a pair or a real value."""
    name = equation.primitive.name
    if name in PARTWISE:
        return PARTWISE[name](*operands)
    pairs = [_as_pair(build, value) for value in operands]
    try:
        if name in ("add", "sub", "neg", "add_any"):
            op = name.removesuffix("_any")
            return Pair(*(_sum(build, op, parts) for parts in zip(*pairs)))
        if name in PRODUCTS:
            return PRODUCTS[name](build, *pairs)
        if name in MOVED:
            return Pair(*(RULES[name](build, equation, parts)[0] for parts in zip(*pairs)))
        raise NotKnown("on complex numbers")
    except NotKnown as problem:
        what = f"the operation {name!r} of jax ({problem})"
        unknown = build.equation(UNKNOWN, (), tuple(equation.outvars[0].aval.shape), what=what)  # type: ignore[union-attr]
        return Pair(unknown, unknown)


def _as_pair(build: Builder, value: Any) -> Pair:
    return value if isinstance(value, Pair) else Pair(value, build.broadcast(build.literal(0.0), value.shape))


def _is_zero(value: Value) -> bool:
    inner = value.operands[0] if value.op == "broadcast_in_dim" else value
    return inner.op == LITERAL and inner.parameters["number"] == 0


def _sum(build: Builder, op: str, parts: Sequence[Value]) -> Value:
    """A sum, a difference or a negative, without the zeros of real numbers."""
    if _is_zero(parts[-1]):
        return parts[0]
    if len(parts) == 2 and _is_zero(parts[0]):
        return parts[1] if op == "add" else build.pointwise("neg", parts[1:])
    return build.pointwise(op, parts)


def _times(build: Builder, a: Value, b: Value) -> Value:
    for one in (a, b):
        if _is_zero(one):
            return build.broadcast(build.literal(0.0), np.broadcast_shapes(a.shape, b.shape))
    return build.pointwise("mul", [a, b])


def _product(build: Builder, a: Pair, b: Pair) -> Pair:
    re = _sum(build, "sub", [_times(build, a.re, b.re), _times(build, a.im, b.im)])
    return Pair(re, _sum(build, "add", [_times(build, a.re, b.im), _times(build, a.im, b.re)]))


def _quotient(build: Builder, a: Pair, b: Pair) -> Pair:
    """a / b; by Smith's rule nothing overflows, but here no number is extreme."""
    if _is_zero(b.im):
        return Pair(*(part if _is_zero(part) else build.pointwise("div", [part, b.re]) for part in a))
    squared = build.pointwise("add", [build.pointwise("square", [b.re]), build.pointwise("square", [b.im])])
    above = _product(build, a, Pair(b.re, build.pointwise("neg", [b.im])))
    return Pair(*(build.pointwise("div", [part, squared]) for part in above))


def _exponential(build: Builder, a: Pair) -> Pair:
    size = build.pointwise("exp", [a.re])
    return Pair(*(build.pointwise("mul", [size, build.pointwise(op, [a.im])]) for op in ("cos", "sin")))


PARTWISE: dict[str, Callable[..., Any]] = {
    "real": lambda value: value.re,
    "imag": lambda value: value.im,
    "complex": lambda re, im: Pair(re, im),
    "convert_element_type": lambda value: value,
    "copy": lambda value: value,
}
"""Operations that compute nothing."""
PRODUCTS: dict[str, Callable[..., Pair]] = {"mul": _product, "div": _quotient, "exp": _exponential}
MOVED = {"broadcast_in_dim", "reshape", "squeeze", "expand_dims", "transpose", "slice", "reduce_sum", "concatenate"}
"""Operations that do to each part what they do to a real number."""
