"""Expressions of Python, and how axes are written."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from gnode.export._graph import Node
from gnode.programs import Shape


@dataclasses.dataclass(frozen=True)
class Term:
    """An expression, how tightly it binds, the axes that it has, and whether it has a batch or is a truth value."""

    text: str
    level: int
    shape: Shape
    is_batched: bool = False
    is_truth: bool = False
    number: float | None = None

    def inside(self, level: int) -> str:
        return self.text if self.level >= level else f"({self.text})"


def letters_of(node: Node) -> tuple[str, str]:
    """The axes of a product as `einsum` names them."""
    contracted, batched = node.parameters["dimension_numbers"]
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    names: list[list[str]] = [[""] * len(operand.shape) for operand in node.operands]
    for pairs in (zip(*batched), zip(*contracted)):
        for one, other in pairs:
            names[0][one] = names[1][other] = next(letters)
    free: list[str] = []
    for side in (0, 1):
        for axis, name in enumerate(names[side]):
            if not name:
                names[side][axis] = next(letters)
                free.append(names[side][axis])
    given = ",".join("".join(side) for side in names)
    return given, "".join([*(names[0][axis] for axis in batched[0]), *free])


def ones_left_out(longer: Shape, shorter: Shape) -> list[int] | None:
    """The axes of length 1 that one shape has more than another, if that is all in which they differ."""
    places: list[int] = []
    rest = list(shorter)
    for place, length in enumerate(longer):
        if rest and rest[0] == length:
            rest = rest[1:]
        elif length == 1:
            places.append(place)
        else:
            return None
    return None if rest else places


def span(start: int, limit: int, stride: int, length: int) -> str:
    first, last = str(start or ""), "" if limit >= length else str(limit)
    return f"{first}:{last}" + (f":{stride}" if stride != 1 else "")


def tuple_of(values: Sequence[Any]) -> str:
    return f"({', '.join(map(str, values))}{',' if len(values) == 1 else ''})"
