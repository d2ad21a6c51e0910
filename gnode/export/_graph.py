"""Programs as graphs, and what can be left out of them before they are written for people to read."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gnode.programs import POINTWISE, Shape

INPUT, CONSTANT, LITERAL = "input", "constant", "literal"


@dataclasses.dataclass(eq=False)
class Node:
    """A value: an input or a constant by its name, a number, or the result of an operation."""

    op: str
    shape: Shape
    operands: tuple["Node", ...] = ()
    parameters: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.parameters["name"]

    @property
    def number(self) -> float:
        return self.parameters["number"]

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def graph_of(program: dict[str, Any], inputs: Sequence[str], shapes: dict[str, Shape]) -> Node:
    """Returns the only output of a program as a graph, simplified. `inputs` are names, `shapes` those of the arrays."""
    nodes = [Node(INPUT, tuple(shape), (), {"name": name}) for name, shape in zip(inputs, program["inputs"])]
    nodes += [Node(CONSTANT, shapes[name], (), {"name": name}) for name in program["constants"]]
    nodes += [literal(number) for number in program["literals"]]
    found: dict[int, Node] = dict(enumerate(nodes))
    for equation in program["equations"]:
        parameters = {name: value for name, value in equation.items() if name not in ("op", "in", "out", "shape")}
        operands = tuple(found[place] for place in equation["in"])
        found[equation["out"]] = _simplified(Node(equation["op"], tuple(equation["shape"]), operands, parameters))
    return found[program["outputs"][0]]


def literal(number: float) -> Node:
    return Node(LITERAL, (), (), {"number": number})


def in_order(output: Node) -> list[Node]:
    """Returns the nodes that an output depends on, each after its operands."""
    found: list[Node] = []
    seen: set[int] = set()
    waiting: list[tuple[Node, bool]] = [(output, False)]
    while waiting:
        node, are_operands_there = waiting.pop()
        if are_operands_there:
            found.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            waiting += [(node, True), *((operand, False) for operand in reversed(node.operands))]
    return found


def uses_of(output: Node) -> dict[int, int]:
    """Counts by id how often each node is an operand."""
    counts: dict[int, int] = {}
    for node in in_order(output):
        for operand in node.operands:
            counts[id(operand)] = counts.get(id(operand), 0) + 1
    return counts


def _simplified(node: Node) -> Node:
    rule = _RULES.get(node.op)
    found = node if rule is None else rule(node)
    return _lowered(found) if found is node else found


def _lowered(node: Node) -> Node:
    """An operation on rows of which there is one: the same on a vector, whose result becomes a row."""
    if len(node.shape) != 2 or node.shape[0] != 1:
        return node
    if node.op in POINTWISE and all(_row(one) is not None or one.op == LITERAL for one in node.operands):
        vectors = tuple(_row(one) or one for one in node.operands)
        made = _simplified(Node(node.op, node.shape[1:], vectors, node.parameters))
        return Node("reshape", node.shape, (made,))
    if node.op != "dot_general" or (row := _row(node.operands[0])) is None:
        return node
    (contracted, batched), other = node.parameters["dimension_numbers"], node.operands[1]
    if contracted[0] != [1] or batched != [[], []] or len(other.shape) != 2:
        return node
    parameters = {"dimension_numbers": [[[0], contracted[1]], batched]}
    return Node("reshape", node.shape, (Node("dot_general", node.shape[1:], (row, other), parameters),))


def _row(node: Node) -> Node | None:
    """The vector that became a row."""
    is_one = node.op == "reshape" and node.operands[0].shape == node.shape[1:] and len(node.shape) == 2
    return node.operands[0] if is_one else None


def _is(node: Node, number: float) -> bool:
    """Whether a node is a number, or that number repeated."""
    inner = node.operands[0] if node.op == "broadcast_in_dim" else node
    return inner.op == LITERAL and inner.number == number


def _sum(node: Node) -> Node:
    a, b = node.operands
    if _is(b, 0.0) and a.shape == node.shape:
        return a
    return b if node.op == "add" and _is(a, 0.0) and b.shape == node.shape else node


def _product(node: Node) -> Node:
    a, b = node.operands
    if _is(b, 1.0) and a.shape == node.shape:
        return a
    if _is(a, 0.0) or (node.op == "mul" and _is(b, 0.0)):
        return _zeros(node)
    return b if node.op == "mul" and _is(a, 1.0) and b.shape == node.shape else node


def _zeros(node: Node) -> Node:
    return Node("broadcast_in_dim", node.shape, (literal(0.0),), {"broadcast_dimensions": []})


def _dot_general(node: Node) -> Node:
    """A sum over nothing, such as the inputs of a flow that has none, is zero."""
    return _zeros(node) if any(operand.size == 0 or _is(operand, 0.0) for operand in node.operands) else node


def _of_numbers(compute: Callable[..., Any]) -> Callable[[Node], Node]:
    """A rule for operations by which programs write infinity and what is not a number."""

    def rule(node: Node) -> Node:
        if any(operand.op != LITERAL for operand in node.operands):
            return node
        with np.errstate(all="ignore"):
            return literal(float(compute(*(operand.number for operand in node.operands))))

    return rule


def _difference(node: Node) -> Node:
    return _of_numbers(np.subtract)(node) if all(one.op == LITERAL for one in node.operands) else _sum(node)


def _reshape(node: Node) -> Node:
    (given,) = node.operands
    if given.op == "reshape":
        given = given.operands[0]
    return given if given.shape == node.shape else Node("reshape", node.shape, (given,))


def _slice(node: Node) -> Node:
    """A slice of vectors that are joined, where it is one of them."""
    (given,) = node.operands
    if len(node.shape) != 1 or node.parameters["strides"] != [1] or given.op != "concatenate":
        return node
    start, at = node.parameters["start"][0], 0
    for part in given.operands:
        if (start, node.shape) == (at, part.shape):
            return part
        at += part.size
    return node


def part_of(vector: Node, start: int, limit: int) -> Node:
    """Returns the numbers of a vector from `start` to `limit`."""
    parameters = {"start": [start], "limit": [limit], "strides": [1]}
    return vector if limit - start == vector.size else _slice(Node("slice", (limit - start,), (vector,), parameters))


def _put(node: Node) -> Node:
    """Numbers that are put into a vector one after the other: parts of both, joined."""
    target, update = node.operands
    indices = node.parameters["indices"]
    if len(target.shape) != 1 or not indices or indices != list(range(indices[0], indices[0] + len(indices))):
        return node
    start, limit = indices[0], indices[0] + len(indices)
    middle = _reshape(Node("reshape", (len(indices),), (update,)))
    if node.parameters.get("add"):
        middle = _sum(Node("add", middle.shape, (part_of(target, start, limit), middle)))
    bounds = ((0, start), None, (limit, target.size))
    parts = [
        middle if bound is None else part_of(target, *bound) for bound in bounds if bound is None or np.diff(bound)
    ]
    return middle if len(parts) == 1 else Node("concatenate", node.shape, tuple(parts), {"dimension": 0})


def _select_n(node: Node) -> Node:
    which = node.operands[0]
    which = which.operands[0] if which.op == "broadcast_in_dim" else which
    if which.op != LITERAL:
        return node
    chosen = node.operands[1 + int(which.number)]
    return chosen if chosen.shape == node.shape else _broadcast(Node("broadcast_in_dim", node.shape, (chosen,)))


def _broadcast(node: Node) -> Node:
    """A number that is repeated twice is repeated once."""
    (given,) = node.operands
    number = given.operands[0] if given.op == "broadcast_in_dim" else given
    if number.op != LITERAL:
        return node
    return Node("broadcast_in_dim", node.shape, (number,), {"broadcast_dimensions": []})


_RULES: dict[str, Callable[[Node], Node]] = {
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "div": _product,
    "exp": _of_numbers(np.exp),
    "neg": _of_numbers(np.negative),
    "broadcast_in_dim": _broadcast,
    "dot_general": _dot_general,
    "reshape": _reshape,
    "slice": _slice,
    "put": _put,
    "select_n": _select_n,
}
