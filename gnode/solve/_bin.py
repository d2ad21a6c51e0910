"""Integration over one bin of time, from one sample of the input to the next."""

from collections.abc import Callable
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from gnode import errors
from gnode.arguments import checked
from gnode.cells import Cell
from gnode.solve._solver import ADAPTIVE, Solver

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
    return _diffrax


def _input_at(bin: Bin, share: Array | float, solver: Solver) -> Input:
    """Interpolates the input at a fraction `share` of the bin, from 0 to 1."""
    start, end, _ = bin
    return start if solver.interpolation == "hold" else start + share * (end - start)


def _euler(cell: Cell, h: State, bin: Bin, solver: Solver) -> State:
    step = bin[2] / solver.substeps

    def substep(index: Array | int, h: State) -> State:
        return h + step * cell.vector_field(h, _input_at(bin, index / solver.substeps, solver))

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
        x = _input_at(bin, index / solver.substeps, solver)
        field, field_of_second = cell.fields_of_blocks(h, x)
        moved = h[first] + step * field
        h = h.at[first].set(moved)
        return h.at[second].add(step * field_of_second(moved))

    return _repeat(solver.substeps, substep, h)


def _repeat(times: int, body: Callable[[Array | int, State], State], h: State) -> State:
    return body(0, h) if times == 1 else jax.lax.fori_loop(0, times, body, h)


class _RK4(diffrax.AbstractERK):
    """The classical fourth-order Runge-Kutta method, which diffrax does not provide. It has no error estimate."""

    tableau = diffrax.ButcherTableau(
        a_lower=(np.array([0.5]), np.array([0.0, 0.5]), np.array([0.0, 0.0, 1.0])),
        b_sol=np.array([1, 2, 2, 1]) / 6,
        b_error=np.zeros(4),
        c=np.array([0.5, 0.5, 1.0]),
    )
    interpolation_cls = diffrax.ThirdOrderHermitePolynomialInterpolation.from_k

    def order(self, terms: object) -> int:
        return 4


def _diffrax_solver(solver: Solver) -> diffrax.AbstractSolver:
    makers = {
        "euler": diffrax.Euler,
        "heun": diffrax.Heun,
        "midpoint": diffrax.Midpoint,
        "rk4": _RK4,
        "tsit5": diffrax.Tsit5,
        "kvaerno5": diffrax.Kvaerno5,
    }
    return makers[solver.method]()


def tableau_of(solver: Solver) -> diffrax.ButcherTableau | None:
    """Returns the coefficients of an explicit Runge-Kutta method with several stages; None for any other."""
    if solver.method in ADAPTIVE or solver.method in ("euler", "forward_backward_euler"):
        return None
    tableau = getattr(_diffrax_solver(solver), "tableau", None)
    return tableau if isinstance(tableau, diffrax.ButcherTableau) else None


def _diffrax(cell: Cell, h: State, bin: Bin, solver: Solver) -> State:
    # Time is scaled to run from 0 to 1 within the bin, so that a bin of length 0 (padding) needs no special case.
    def field(share: Any, h: State, args: tuple[Cell, Bin]) -> State:
        cell, bin = args
        return bin[2] * cell.vector_field(h, _input_at(bin, share, solver))

    if solver.method in ADAPTIVE:
        stepping = diffrax.PIDController(rtol=solver.rtol, atol=solver.atol)
        first_step, max_steps = 1.0, solver.max_steps
    else:  # one extra step, in case rounding makes the fractions of the bin add up to less than 1
        stepping = diffrax.ConstantStepSize()
        first_step, max_steps = 1.0 / solver.substeps, solver.substeps + 1
    if solver.adjoint == "optimise_then_discretise":
        adjoint = diffrax.BacksolveAdjoint(solver=_diffrax_solver(solver), stepsize_controller=stepping)
    else:
        adjoint = diffrax.RecursiveCheckpointAdjoint()
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        _diffrax_solver(solver),
        t0=0.0,
        t1=1.0,
        dt0=first_step,
        y0=h,
        args=(cell, bin),
        stepsize_controller=stepping,
        adjoint=adjoint,
        max_steps=max_steps,
        throw=False,  # a failed integration gives NaN, which training reports as divergence
    )
    assert solution.ys is not None  # diffrax saves the final state by default
    end = solution.ys[0]
    return jnp.where(solution.result == diffrax.RESULTS.successful, end, jnp.nan)
