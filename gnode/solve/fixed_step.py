"""One bin of a solver with fixed steps, written out: what `advance` computes, without the loops of diffrax."""

import dataclasses
from typing import Any

from jaxtyping import Array, Float

from gnode.cells import Cell
from gnode.solve._bin import advance
from gnode.solve._solver import ADAPTIVE, Solver

__all__ = ["fixed_step", "has_fixed_step"]


def has_fixed_step(solver: Solver) -> bool:
    """Whether a solver takes steps of a length that does not depend on the state."""
    return solver.method not in ADAPTIVE


def fixed_step(
    cell: Cell,
    h: Float[Array, " state"],
    x: Float[Array, " inputs"],
    dt: Any,
    solver: Solver,
    x_end: Float[Array, " inputs"] | None = None,
) -> Float[Array, " state"]:
    """Computes the state after a bin of length `dt` under the input `x`, which stays or goes to `x_end` linearly."""
    tableau = _tableau_of(solver)
    if tableau is None:  # the adjoint decides how the steps are differentiated, and nothing else
        ends = x if x_end is None else x_end
        return advance(cell, h, (x, ends, dt), dataclasses.replace(solver, adjoint="discretise_then_optimise"))
    step = dt / solver.substeps
    for substep in range(solver.substeps):

        def input_at(share: float, substep: int = substep) -> Array:
            return x if x_end is None else x + (substep + share) / solver.substeps * (x_end - x)

        slopes = [cell.vector_field(h, input_at(0.0))]
        for row, share in zip(tableau.a_lower, tableau.c):
            slopes.append(cell.vector_field(h + step * _combined(row, slopes), input_at(float(share))))
        h = h + step * _combined(tableau.b_sol, slopes)
    return h


def _tableau_of(solver: Solver) -> Any:
    if solver.method in ("euler", "forward_backward_euler"):
        return None
    from gnode.solve._diffrax_steps import tableau_of  # imports diffrax

    return tableau_of(solver)


def _combined(weights: Any, slopes: list[Array]) -> Any:
    return sum(float(weight) * slope for weight, slope in zip(weights, slopes) if weight != 0)
