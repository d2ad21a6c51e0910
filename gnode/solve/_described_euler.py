"""Euler steps of the cells that are described as products and pointwise functions, with a gradient for batches of trials.

`gnode.solve.gpu.cell_steps` describes a step of a cell by a few products a = W u + U x + b with pointwise functions between
them. Reverse mode of a loop over such steps is written out here:

- forwards, the loop keeps what the pointwise functions and the gradients of the weights need, and nothing twice;
- backwards, the loop carries the cotangent of the state only and keeps the cotangents da of the pre-activations;
- after it, the gradient of each product's weights, the sum of da (u, x)^T over bins and trials, is one flat product.

JAX's own reverse mode of a loop adds an outer product to the gradient of every weight in every bin instead. Where a
pointwise function is an activation whose value determines its slope, the value is kept; elsewhere the pre-activation is,
and JAX differentiates the function in the backward loop. There is no forward mode: the rule is for training.
"""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode._activation_functions import SLOPES
from gnode.activations import activation
from gnode.cells import Cell
from gnode.devices import is_on_cpu
from gnode.solve._solver import Solver
from gnode.solve._unroll import unroll
from gnode.solve.gpu.cell_steps import RATE, Affine, Pointwise, Step, is_itself, step_of, why_not
from gnode.solve.gpu.choice import is_one_step


def is_described(cell: Cell, solver: Solver) -> bool:
    """Whether `described_euler` computes what `solver` does, on a CPU: on a GPU it was not compared with the loop."""
    return is_on_cpu() and is_one_step(solver) and not why_not(cell, solver.method)


def described_euler(
    cell: Any,
    method: str,
    h0: Float[Array, "trials state"],
    xs: Float[Array, "time trials inputs"],
    dt: Float[Array, "time trials"],
) -> Float[Array, "time trials state"]:
    """Computes the states of a batch of trials, time first, with one step per bin and the input held."""
    step, weights = step_of(cell, method)
    plan = _Plan(step, tuple(_blocks(step, weights)))
    matrices = [_matrix(block, weights, xs.shape[-1]) for block in plan.blocks]
    starts = tuple(jnp.split(h0, len(step.parts), axis=-1))
    return jnp.concatenate(_states(plan, matrices, cell.timescale(), starts, xs, dt), axis=-1)


Parts = tuple[Array, ...]
"""The parts of a state, each as wide as there are units. They are apart, because slices of an array cost time in a loop."""


@dataclasses.dataclass(frozen=True)
class _Block:
    """One product of a step, a = M (u, x) + b, for all groups with the source u; without a source, a = M x + b."""

    source: Pointwise | None
    groups: tuple[str, ...]
    rows: tuple[int, ...]
    takes_input: bool

    def operand(self, u: Array | None, x: Array) -> Array:
        """Returns what the matrix is multiplied with."""
        if u is None:
            return x
        return jnp.concatenate([u, x], axis=-1) if self.takes_input else u

    def split(self, a: Array) -> dict[str, Array]:
        """Returns the part of each group."""
        ends = [sum(self.rows[: index + 1]) for index in range(len(self.rows))]
        return {name: a[..., end - rows : end] for name, rows, end in zip(self.groups, self.rows, ends)}


@dataclasses.dataclass(frozen=True)
class _Plan:
    """A step as blocks, in the order in which they are computed."""

    step: Step
    blocks: tuple[_Block, ...]

    def parts(self, h: Parts) -> dict[str, Array]:
        """Returns the parts of a state by name."""
        return dict(zip(self.step.parts, h))

    def slope(self, block: _Block) -> Callable[[Array], Array] | None:
        """Returns the slope of the block's source as a function of its value, if that determines it."""
        source = block.source
        if source is None or len(source.uses) != 1 or self._users(source.uses[0]) > 1:
            return None
        return next((SLOPES[name] for name in SLOPES if source.function is activation(name)), None)

    def _users(self, value: str) -> int:
        pointwise = [self.step.after, *(block.source for block in self.blocks if block.source is not None)]
        return sum(value in one.uses for one in pointwise)

    def groups(self, kept: list[Array]) -> dict[str, Array]:
        """Returns the groups of which the pre-activations were kept, by name."""
        found, rest = {}, list(kept)
        for block in self.blocks:
            if names := self.kept_groups(block):
                rows = tuple(rows for name, rows in zip(block.groups, block.rows) if name in names)
                found |= dataclasses.replace(block, groups=tuple(names), rows=rows).split(rest.pop(0))
        return found

    def is_stored(self, block: _Block) -> bool:
        """Whether the block's source is kept: it is neither the input nor a part of the state."""
        return block.source is not None and not is_itself(block.source, self.step.parts)

    def kept_groups(self, block: _Block) -> list[str]:
        """Returns the groups of a block whose pre-activations the backward loop needs."""
        known = {own.source.uses[0] for own in self.blocks if own.source is not None and self.slope(own) is not None}
        return [name for name in block.groups if name not in known]


def _blocks(step: Step, weights: dict[str, Affine]) -> list[_Block]:
    """Returns the products of a step, that of the groups which depend on the input only before the others."""
    given = tuple(name for name, own in weights.items() if own.W is None)
    sources = [(None, given)] if given else []
    sources += [(product.source, product.groups) for product in step.products]
    return [
        _Block(
            source,
            groups,
            tuple(weights[name].b.shape[0] for name in groups),
            any(weights[name].U is not None for name in groups),
        )
        for source, groups in sources
    ]


def _matrix(block: _Block, weights: dict[str, Affine], inputs: int) -> tuple[Array, Array]:
    """Returns M and b of a block. A group that does not depend on the input has zeros beside those that do."""
    rows = []
    for name in block.groups:
        own = weights[name]
        parts = [] if own.W is None else [own.W]
        if block.takes_input:
            parts.append(jnp.zeros((len(own.b), inputs), own.b.dtype) if own.U is None else own.U)
        rows.append(jnp.concatenate(parts, axis=1))
    return jnp.concatenate(rows), jnp.concatenate([weights[name].b for name in block.groups])


Matrices = list[tuple[Array, Array]]
"""M and b of every block."""


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _states(plan: _Plan, matrices: Matrices, tau: Array, h0: Parts, xs: Array, dt: Array) -> Parts:
    return _forward(plan, matrices, tau, h0, xs, dt)[0]


def _forward(
    plan: _Plan, matrices: Matrices, tau: Array, h0: Parts, xs: Array, dt: Array
) -> tuple[Parts, tuple[Any, ...]]:
    """Computes the states, and keeps what the backward loop needs."""
    # Transposed once, outside the loop: a product with a transposed matrix is slower.
    transposed = [(M.T, b) for M, b in matrices]

    def step(h: Parts, bin: tuple[Array, Array]) -> tuple[Parts, tuple[Parts, list[Array], list[Array]]]:
        x, length = bin
        values = plan.parts(h) | {RATE: _rate(length, tau, h[0])}
        sources, groups = [], []
        for block, (M, b) in zip(plan.blocks, transposed):
            u = None if block.source is None else block.source(values)
            values |= block.split(block.operand(u, x) @ M + b)
            if plan.is_stored(block):
                sources.append(u)
            if kept := plan.kept_groups(block):
                groups.append(jnp.concatenate([values[name] for name in kept], axis=-1))
        h = plan.step.after(values)
        return h, (h, sources, groups)

    hs, sources, groups = jax.lax.scan(step, h0, (xs, dt), unroll=unroll(xs.shape[0]))[1]
    return hs, (matrices, tau, h0, xs, dt, hs, sources, groups)


def _backward(plan: _Plan, kept: tuple[Any, ...], dhs: Parts) -> tuple[Any, ...]:
    """Computes the cotangents of all arguments from those of the states."""
    matrices, tau, h0, xs, dt, hs, sources, groups = kept
    before, inputs = tuple(jnp.concatenate([h[None], later[:-1]]) for h, later in zip(h0, hs)), xs.shape[-1]
    # The loop does without the input's columns; one product after it computes the cotangents of all inputs.
    of_source = [
        M[:, : M.shape[1] - inputs] if block.takes_input else M for block, (M, _) in zip(plan.blocks, matrices)
    ]

    def step(dh: Parts, bin: tuple[Any, ...]) -> tuple[Parts, tuple[list[Array], Array]]:
        h, length, sources, groups, dh_here = bin
        values = plan.parts(h) | plan.groups(groups) | {RATE: _rate(length, tau, h[0])}
        found, das = _Cotangents(values), []
        found.add_through(plan.step.after, tuple(map(jnp.add, dh, dh_here)))
        sources = list(sources)
        for block, M in reversed(list(zip(plan.blocks, of_source))):
            das.append(jnp.concatenate([found.of[name] for name in block.groups], axis=-1))
            if block.source is None:
                continue
            slope, du = plan.slope(block), das[-1] @ M
            value = sources.pop() if plan.is_stored(block) else None
            if slope is not None and value is not None:
                found.add(block.source.uses[0], slope(value) * du)
            else:
                found.add_through(block.source, du)
        dh = tuple(found.of[name] for name in plan.step.parts)
        return dh, (das[::-1], found.of[RATE])

    bins = (before, dt, sources, groups, dhs)
    dh0, (das, drate) = jax.lax.scan(
        step, tuple(map(jnp.zeros_like, h0)), bins, reverse=True, unroll=unroll(xs.shape[0])
    )
    dmatrices = [_outer(da, *operand) for da, operand in zip(das, _operands(plan, before, xs, sources))]
    given = [
        (da, M[:, M.shape[1] - inputs :]) for block, (M, _), da in zip(plan.blocks, matrices, das) if block.takes_input
    ]
    dxs = sum((da @ U for da, U in given), start=jnp.zeros_like(xs))
    ddt, dtau = jax.vjp(lambda dt, tau: _rate(dt, tau, hs[0]), dt, tau)[1](drate)
    return dmatrices, dtau, dh0, dxs, ddt


_states.defvjp(_forward, _backward)


class _Cotangents:
    """The cotangents `of` the values of a step, by name, added up from the functions that use them."""

    def __init__(self, values: dict[str, Array]):
        self.values = values
        self.of: dict[str, Array] = {}

    def add(self, name: str, cotangent: Array) -> None:
        """Adds to the cotangent of one value."""
        self.of[name] = self.of[name] + cotangent if name in self.of else cotangent

    def add_through(self, pointwise: Pointwise, cotangent: Any) -> None:
        """Adds what the cotangent of a function's result means for the values that it uses."""
        back = jax.vjp(pointwise.function, *(self.values[name] for name in pointwise.uses))[1]
        for name, part in zip(pointwise.uses, back(cotangent)):
            self.add(name, part)


def _operands(plan: _Plan, before: Parts, xs: Array, sources: list[Array]) -> list[tuple[Array, bool]]:
    """Returns what each block's matrix was multiplied with in all bins, and whether a last column of ones stands for b.

    Where the operand is put together here, the ones cost nothing; elsewhere they would cost a copy.
    """
    ones, parts, stored, found = jnp.ones((*xs.shape[:-1], 1), xs.dtype), plan.parts(before), list(sources), []
    for block in plan.blocks:
        if block.source is None:
            found.append((jnp.concatenate([xs, ones], axis=-1), True))
            continue
        u = stored.pop(0) if plan.is_stored(block) else parts[block.source.uses[0]]
        joined = [u, xs, ones] if block.takes_input else [u, ones]
        found.append(
            (u, False) if plan.is_stored(block) and not block.takes_input else (jnp.concatenate(joined, axis=-1), True)
        )
    return found


def _outer(da: Array, operand: Array, has_ones: bool) -> tuple[Array, Array]:
    """Computes the gradients of M and b: the sums of da u^T and of da over all bins and trials."""
    flat_da, flat = da.reshape(-1, da.shape[-1]), operand.reshape(-1, operand.shape[-1])
    # The narrower factor stands on the left, which is faster.
    if flat.shape[1] < flat_da.shape[1]:
        product = jax.lax.dot_general(flat, flat_da, (((0,), (0,)), ((), ()))).T
    else:
        product = jax.lax.dot_general(flat_da, flat, (((0,), (0,)), ((), ())))
    return (product[:, :-1], product[:, -1]) if has_ones else (product, jnp.sum(flat_da, axis=0))


def _rate(length: Array, tau: Array, like: Array) -> Array:
    """Computes dt / tau for every unit, in the shape of a part of the state."""
    return jnp.broadcast_to(length[..., None] / tau, like.shape)
