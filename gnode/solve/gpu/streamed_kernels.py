"""The forward and the backward kernel of the streamed integration of any `Step`.

Arrays have the layout time x trials x units, with units padded to whole blocks. One program has a tile of trials. The
forward kernel writes the states and the pre-activations of all groups, the backward kernel the cotangents of all groups and
of the rate. Threads of a program read what other threads wrote, so there is a barrier after every product.

The operands of products are stored in memory in 16 bits.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from gnode.solve.gpu.backend import backend, span
from gnode.solve.gpu.cell_steps import RATE, Pointwise, Step, is_itself
from gnode.solve.gpu.tiles import bounded

AT_ONCE = 5
"""The number of blocks of a product's result that are computed together; each piece of the source is read once for them."""

FEW = 2
"""The maximum number of operands of a pointwise function that is fused with a product, which limits registers."""

Refs = Mapping[str, Any]
"""References to arrays by name."""


class Piece(NamedTuple):
    """A range of neighbouring blocks."""

    first: Any
    blocks: int


class How(NamedTuple):
    """The static arguments of a kernel."""

    step: Step
    time: int
    blocks: Mapping[str, int]
    """The number of blocks of every part and group."""
    block: int
    depth: int
    """The number of units of a source that are read at a time, a divisor of `block`."""
    tile: int
    """The number of trials of a program."""
    warps: int
    """Its number of groups of 32 threads."""
    interpret: bool

    def barrier(self) -> None:
        """Synchronises the threads of a program."""
        if not self.interpret:  # the interpreter is sequential
            backend().barrier()

    def at(self, piece: Piece) -> Any:
        """Returns the slice of the units of a piece."""
        return span(piece.first * self.block, piece.blocks * self.block)

    def along(self, index: Any) -> Any:
        """Returns the slice of a source that is read in one iteration."""
        return span(index * self.depth, self.depth)

    def empty(self, piece: Piece) -> Array:
        """Returns zeros of the shape of a piece."""
        return jnp.zeros((self.tile, piece.blocks * self.block), jnp.float32)


def forward_kernel(
    how: How, keep: bool, over_trials: tuple, whole: tuple, states: Refs, groups: Refs, sources: Refs
) -> None:
    """Integrates a tile of trials over all bins; `keep` is whether `groups` stores every bin or reuses one."""
    start, given, rate = over_trials
    weights, biases = whole
    step, at = how.step, how.at
    of_state = {
        index: product.source.uses[0]
        for index, product in enumerate(step.products)
        if is_itself(product.source, step.parts)
    }
    for part in step.parts:
        for i in range(how.blocks[part]):
            own = at(Piece(i, 1))
            states[part][0, :, own] = start[part][:, own]
            for index in (index for index, name in of_state.items() if name == part):
                _put(sources[f"u{index}"], (0, slice(None), own), start[part][:, own])
    how.barrier()

    def bin(t: Array, _: Any) -> int:
        slot, turn = t if keep else 0, t & 1
        next_turn = 1 - turn
        value = _looked_up(how, t, slot, states, groups, given, biases, rate)

        def follow(index: int, piece: Piece, known: Mapping[str, Array]) -> None:
            """Computes the pointwise function after a product."""
            function, own = step.after_product[index], at(piece)
            found = function({name: known[name] if name in known else value(name, piece) for name in function.uses})
            if index + 1 < len(step.products):
                _put(sources[f"u{index + 1}"], (turn, slice(None), own), found)
                return
            new = dict(zip(step.parts, found, strict=True))
            for part in step.parts:
                states[part][t + 1, :, own] = new[part]
            for product, part in of_state.items():
                _put(sources[f"u{product}"], (next_turn, slice(None), own), new[part])

        for index, product in enumerate(step.products):
            is_wanted = index + 1 == len(step.products) or index + 1 not in of_state
            function = step.after_product[index]
            is_followed = False
            for group in product.groups:
                # The pointwise function is fused with the last group if it has the same units and few other operands.
                is_last = is_wanted and group == product.groups[-1]
                is_followed = is_last and how.blocks[group] == _width(how, function) and len(function.uses) <= FEW

                def begin(piece: Piece, group: str = group) -> Array:
                    total = how.empty(piece) + biases[group][at(piece)]
                    return total + given[group][t, :, at(piece)] if group in given else total

                def finish(
                    piece: Piece, total: Array, group: str = group, index: int = index, is_followed: bool = is_followed
                ) -> None:
                    groups[group][slot, :, at(piece)] = total
                    if is_followed:
                        follow(index, piece, {group: total})

                terms = [(weights[group], sources[f"u{index}"], (turn, slice(None)), _width(how, product.source))]
                _multiply(how, how.blocks[group], terms, begin, finish)
                how.barrier()
            if is_wanted and not is_followed:
                _over_blocks(_width(how, function), lambda i, index=index: follow(index, Piece(i, 1), {}))
                how.barrier()
        return 0

    jax.lax.fori_loop(0, how.time, bin, 0)


def backward_kernel(
    how: How, over_trials: tuple, whole: tuple, cotangents: Refs, adjoints: Refs, factors: Refs
) -> None:
    """Integrates the adjoint state of a tile backwards.

    It writes `cotangents`, those of the groups and of the rate in every bin; `adjoints`, those of the parts of the state, at
    the end those of h0; and `factors`, the cotangents of the groups in one bin in the dtype of the operands of products.
    """
    states, groups, given, rate, outside = over_trials
    turned, biases = whole
    step, at = how.step, how.at
    for part in step.parts:
        for i in range(how.blocks[part]):
            adjoints[part][:, at(Piece(i, 1))] = how.empty(Piece(i, 1))
    how.barrier()

    def bin(count: Array, _: Any) -> int:
        t = how.time - 1 - count
        value = _looked_up(how, t, t, states, groups, given, biases, rate)

        def place(name: str, piece: Piece) -> tuple[Any, tuple]:
            if name in step.parts:
                return adjoints[name], (slice(None), at(piece))
            return cotangents[name], (t, slice(None), at(piece))

        def pull(function: Pointwise, piece: Piece, cotangent: Any, known: frozenset[str] = frozenset()) -> None:
            """Adds to the cotangents of the operands of a pointwise function; those not in `known` are initialised."""
            uses = [value(name, piece) for name in function.uses]
            places = {name: place(name, piece) for name in function.uses}
            so_far = {name: ref[where] for name, (ref, where) in places.items() if name in known}
            _, back = jax.vjp(function.function, *uses)
            for name, found in zip(function.uses, back(cotangent), strict=True):
                ref, where = places[name]
                ref[where] = total = so_far[name] + found if name in so_far else found
                if name in factors:
                    factors[name][where[1:]] = bounded(total, factors[name].dtype)

        def end(i: Any) -> None:
            own = at(Piece(i, 1))
            adjoint = tuple(adjoints[part][:, own] + outside[part][t, :, own] for part in step.parts)
            pull(step.after, Piece(i, 1), adjoint)

        _over_blocks(how.blocks[step.parts[0]], end)
        how.barrier()
        known = frozenset(step.after.uses)
        for product in reversed(step.products):
            terms = [(turned[group], factors[group], (slice(None),), how.blocks[group]) for group in product.groups]

            def finish(
                piece: Piece, total: Array, source: Pointwise = product.source, known: frozenset[str] = known
            ) -> None:
                pull(source, piece, total, known)

            _multiply(how, _width(how, product.source), terms, how.empty, finish)
            how.barrier()
            known |= frozenset(product.source.uses)
        return 0

    jax.lax.fori_loop(0, how.time, bin, 0)


Term = tuple[Any, Any, tuple, int]
"""A matrix (units of the result x units of the source), the source, an index into it, and its number of blocks."""


def _multiply(
    how: How,
    blocks: int,
    terms: Sequence[Term],
    begin: Callable[[Piece], Array],
    finish: Callable[[Piece, Array], None],
) -> None:
    """Computes `begin` plus a sum of products, some blocks of the result at a time, and passes each piece to `finish`."""
    at_once = max(n for n in range(1, AT_ONCE + 1) if blocks % n == 0)

    def some(chunk: Any, _: Any) -> int:
        own = [Piece(chunk * at_once + first, count) for first, count in _powers_of_two(at_once)]
        totals: Any = tuple(map(begin, own))
        for matrix, source, where, inner in terms:

            def further(k: Any, totals: Any, matrix: Any = matrix, source: Any = source, where: tuple = where) -> Any:
                left = source[(*where, how.along(k))]
                return tuple(
                    _product(left, matrix[how.at(piece), how.along(k)]) + total for piece, total in zip(own, totals)
                )

            turns = inner * (how.block // how.depth)
            totals = further(0, totals) if turns == 1 else jax.lax.fori_loop(0, turns, further, totals)
        for piece, total in zip(own, totals):
            finish(piece, total)
        return 0

    if blocks == at_once:
        some(0, 0)
    else:
        jax.lax.fori_loop(0, blocks // at_once, some, 0)


def _powers_of_two(count: int) -> list[tuple[int, int]]:
    """Splits `count` blocks into pieces whose sizes are powers of two; returns the start and the size of each."""
    sizes = [1 << bit for bit in reversed(range(count.bit_length())) if count >> bit & 1]
    return [(sum(sizes[:place]), size) for place, size in enumerate(sizes)]


def _over_blocks(blocks: int, body: Callable[[Any], None]) -> None:
    """Calls `body` for every block in turn."""

    def turn(i: Any, _: Any) -> int:
        body(i)
        return 0

    if blocks == 1:
        turn(0, 0)
    else:
        jax.lax.fori_loop(0, blocks, turn, 0)


def _looked_up(
    how: How, t: Any, slot: Any, states: Refs, groups: Refs, given: Refs, biases: Refs, rate: Any
) -> Callable[[str, Piece], Array]:
    """Returns a function that reads a piece of any value of the step by name."""

    def value(name: str, piece: Piece) -> Array:
        own = how.at(piece)
        if name in how.step.parts:
            return states[name][t, :, own]
        if name in groups:
            return groups[name][slot, :, own]
        if name != RATE:
            return given[name][t, :, own] + biases[name][own]
        # The rate has one value per trial, or one per trial and unit.
        return rate[t, :, own] if rate.shape[-1] > 1 else how.empty(piece) + rate[t, :, 0][:, None]

    return value


def _width(how: How, function: Pointwise) -> int:
    """Returns the number of blocks of a pointwise function, which is that of any of its operands."""
    return next(how.blocks[name] for name in function.uses if name != RATE)


def _product(source: Array, matrix: Array) -> Array:
    """Computes source matrix^T; the axis of the sum is the last one of both, which is the fastest layout."""
    return jax.lax.dot_general(source, matrix, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)


def _put(ref: Any, where: tuple, value: Array) -> None:
    """Stores an operand of a product. A value out of range becomes infinite: such a state has diverged."""
    ref[where] = value.astype(ref.dtype)
