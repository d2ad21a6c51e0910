"""One bin of a solver with fixed steps, written out: what `advance` computes, without the loops of diffrax."""

import dataclasses
from functools import partial
from typing import Any

from jaxtyping import Array, Float

from gnode.cells import Cell
from gnode.solve._bin import moved, runge_kutta
from gnode.solve._path import Bin, bins_of
from gnode.solve._solver import ADAPTIVE, Solver

__all__ = ["Bin", "bins_of", "fixed_step", "has_fixed_step", "step_of_bin"]


def has_fixed_step(solver: Solver) -> bool:
    """Whether a solver takes steps of a length that does not depend on the state."""
    return solver.method not in ADAPTIVE


def fixed_step(
    cell: Cell, h: Float[Array, " state"], x: Float[Array, " inputs"], dt: Any, solver: Solver
) -> Float[Array, " state"]:
    """Computes the state after a bin of length `dt` under the constant input `x`."""
    return step_of_bin(cell, h, Bin(x, None, dt), solver)


def step_of_bin(cell: Cell, h: Float[Array, " state"], bin: Bin, solver: Solver) -> Float[Array, " state"]:
    """Computes the state at the end of a bin, whatever its input does."""
    # The adjoint decides how the steps are differentiated, and nothing else.
    plain = dataclasses.replace(solver, adjoint="discretise_then_optimise")
    tableau = _tableau_of(plain)
    return moved(cell, h, bin, plain, None if tableau is None else partial(_runge_kutta, tableau))


def _runge_kutta(tableau: Any, cell: Cell, h: Array, bin: Bin, solver: Solver) -> Array:
    substep = runge_kutta(tableau, cell, bin, solver)
    for index in range(solver.substeps):
        h = substep(index, h)
    return h


def _tableau_of(solver: Solver) -> Any:
    if solver.method in ("euler", "forward_backward_euler", "own"):
        return None
    from gnode.solve._diffrax_steps import tableau_of  # imports diffrax

    return tableau_of(solver)
