"""Programs: functions with static shapes as lists of equations, which the explorer's page interprets and `export` writes.

A program is a graph of values while it is built, and a dictionary that JSON can hold when it is done: its values are then
numbered, first the inputs, then the constants (names of arrays of weights), the literals, and one value for each equation.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Shape = tuple[int, ...]
"""The shape of a value."""

INPUT, CONSTANT, LITERAL = "input", "constant", "literal"
INFINITE_EXPONENT = 1e4
"""exp of this is infinite: JSON has no infinite numbers, so programs compute theirs."""


@dataclasses.dataclass(eq=False)
class Value:
    """A value of a program: an input, a constant, a literal, or the result of an equation."""

    op: str
    operands: tuple["Value", ...]
    shape: Shape
    parameters: dict[str, Any]
    order: int
    known: Callable[[], np.ndarray] | None
    """Computes its numbers, if they depend on no input and no constant."""

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def numbers(self) -> np.ndarray | None:
        """Returns the numbers of a value that depends on no input and no constant, otherwise None."""
        if self.known is None:
            return None
        numbers = self.known()
        self.known = lambda: numbers  # many values may ask for it
        return numbers


class Builder:
    """Builds the graph of a program; equal equations become one value."""

    def __init__(self) -> None:
        self._count = itertools.count()
        self._found: dict[Any, Value] = {}

    def input(self, place: int, shape: Shape) -> Value:
        return self._value(INPUT, (), shape, {"place": place}, None)

    def constant(self, name: str, shape: Shape) -> Value:
        return self._value(CONSTANT, (), shape, {"name": name}, None)

    def literal(self, number: float) -> Value:
        if math.isnan(number):
            infinite = self.literal(math.inf)
            return self.equation("sub", (infinite, infinite), ())
        if math.isinf(number):
            infinite = self.equation("exp", (self.literal(INFINITE_EXPONENT),), ())
            return infinite if number > 0 else self.equation("neg", (infinite,), ())
        return self._value(LITERAL, (), (), {"number": number}, lambda: np.asarray(number))

    def equation(
        self,
        op: str,
        operands: Sequence[Value],
        shape: Shape,
        known: Callable[[], np.ndarray] | None = None,
        **parameters: Any,
    ) -> Value:
        """Adds an equation, and returns its result."""
        return self._value(op, tuple(operands), shape, parameters, known)

    def pointwise(self, op: str, operands: Sequence[Value], **more: Any) -> Value:
        """Adds an equation between values of one shape; those of other shapes are broadcast, except literals."""
        shape = np.broadcast_shapes(*(value.shape for value in operands))
        return self.equation(op, [self._fitted(value, shape) for value in operands], shape, **more)

    def reshaped(self, value: Value, shape: Shape) -> Value:
        return value if value.shape == shape else self.equation("reshape", (value,), shape)

    def broadcast(self, value: Value, shape: Shape) -> Value:
        """Repeats a scalar over a shape, or a value along axes where its length is 1."""
        if value.shape == shape:
            return value
        axes = list(range(len(value.shape)))
        return self.equation("broadcast_in_dim", (value,), shape, broadcast_dimensions=axes)

    def _fitted(self, value: Value, shape: Shape) -> Value:
        return value if value.shape == shape or value.op == LITERAL else self.broadcast(value, shape)

    def _value(
        self,
        op: str,
        operands: tuple[Value, ...],
        shape: Shape,
        parameters: dict[str, Any],
        known: Callable[[], np.ndarray] | None,
    ) -> Value:
        # repr, so that the literals 0.0 and -0.0 stay apart
        key = (op, operands, shape, tuple(sorted((name, repr(value)) for name, value in parameters.items())))
        if key not in self._found:
            self._found[key] = Value(op, operands, shape, parameters, next(self._count), known)
        return self._found[key]


def needed(outputs: Sequence[Value]) -> list[Value]:
    """Returns the values that outputs depend on, themselves included, in the order in which they were made."""
    found, waiting = dict[int, Value](), list(outputs)
    while waiting:
        value = waiting.pop()
        if value.order not in found:
            found[value.order] = value
            waiting += value.operands
    return [found[order] for order in sorted(found)]


def written(inputs: Sequence[Shape], outputs: Sequence[Value]) -> dict[str, Any]:
    """Returns a program as JSON holds it, without the equations that no output needs."""
    values = needed(outputs)
    kinds = {kind: [value for value in values if value.op == kind] for kind in (CONSTANT, LITERAL)}
    equations = [value for value in values if value.op not in (INPUT, CONSTANT, LITERAL)]
    numbered = itertools.count(len(inputs))
    places = {value.order: value.parameters["place"] for value in values if value.op == INPUT}
    places |= {value.order: next(numbered) for value in [*kinds[CONSTANT], *kinds[LITERAL], *equations]}
    return {
        "inputs": [list(shape) for shape in inputs],
        "constants": [value.parameters["name"] for value in kinds[CONSTANT]],
        "literals": [value.parameters["number"] for value in kinds[LITERAL]],
        "equations": [
            {
                "op": value.op,
                "in": [places[operand.order] for operand in value.operands],
                "out": places[value.order],
                "shape": list(value.shape),
                **value.parameters,
            }
            for value in equations
        ],
        "outputs": [places[value.order] for value in outputs],
    }
