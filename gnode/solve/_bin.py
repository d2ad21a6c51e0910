"""Integration over one bin of time, from one sample of the input to the next."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked
from gnode.cells import Cell, Layers
from gnode.solve._path import Bin, input_at, slope_at
from gnode.solve._solver import Solver

State = Float[Array, " state"]


@checked
def advance(cell: Cell, h: State, bin: tuple, solver: Solver) -> State:
    """Computes the state at the end of a bin from the state at its start: the map that a network iterates.

    **Arguments:**

    - `cell`: the cell to integrate.
    - `h`: the state at the start of the bin.
    - `bin`: the input at the start of the bin, the input at its end, and its length in seconds.
    - `solver`: a `Solver`.

    **Returns:** the state at the end of the bin.

    >>> from gnode.cells import rnn
    >>> advance(rnn(1, 2, key=0), jnp.ones(2), (jnp.zeros(1), jnp.zeros(1), jnp.float32(0.0)), Solver()).tolist()
    [1.0, 1.0]
    """
    if len(bin) < 3:
        raise errors.ArgumentError(f"bin holds {len(bin)} things, but must hold three: two inputs and a length.")
    now = Bin(*bin)
    if solver.interpolation == "hold":
        now = now._replace(end=None)
    inputs = [x for x in (now.start, now.end, now.before) if x is not None]
    for name, array, shape in (("h", h, (cell.state_size,)), *(("bin", x, (cell.inputs,)) for x in inputs)):
        if jnp.shape(array) != shape:
            raise errors.ArgumentError(
                f"{name} holds an array of shape {jnp.shape(array)}, but must have shape {shape}."
            )
    if not isinstance(now.length, Tracer) and not np.isfinite(now.length):
        raise errors.ArgumentError(f"the length of the bin is {now.length}, but must be a number.")
    return moved(cell, h, now, solver)


def moved(cell: Cell, h: State, bin: Bin, solver: Solver, flow: Callable[..., State] | None = None) -> State:
    """Computes the state at the end of a bin: what the arrival of a sample does, then the flow.

    `flow` integrates the flow of one bin; the integrator of the solver if None.
    """
    flow = _flow_by(solver) if flow is None else flow
    if isinstance(cell, Layers):
        return _through_layers(cell, h, bin, solver, flow)
    if bin.before is not None and cell.has("control"):
        arrival = Bin(bin.before, bin.start, jnp.zeros_like(bin.length))
        h = flow(cell, h, arrival, solver)
    if cell.has("jump"):
        h = jnp.where(bin.length > 0, cell.jump(h, bin.start), h)
    return flow(cell, h, bin, solver)


def _through_layers(cell: Layers, h: State, bin: Bin, solver: Solver, flow: Callable[..., State]) -> State:
    """Every layer moves under the output that the layer below has at the end of the bin, held.

    That output changes also where the input is constant, and a control of the layer above feels the step.
    """
    ends: list[State] = []
    for layer, part in zip(cell.layers, cell.parts(h)):
        end = moved(layer, part, bin, solver, flow)
        before = layer.seen(part, bin.start if bin.before is None else bin.before)
        bin = Bin(layer.seen(end, bin.start), None, bin.length, before)
        ends.append(end)
    return jnp.concatenate(ends)


def noise_of(cell: Cell, h: State, bin: Bin, kick: State) -> State:
    """Returns what noise adds to the state at the end of a bin; its factor is that of the state at the start (Ito)."""
    return kick * cell.diffusion(h, bin.start) if cell.has("diffusion") else kick


def rate(cell: Cell, h: State, bin: Bin, share: Array | float) -> State:
    """Returns dh/dt at a fraction `share` of the bin; for a cell with a control the derivative by that fraction."""
    field = cell.vector_field(h, input_at(bin, share))
    if not cell.has("control"):
        return field
    if bin.end is None:
        return bin.length * field
    return bin.length * field + cell.control(h, input_at(bin, share)) @ slope_at(bin, share)


def span(cell: Cell, bin: Bin) -> Array | float:
    """Returns the length of the bin in the unit of `rate`."""
    return 1.0 if cell.has("control") else bin.length


def _flow_by(solver: Solver) -> Callable[[Cell, State, Bin, Solver], State]:
    if solver.method == "forward_backward_euler":
        return _forward_backward_euler
    if solver.method == "own":
        return _own_steps
    if solver.method == "euler" and solver.adjoint == "discretise_then_optimise":
        return _euler
    # It takes a quarter of a second to import, for which forward Euler need not wait.
    from gnode.solve._diffrax_steps import by_diffrax

    return by_diffrax


def _euler(cell: Cell, h: State, bin: Bin, solver: Solver) -> State:
    step = span(cell, bin) / solver.substeps

    def substep(index: Array | int, h: State) -> State:
        return h + step * rate(cell, h, bin, index / solver.substeps)

    return _repeat(solver.substeps, substep, h)


def _own_steps(cell: Cell, h: State, bin: Bin, solver: Solver) -> State:
    if not cell.has("own_step"):
        raise errors.ArgumentError(
            f"method is 'own', but {type(cell).__name__} has no step of its own; use method {cell.default_method!r}."
        )
    step = bin.length / solver.substeps

    def substep(index: Array | int, h: State) -> State:
        return cell.own_step(h, input_at(bin, index / solver.substeps), step)

    # A formula may move the state in no time by rounding, or not be made for it.
    return jnp.where(bin.length > 0, _repeat(solver.substeps, substep, h), h)


def _forward_backward_euler(cell: Cell, h: State, bin: Bin, solver: Solver) -> State:
    if cell.blocks is None:
        raise errors.ArgumentError(
            f"method is 'forward_backward_euler', which needs a cell with two blocks of state (such as lem), but "
            f"{type(cell).__name__} has one; use method 'euler'."
        )
    first, second = cell.blocks
    step = bin.length / solver.substeps

    def substep(index: Array | int, h: State) -> State:
        x = input_at(bin, index / solver.substeps)
        field, field_of_second = cell.fields_of_blocks(h, x)
        ahead = h[first] + step * field
        h = h.at[first].set(ahead)
        return h.at[second].add(step * field_of_second(ahead))

    return _repeat(solver.substeps, substep, h)


def by_tableau(tableau: Any, cell: Cell, h: State, bin: Bin, solver: Solver) -> State:
    """Computes the state at the end of a bin by an explicit Runge-Kutta method, written out."""
    return _repeat(solver.substeps, runge_kutta(tableau, cell, bin, solver), h)


def runge_kutta(tableau: Any, cell: Cell, bin: Bin, solver: Solver) -> Callable[[Array | int, State], State]:
    """Returns the map of one substep by an explicit Runge-Kutta method: (index of the substep, state) -> state."""
    step = span(cell, bin) / solver.substeps

    def substep(index: Array | int, h: State) -> State:
        def slope(h: State, share: float) -> State:
            return rate(cell, h, bin, (index + share) / solver.substeps)

        slopes = [slope(h, 0.0)]
        for row, share in zip(tableau.a_lower, tableau.c):
            slopes.append(slope(h + step * _combined(row, slopes), float(share)))
        return h + step * _combined(tableau.b_sol, slopes)

    return substep


def _combined(weights: Any, slopes: list[Array]) -> Any:
    return sum(float(weight) * slope for weight, slope in zip(weights, slopes) if weight != 0)


def _repeat(times: int, body: Callable[[Array | int, State], State], h: State) -> State:
    return body(0, h) if times == 1 else jax.lax.fori_loop(0, times, body, h)
