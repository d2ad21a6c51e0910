"""Graphs as nodes of ONNX, in float32. A value has one batch axis in front, or none if it depends on no input."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx  # type: ignore[import-not-found]
from onnx import TensorProto, helper, numpy_helper  # type: ignore[import-not-found]

from gnode.export._dialects import OF_TRUTHS, TRUTHS
from gnode.export._graph import CONSTANT, INPUT, LITERAL, Node, in_order
from gnode.export._terms import letters_of
from gnode.programs import POINTWISE, NotExportable, Shape

SIMPLE = {
    **{name: name.capitalize() for name in ("neg", "exp", "log", "tanh", "erf", "sin", "cos", "tan", "abs", "sign")},
    **{name: name.capitalize() for name in ("sqrt", "floor", "ceil", "round", "sinh", "cosh", "asin", "acos", "atan")},
    **{
        name: name.capitalize() for name in ("asinh", "acosh", "atanh", "add", "sub", "mul", "div", "max", "min", "pow")
    },
    **{name: name.capitalize() for name in ("and", "or", "xor", "not")},
    "logistic": "Sigmoid",
    "lt": "Less",
    "le": "LessOrEqual",
    "gt": "Greater",
    "ge": "GreaterOrEqual",
    "eq": "Equal",
}
"""Operations of programs that ONNX has, too."""
REDUCED = {"reduce_sum": "ReduceSum", "reduce_max": "ReduceMax", "reduce_min": "ReduceMin", "reduce_prod": "ReduceProd"}
REDUCED |= {"reduce_and": "ReduceMin", "reduce_or": "ReduceMax"}


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A value of a model by its name, the axes that it has beside the batch, and whether it is a truth value."""

    name: str
    shape: Shape
    is_batched: bool = False
    is_truth: bool = False


class Nodes:
    """The nodes of one graph. What is constant is kept in `stored`, which the graphs of a model share."""

    def __init__(self, arrays: dict[str, np.ndarray], stored: dict[str, onnx.TensorProto], prefix: str):
        self.arrays = arrays
        self.stored = stored
        self.prefix = prefix
        self.nodes: list[onnx.NodeProto] = []
        self.batch: str | None = None
        """The name of the length of the batch, where a value has to be repeated along it."""

    def add(self, op: str, inputs: Sequence[str], **attributes: Any) -> str:
        name = f"{self.prefix}{len(self.nodes) + 1}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def constant(self, array: Any, name: str | None = None) -> str:
        array = np.asarray(array)
        if array.dtype.kind == "f":
            array = array.astype(np.float32)
        own = (
            name
            or f"numbers.{array.dtype}.{array.shape}.{array.tobytes().hex() if array.size < 9 else len(self.stored)}"
        )
        if own not in self.stored:
            self.stored[own] = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), own)
        return own

    def whole_numbers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def graph(self, output: Node, inputs: dict[str, Tensor]) -> Tensor:
        """Adds the nodes of a graph and returns its output, with its batch."""
        some = next(one for one in inputs.values() if one.is_batched)
        self.batch = self.add("Shape", [some.name], start=0, end=1)
        found: dict[int, Tensor] = {}
        for node in in_order(output):
            found[id(node)] = self._tensor(node, inputs, [found[id(one)] for one in node.operands])
        return self._with_batch(self._number(found[id(output)]), output.shape)

    def _tensor(self, node: Node, inputs: dict[str, Tensor], operands: list[Tensor]) -> Tensor:
        if node.op == INPUT:
            return inputs[node.name]
        if node.op == CONSTANT:
            array = self.arrays[node.name]
            return Tensor(self.constant(array, node.name), node.shape, is_truth=array.dtype == bool)
        if node.op == LITERAL:
            return Tensor(self.constant(np.float32(node.number)), ())
        if node.op in POINTWISE or node.op in OF_TRUTHS - REDUCED.keys():
            return self._pointwise(node.op, operands)
        if node.op == "broadcast_in_dim":
            return self._broadcast(node, operands[0])
        if node.op == "select_n":
            return self._select(operands)
        if node.op == "integer_pow":
            return self._pointwise("pow", [operands[0], Tensor(self.constant(np.float32(node.parameters["y"])), ())])
        if node.op not in _SHAPED:
            raise NotExportable(f"the network cannot be exported to ONNX: it uses {node.op}, which ONNX does not have.")
        whole = [self._whole(one, operand.shape) for one, operand in zip(operands, node.operands)]
        return _SHAPED[node.op](self, node, whole)

    # Between values of one shape.

    def _number(self, given: Tensor) -> Tensor:
        if not given.is_truth:
            return given
        return dataclasses.replace(given, name=self.add("Cast", [given.name], to=TensorProto.FLOAT), is_truth=False)

    def _truth(self, given: Tensor) -> Tensor:
        if given.is_truth:
            return given
        return dataclasses.replace(given, name=self.add("Cast", [given.name], to=TensorProto.BOOL), is_truth=True)

    def _pointwise(self, op: str, operands: Sequence[Tensor]) -> Tensor:
        given = [self._truth(one) if op in OF_TRUTHS else self._number(one) for one in operands]
        shape = np.broadcast_shapes(*(one.shape for one in given))
        names = [one.name for one in given]
        if op in SIMPLE:
            name = self.add(SIMPLE[op], names)
        elif op in _COMPOSED:
            name = _COMPOSED[op](self, *names)
        else:
            raise NotExportable(f"the network cannot be exported to ONNX: it uses {op}, which ONNX does not have.")
        return Tensor(name, shape, any(one.is_batched for one in given), op in TRUTHS)

    def _select(self, operands: Sequence[Tensor]) -> Tensor:
        which, *cases = operands
        are_truths = all(one.is_truth for one in cases)
        cases = cases if are_truths else [self._number(one) for one in cases]
        shape = np.broadcast_shapes(which.shape, *(one.shape for one in cases))
        name = cases[-1].name
        for place in reversed(range(len(cases) - 1)):
            is_other = which.name
            if not which.is_truth:
                is_other = self.add("Greater", [which.name, self.constant(np.float32(place))])
            name = self.add("Where", [is_other, name, cases[place].name])
        return Tensor(name, shape, any(one.is_batched for one in operands), are_truths)

    def number(self, value: float) -> str:
        return self.constant(np.float32(value))

    # Axes.

    def _broadcast(self, node: Node, given: Tensor) -> Tensor:
        inner, places = node.operands[0].shape, node.parameters["broadcast_dimensions"]
        if not inner and not given.is_batched:
            return given
        lengths = (1,) * (len(inner) - len(given.shape)) + given.shape
        shape = [1] * len(node.shape)
        for length, place in zip(lengths, places):
            shape[place] = length
        there = set(places[len(inner) - len(given.shape) :])
        first = 0 if given.is_batched else min(there, default=len(shape))
        new = [place - first for place in range(first, len(shape)) if place not in there]
        if not new:
            return dataclasses.replace(given, shape=tuple(shape[first:]))
        axes = self.whole_numbers(*(axis + given.is_batched for axis in new))
        return dataclasses.replace(given, name=self.add("Unsqueeze", [given.name, axes]), shape=tuple(shape[first:]))

    def _whole(self, given: Tensor, shape: Shape) -> Tensor:
        """The same with all axes of a shape."""
        if given.shape == shape:
            return given
        wanted = self.whole_numbers(*((1,) if given.is_batched else ()), *shape)
        return dataclasses.replace(given, name=self.add("Expand", [given.name, wanted]), shape=shape)

    def _with_batch(self, given: Tensor, shape: Shape) -> Tensor:
        given = self._whole(given, shape)
        if given.is_batched:
            return given
        assert self.batch is not None
        wanted = self.add("Concat", [self.batch, self.whole_numbers(*shape)], axis=0) if shape else self.batch
        return dataclasses.replace(given, name=self.add("Expand", [given.name, wanted]), is_batched=True)

    def reshaped(self, given: Tensor, shape: Shape) -> Tensor:
        if given.shape == shape:
            return given
        wanted = self.whole_numbers(*((-1,) if given.is_batched else ()), *shape)
        return dataclasses.replace(given, name=self.add("Reshape", [given.name, wanted]), shape=shape)

    def flat(self, given: Tensor) -> Tensor:
        return self.reshaped(given, (int(np.prod(given.shape)),))

    def at(self, given: Tensor, indices: Sequence[int]) -> Tensor:
        """Numbers of a vector at some places."""
        axis = int(given.is_batched)
        name = self.add("Gather", [given.name, self.whole_numbers(*indices)], axis=axis)
        return dataclasses.replace(given, name=name, shape=(len(indices),))

    def joined(self, given: Sequence[Tensor], axis: int) -> Tensor:
        batched = any(one.is_batched for one in given)
        are_truths = all(one.is_truth for one in given)
        given = given if are_truths else [self._number(one) for one in given]
        given = [self._with_batch(one, one.shape) for one in given] if batched else given
        shape = list(given[0].shape)
        shape[axis] = sum(one.shape[axis] for one in given)
        name = self.add("Concat", [one.name for one in given], axis=axis + batched)
        return Tensor(name, tuple(shape), batched, are_truths)


def _reshape(nodes: Nodes, node: Node, operands: Sequence[Tensor]) -> Tensor:
    return nodes.reshaped(operands[0], node.shape)


def _transpose(nodes: Nodes, node: Node, operands: Sequence[Tensor]) -> Tensor:
    (given,) = operands
    turned = [axis + given.is_batched for axis in node.parameters["permutation"]]
    name = nodes.add("Transpose", [given.name], perm=[0, *turned] if given.is_batched else turned)
    return dataclasses.replace(given, name=name, shape=node.shape)


def _concatenate(nodes: Nodes, node: Node, operands: Sequence[Tensor]) -> Tensor:
    return nodes.joined(operands, node.parameters["dimension"])


def _slice(nodes: Nodes, node: Node, operands: Sequence[Tensor]) -> Tensor:
    (given,) = operands
    axes = nodes.whole_numbers(*(axis + given.is_batched for axis in range(len(node.shape))))
    start, limit, strides = (nodes.whole_numbers(*node.parameters[name]) for name in ("start", "limit", "strides"))
    return dataclasses.replace(
        given, name=nodes.add("Slice", [given.name, start, limit, axes, strides]), shape=node.shape
    )


def _take(nodes: Nodes, node: Node, operands: Sequence[Tensor]) -> Tensor:
    return nodes.reshaped(nodes.at(nodes.flat(operands[0]), node.parameters["indices"]), node.shape)


def _put(nodes: Nodes, node: Node, operands: Sequence[Tensor]) -> Tensor:
    target, update = (nodes.flat(one) for one in operands)
    indices = node.parameters["indices"]
    if node.parameters.get("add"):
        added = np.zeros((len(indices), node.size), np.float32)
        np.add.at(added, (np.arange(len(indices)), indices), 1.0)
        moved = nodes.add("MatMul", [update.name, nodes.constant(added)])
        batched = target.is_batched or update.is_batched
        return nodes.reshaped(Tensor(nodes.add("Add", [target.name, moved]), (node.size,), batched), node.shape)
    places = np.arange(node.size)
    places[indices] = node.size + np.arange(len(indices))
    return nodes.reshaped(nodes.at(nodes.joined([target, update], 0), places.tolist()), node.shape)


def _reduced(nodes: Nodes, node: Node, operands: Sequence[Tensor]) -> Tensor:
    given = nodes._number(operands[0])  # pyright: ignore[reportPrivateUsage]
    axes = nodes.whole_numbers(*(axis + given.is_batched for axis in node.parameters["axes"]))
    name = nodes.add(REDUCED[node.op], [given.name, axes], keepdims=0)
    found = Tensor(name, node.shape, given.is_batched)
    return nodes._truth(found) if node.op in OF_TRUTHS else found  # pyright: ignore[reportPrivateUsage]


def _cumsum(nodes: Nodes, node: Node, operands: Sequence[Tensor]) -> Tensor:
    (given,) = operands
    axis = nodes.constant(np.int64(node.parameters["axis"] + given.is_batched))
    name = nodes.add("CumSum", [given.name, axis], reverse=int(node.parameters["reverse"]))
    return dataclasses.replace(given, name=name)


def _dot_general(nodes: Nodes, node: Node, operands: Sequence[Tensor]) -> Tensor:
    left, right = (nodes._number(one) for one in operands)  # pyright: ignore[reportPrivateUsage]
    (a, b), batched = node.parameters["dimension_numbers"]
    vector, matrix, along = left, right, b[:1]
    if len(right.shape) == 1:
        vector, matrix, along = right, left, a[:1]
    is_plain = batched == [[], []] and len(a) == 1 and not matrix.is_batched
    if is_plain and len(vector.shape) == 1 and len(matrix.shape) == 2 and vector.is_batched:
        turned = nodes.add("Transpose", [matrix.name], perm=[1, 0]) if along == [1] else matrix.name
        return Tensor(nodes.add("MatMul", [vector.name, turned]), node.shape, True)
    given, out = letters_of(node)
    named = [("Z" if one.is_batched else "") + letters for one, letters in zip((left, right), given.split(","))]
    is_batched = left.is_batched or right.is_batched
    equation = f"{','.join(named)}->{'Z' if is_batched else ''}{out}"
    return Tensor(nodes.add("Einsum", [left.name, right.name], equation=equation), node.shape, is_batched)


_SHAPED: dict[str, Callable[[Nodes, Node, Sequence[Tensor]], Tensor]] = {
    "reshape": _reshape,
    "transpose": _transpose,
    "concatenate": _concatenate,
    "slice": _slice,
    "take": _take,
    "put": _put,
    "cumsum": _cumsum,
    "dot_general": _dot_general,
    **dict.fromkeys(REDUCED, _reduced),
}


def _is_finite(nodes: Nodes, a: str) -> str:
    return nodes.add("Not", [nodes.add("Or", [nodes.add("IsInf", [a]), nodes.add("IsNaN", [a])])])


_COMPOSED: dict[str, Callable[..., str]] = {
    "ne": lambda nodes, a, b: nodes.add("Not", [nodes.add("Equal", [a, b])]),
    "square": lambda nodes, a: nodes.add("Mul", [a, a]),
    "rsqrt": lambda nodes, a: nodes.add("Reciprocal", [nodes.add("Sqrt", [a])]),
    "log1p": lambda nodes, a: nodes.add("Log", [nodes.add("Add", [a, nodes.number(1)])]),
    "expm1": lambda nodes, a: nodes.add("Sub", [nodes.add("Exp", [a]), nodes.number(1)]),
    "trunc": lambda nodes, a: nodes.add("Mul", [nodes.add("Sign", [a]), nodes.add("Floor", [nodes.add("Abs", [a])])]),
    "cbrt": lambda nodes, a: nodes.add(
        "Mul", [nodes.add("Sign", [a]), nodes.add("Pow", [nodes.add("Abs", [a]), nodes.number(1 / 3)])]
    ),
    "rem": lambda nodes, a, b: nodes.add("Mod", [a, b], fmod=1),
    "is_finite": _is_finite,
}
"""Operations of programs that ONNX computes by a few of its own."""
