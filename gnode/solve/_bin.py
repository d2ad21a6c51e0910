"""Integration over one bin of time, from one sample of the input to the next."""

from collections.abc import Callable

import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked
from gnode.cells import Cell
from gnode.solve._solver import Solver

State = Float[Array, " state"]
Input = Float[Array, " inputs"]
Scalar = Float[Array, ""]
Bin = tuple[Input, Input, Scalar | float]
"""The input at the bin's start, the input at its end, and its length in seconds."""


@checked
def advance(cell: Cell, h: State, bin: Bin, solver: Solver) -> State:
    """Computes the state at the end of a bin from the state at its start: the map that a network iterates.

    **Arguments:**

    - `cell`: the cell to integrate.
    - `h`: the state at the start of the bin.
    - `bin`: the input at the start of the bin, the input at its end, and its length in seconds.
    - `solver`: a `Solver`.

    **Returns:** the state at the end of the bin.

    >>> import jax.numpy as jnp
    >>> from gnode.cells import rnn
    >>> advance(rnn(1, 2, key=0), jnp.ones(2), (jnp.zeros(1), jnp.zeros(1), jnp.float32(0.0)), Solver()).tolist()
    [1.0, 1.0]
    """
    for name, array, shape in (("h", h, (cell.state_size,)), *(("bin", x, (cell.inputs,)) for x in bin[:2])):
        if array.shape != shape:
            raise errors.ArgumentError(f"{name} holds an array of shape {array.shape}, but must have shape {shape}.")
    if not isinstance(bin[2], Tracer) and not np.isfinite(bin[2]):
        raise errors.ArgumentError(f"the length of the bin is {bin[2]}, but must be a number.")
    return _advancer(solver)(cell, h, bin, solver)


def _advancer(solver: Solver) -> Callable[[Cell, State, Bin, Solver], State]:
    if solver.method == "forward_backward_euler":
        return _forward_backward_euler
    if solver.method == "euler" and solver.adjoint == "discretise_then_optimise":
        return _euler
    # It takes a quarter of a second to import, for which forward Euler need not wait.
    from gnode.solve._diffrax_steps import by_diffrax

    return by_diffrax


def input_at(bin: Bin, share: Array | float, solver: Solver) -> Input:
    """Interpolates the input at a fraction `share` of the bin, from 0 to 1."""
    start, end, _ = bin
    return start if solver.interpolation == "hold" else start + share * (end - start)


def _euler(cell: Cell, h: State, bin: Bin, solver: Solver) -> State:
    step = bin[2] / solver.substeps

    def substep(index: Array | int, h: State) -> State:
        return h + step * cell.vector_field(h, input_at(bin, index / solver.substeps, solver))

    return _repeat(solver.substeps, substep, h)


def _forward_backward_euler(cell: Cell, h: State, bin: Bin, solver: Solver) -> State:
    if cell.blocks is None:
        raise errors.ArgumentError(
            f"method is 'forward_backward_euler', which needs a cell with two blocks of state (such as lem), but "
            f"{type(cell).__name__} has one; use method 'euler'."
        )
    first, second = cell.blocks
    step = bin[2] / solver.substeps

    def substep(index: Array | int, h: State) -> State:
        x = input_at(bin, index / solver.substeps, solver)
        field, field_of_second = cell.fields_of_blocks(h, x)
        moved = h[first] + step * field
        h = h.at[first].set(moved)
        return h.at[second].add(step * field_of_second(moved))

    return _repeat(solver.substeps, substep, h)


def _repeat(times: int, body: Callable[[Array | int, State], State], h: State) -> State:
    return body(0, h) if times == 1 else jax.lax.fori_loop(0, times, body, h)
