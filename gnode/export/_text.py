"""Graphs as lines of Python: each value that is used once stands where it is used, and lines stay short.

Every value has the axes of its program at the end; axes before them are a batch. Numbers and constants have no batch, and
fewer or shorter axes where broadcasting makes up for it.
"""

import dataclasses
import json
import re
from collections.abc import Sequence

import numpy as np

from gnode.export._dialects import ATOM, COMPARISON, INFIX, OF_TRUTHS, POWER, PRODUCT, SIGN, SUM, TRUTHS, Dialect
from gnode.export._graph import CONSTANT, INPUT, LITERAL, Node, in_order, uses_of
from gnode.export._terms import Term, letters_of, ones_left_out, span, tuple_of
from gnode.programs import POINTWISE, Shape

LONGEST = 84
"""Of an expression that stands inside another, or on a line of its own, in characters."""
MOST_PLACES = 12
"""Of an index that is written out; a longer one is kept with the weights."""
SHORT = 16
"""Of a slice that may stand in several places."""
_NAME = re.compile(r'\w+|W\["[^"]*"\]')


class Writer:
    """Writes one function of a file."""

    def __init__(self, dialect: Dialect, arrays: dict[str, np.ndarray], like: str, indent: str = "    "):
        self.dialect = dialect
        self.arrays = arrays
        self.like = like
        self.indent = indent
        self.lines: list[str] = []
        self.used: set[str] = set()
        """The operations that were written."""
        self.found: dict[int, Term] = {}

    def body(self, output: Node, batched: bool = True) -> list[str]:
        """Returns the lines of a function that returns this output."""
        uses = uses_of(output)
        for node in in_order(output):
            term = self._term(node)
            while len(term.text) > LONGEST and self._name_the_longest(node):
                term = self._term(node)
            is_short = _NAME.fullmatch(term.text) or (len(term.text) <= SHORT and node.op == "slice")
            if uses.get(id(node), 0) > 1 and not is_short and term.number is None:
                term = self._named(term)
            self.found[id(node)] = term
        last = self._whole(self.found[id(output)], output.shape, batched)
        return [*self.lines, f"{self.indent}return {last.text}"]

    def _name_the_longest(self, node: Node) -> bool:
        """Gives the longest operand a line of its own, if any is worth one."""
        longest = max(node.operands, key=lambda one: len(self.found[id(one)].text), default=None)
        if longest is None or len(text := self.found[id(longest)].text) <= SHORT or _NAME.fullmatch(text):
            return False
        self.found[id(longest)] = self._named(self.found[id(longest)])
        return True

    def _named(self, term: Term) -> Term:
        name = f"v{len(self.lines) + 1}"
        self.lines.append(f"{self.indent}{name} = {term.text}")
        return dataclasses.replace(term, text=name, level=ATOM)

    def _term(self, node: Node) -> Term:
        self.used.add(node.op)
        if node.op == INPUT:
            return Term(node.name, ATOM, node.shape, is_batched=True)
        if node.op == CONSTANT:
            return Term(f"W[{json.dumps(node.name)}]", ATOM, node.shape, is_truth=self.arrays[node.name].dtype == bool)
        if node.op == LITERAL:
            return self._literal(node.number)
        operands = [self.found[id(operand)] for operand in node.operands]
        if node.op in POINTWISE or node.op in ("and", "or", "xor", "not"):
            return self._pointwise(node.op, operands)
        return getattr(self, f"_{node.op}")(node, *operands)

    def _literal(self, number: float) -> Term:
        if not np.isfinite(number):
            return Term(f'float("{number}")', ATOM, (), number=number)
        text = repr(int(number)) if number == int(number) and abs(number) < 1e6 else repr(number)
        return Term(text, SIGN if number < 0 else ATOM, (), number=number)

    # Between values of one shape.

    def _pointwise(self, op: str, operands: Sequence[Term]) -> Term:
        wanted = [self._as_truth(one) if op in OF_TRUTHS else self._as_number(one) for one in operands]
        shape = np.broadcast_shapes(*(one.shape for one in wanted))
        text, level = self._operation(op, wanted)
        return Term(text, level, shape, any(one.is_batched for one in wanted), op in TRUTHS)

    def _operation(self, op: str, operands: Sequence[Term]) -> tuple[str, int]:
        if op == "neg":
            return f"-{operands[0].inside(SIGN)}", SIGN
        if op == "not":
            return f"~{operands[0].inside(ATOM)}", SIGN
        if op in INFIX:
            sign, level = INFIX[op]
            left, right = operands
            # Of the operators that bind as tightly the left one comes first, but for powers and comparisons.
            tight = level in (COMPARISON, POWER)
            space = "" if op == "pow" else " "
            before = left.inside(ATOM if op == "pow" else level + 1 if tight else level)
            after = right.inside(ATOM if op == "pow" else level if op == "add" else level + 1)
            return f"{before}{space}{sign}{space}{after}", level
        if len(operands) == 2 and not self.dialect.takes_numbers:
            number = next((one for one in operands if one.number is not None), None)
            if op in ("max", "min") and number is not None:
                (other,) = (one for one in operands if one is not number)
                return f"torch.clamp({other.text}, {'min' if op == 'max' else 'max'}={number.text})", ATOM
            operands = [self._tensor(one) for one in operands]
        if op == "rsqrt":
            return self.dialect.call(op, operands[0].text), PRODUCT
        return self.dialect.call(op, *(one.text for one in operands)), ATOM

    def _tensor(self, term: Term) -> Term:
        """A number as an array of the library, for functions that take no others."""
        if term.number is None:
            return term
        return dataclasses.replace(term, text=f"{self.like}.new_tensor({term.text})", level=ATOM)

    def _as_number(self, term: Term) -> Term:
        if not term.is_truth:
            return term
        text = self.dialect.cast.format(term.inside(ATOM), like=self.like)
        return dataclasses.replace(term, text=text, level=ATOM, is_truth=False)

    def _as_truth(self, term: Term) -> Term:
        if term.is_truth:
            return term
        if term.number is not None:
            return dataclasses.replace(term, text=str(bool(term.number)), level=ATOM, is_truth=True)
        return dataclasses.replace(term, text=f"{term.inside(SUM)} != 0", level=COMPARISON, is_truth=True)

    def _integer_pow(self, node: Node, given: Term) -> Term:
        given = self._as_number(given)
        y = node.parameters["y"]
        text = f"{given.inside(ATOM)}**{y}" if y >= 0 else f"1 / {given.inside(ATOM)}**{-y}"
        return Term(text, POWER if y >= 0 else PRODUCT, given.shape, given.is_batched)

    def _select_n(self, node: Node, which: Term, *cases: Term) -> Term:
        are_truths = all(one.is_truth for one in cases)
        cases = cases if are_truths else tuple(self._as_number(one) for one in cases)
        shape = np.broadcast_shapes(which.shape, *(one.shape for one in cases))
        text = cases[-1].text
        for place in reversed(range(len(cases) - 1)):
            is_other = which.text if which.is_truth else f"{which.inside(SUM)} > {place}"
            text = f"{self.dialect.module}.where({is_other}, {text}, {cases[place].text})"
        if all(one.number is not None for one in cases):
            text = self.dialect.cast.format(text, like=self.like)
        return Term(text, ATOM, shape, any(one.is_batched for one in (which, *cases)), are_truths)

    # Whole arrays, and the axes of arrays.

    def _batch(self, shape: Shape) -> str:
        return f"{self.like}.shape[:-1]" + (f" + {tuple_of(shape)}" if shape else "")

    def _whole(self, term: Term, shape: Shape, batched: bool) -> Term:
        """The same with all axes of a shape, and with a batch if it is asked for."""
        if term.shape == shape and (term.is_batched or not batched) and term.number is None:
            return term
        wanted = self._batch(shape) if batched or term.is_batched else tuple_of(shape)
        if term.number is not None:
            text = self.dialect.full.format(shape=wanted, number=term.text, like=self.like)
        else:
            text = f"{self.dialect.module}.broadcast_to({term.text}, {wanted})"
        return Term(text, ATOM, shape, batched or term.is_batched, term.is_truth)

    def _full(self, node: Node, place: int = 0) -> Term:
        """An operand with all its axes."""
        operand = node.operands[place]
        return self._whole(self.found[id(operand)], operand.shape, False)

    def _indexed(self, term: Term, tokens: Sequence[str], shape: Shape) -> Term:
        tokens = list(tokens)
        while tokens and tokens[0] == ":":
            tokens = tokens[1:]
        if not tokens:
            return dataclasses.replace(term, shape=shape)
        return dataclasses.replace(
            term, text=f"{term.inside(ATOM)}[..., {', '.join(tokens)}]", level=ATOM, shape=shape, number=None
        )

    def _broadcast_in_dim(self, node: Node, given: Term) -> Term:
        if given.number is not None:
            return given
        inner, places = node.operands[0].shape, node.parameters["broadcast_dimensions"]
        lengths = (1,) * (len(inner) - len(given.shape)) + given.shape
        shape = [1] * len(node.shape)
        for length, place in zip(lengths, places):
            shape[place] = length
        there = set(places[len(inner) - len(given.shape) :])
        first = 0 if given.is_batched else min(there, default=len(shape))
        tokens = [":" if place in there else "None" for place in range(first, len(shape))]
        return self._indexed(given, tokens, tuple(shape[first:]))

    def _reshape(self, node: Node, _: Term) -> Term:
        given, before, after = self._full(node), node.operands[0].shape, node.shape
        longer, shorter = (before, after) if len(before) > len(after) else (after, before)
        places = ones_left_out(longer, shorter)
        (inner,) = node.operands
        if places is not None and longer == before and inner.op == "slice" and not _NAME.fullmatch(given.text):
            return self._picked(inner, places, after)
        if places is not None and before != after:
            new = "None" if longer == after else "0"
            return self._indexed(given, [new if place in places else ":" for place in range(len(longer))], after)
        wanted = self._batch(after) if given.is_batched else tuple_of(after)
        return dataclasses.replace(given, text=f"{given.inside(ATOM)}.reshape({wanted})", level=ATOM, shape=after)

    def _picked(self, cut: Node, places: Sequence[int], shape: Shape) -> Term:
        """A slice without its axes of length 1."""
        tokens = self._tokens(cut)
        for place in places:
            tokens[place] = str(cut.parameters["start"][place])
        return self._indexed(self._full(cut), tokens, shape)

    def _tokens(self, cut: Node) -> list[str]:
        given = (cut.parameters[name] for name in ("start", "limit", "strides"))
        return [span(*bound) for bound in zip(*given, cut.operands[0].shape)]

    def _transpose(self, node: Node, _: Term) -> Term:
        given, permutation = self._full(node), node.parameters["permutation"]
        letters = "abcdefghijklm"[: len(permutation)]
        turned = "".join(letters[place] for place in permutation)
        return self._einsum(letters, turned, [given], node.shape)

    def _concatenate(self, node: Node, *_: Term) -> Term:
        given = [self._full(node, place) for place in range(len(node.operands))]
        batched = any(one.is_batched for one in given)
        given = [self._whole(one, operand.shape, batched) for one, operand in zip(given, node.operands)]
        are_truths = all(one.is_truth for one in given)
        texts = [one.text if are_truths else self._as_number(one).text for one in given]
        axis = node.parameters["dimension"] - len(node.shape)
        text = f"{self.dialect.module}.concatenate([{', '.join(texts)}], {axis})"
        return Term(text, ATOM, node.shape, batched, are_truths)

    def _slice(self, node: Node, _: Term) -> Term:
        return self._indexed(self._full(node), self._tokens(node), node.shape)

    def _take(self, node: Node, _: Term) -> Term:
        given = self._flat(self._full(node))
        taken = self._at(given, node.parameters["indices"])
        return self._shaped(taken, node.shape)

    def _put(self, node: Node, *_: Term) -> Term:
        target, update = (self._flat(self._as_number(self._full(node, place))) for place in (0, 1))
        indices, size = node.parameters["indices"], node.size
        batched = target.is_batched or update.is_batched
        if node.parameters.get("add"):
            added = np.zeros((len(indices), size))
            np.add.at(added, (np.arange(len(indices)), indices), 1.0)
            text = f"{target.inside(SUM)} + {update.inside(PRODUCT)} @ {self._kept(added).text}"
            return self._shaped(Term(text, SUM, (size,), batched), node.shape)
        places = np.arange(size)
        places[indices] = size + np.arange(len(indices))
        both = [self._whole(one, one.shape, batched).text for one in (target, update)]
        text = f"{self.dialect.module}.concatenate([{', '.join(both)}], -1)"
        joined = Term(text, ATOM, (size + len(indices),), batched)
        return self._shaped(self._at(joined, places.tolist()), node.shape)

    def _at(self, given: Term, indices: list[int]) -> Term:
        """Numbers of a vector at some places."""
        step = indices[1] - indices[0] if len(indices) > 1 else 1
        if step > 0 and indices == list(range(indices[0], indices[-1] + 1, step)):
            return self._indexed(given, [span(indices[0], indices[-1] + 1, step, given.shape[0])], (len(indices),))
        if len(indices) <= MOST_PLACES:
            places = self.dialect.places.format(indices)
            return self._indexed(given, [places], (len(indices),))
        chosen = np.zeros((given.shape[0], len(indices)))
        chosen[indices, np.arange(len(indices))] = 1.0
        given = self._as_number(given)
        text = f"{given.inside(PRODUCT)} @ {self._kept(chosen).text}"
        return Term(text, PRODUCT, (len(indices),), given.is_batched)

    def _kept(self, array: np.ndarray) -> Term:
        """An array that is kept with the weights."""
        dtype = next((one.dtype for one in self.arrays.values() if one.dtype != bool), np.dtype(np.float32))
        same = (name for name, other in self.arrays.items() if np.array_equal(other, array))
        name = next(same, f"places.{len(self.arrays)}")
        self.arrays[name] = array.astype(dtype)
        return Term(f"W[{json.dumps(name)}]", ATOM, array.shape)

    def _flat(self, given: Term) -> Term:
        return given if len(given.shape) == 1 else self._shaped(given, (int(np.prod(given.shape)),))

    def _shaped(self, given: Term, shape: Shape) -> Term:
        if given.shape == shape:
            return given
        wanted = self._batch(shape) if given.is_batched else tuple_of(shape)
        return dataclasses.replace(given, text=f"{given.inside(ATOM)}.reshape({wanted})", level=ATOM, shape=shape)

    # Sums and products.

    def _reduced(self, node: Node, _: Term) -> Term:
        given = self._full(node)
        given = self._as_truth(given) if node.op in OF_TRUTHS else self._as_number(given)
        rank = len(node.operands[0].shape)
        for axis in sorted(node.parameters["axes"], reverse=True):  # each is counted from the end of what is left
            text = self.dialect.call(node.op, given.text, axis=axis - rank)
            given = dataclasses.replace(given, text=text, level=ATOM)
            rank -= 1
        return dataclasses.replace(given, shape=node.shape, is_truth=node.op in OF_TRUTHS)

    _reduce_sum = _reduce_max = _reduce_min = _reduce_prod = _reduce_and = _reduce_or = _reduced

    def _cumulative(self, node: Node, _: Term) -> Term:
        given, axis = self._as_number(self._full(node)), node.parameters["axis"] - len(node.shape)
        turned, module = node.parameters["reverse"], self.dialect.module
        text = f"{module}.flip({given.text}, ({axis},))" if turned else given.text
        text = self.dialect.call(node.op, text, axis=axis)
        return dataclasses.replace(given, text=f"{module}.flip({text}, ({axis},))" if turned else text, level=ATOM)

    _cumsum = _cumprod = _cummax = _cummin = _cumulative

    def _dot_general(self, node: Node, *_: Term) -> Term:
        left, right = (self._as_number(self._full(node, place)) for place in (0, 1))
        (a, b), batched = node.parameters["dimension_numbers"]
        if batched == [[], []] and len(a) == 1:
            if len(left.shape) == 1 and len(right.shape) == 1:
                product = Term(f"{left.inside(PRODUCT)} * {right.inside(SIGN)}", PRODUCT, left.shape)
                text = self.dialect.call("reduce_sum", product.text, axis=-1)
                return Term(text, ATOM, (), left.is_batched or right.is_batched)
            vector, matrix, along = left, right, b[0]
            if len(right.shape) == 1:
                vector, matrix, along = right, left, a[0]
            are_rows = len(vector.shape) == 1 or (len(vector.shape) == 2 and a == [1])
            if are_rows and len(matrix.shape) == 2 and not matrix.is_batched:
                turned = f"{matrix.inside(ATOM)}.T" if along == 1 else matrix.inside(SIGN)
                return Term(f"{vector.inside(PRODUCT)} @ {turned}", PRODUCT, node.shape, vector.is_batched)
        return self._einsum(*letters_of(node), [left, right], node.shape)

    def _einsum(self, given: str, out: str, operands: Sequence[Term], shape: Shape) -> Term:
        batched = any(one.is_batched for one in operands)
        dots = ["..." if one.is_batched else "" for one in operands]
        names = ",".join(f"{dot}{letters}" for dot, letters in zip(dots, given.split(",")))
        texts = ", ".join(self._as_number(one).text for one in operands)
        text = f'{self.dialect.module}.einsum("{names}->{"..." if batched else ""}{out}", {texts})'
        return Term(text, ATOM, shape, batched)
