"""Linear memories with modes that do not see each other: all bins at once, without rounds.

Each bin is an affine map s <- L_t s + b_t of the complex modes, known before the state is. All inputs are encoded by one
product, and the maps are composed by an associative scan, or in turn.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gnode.cells import Cell, DiagonalCell
from gnode.devices import is_on_gpu
from gnode.solve._solver import Solver
from gnode.solve._unroll import unroll


def is_diagonal(cell: Cell, solver: Solver) -> bool:
    """Whether the bins of a rollout are affine maps that are known before the states are."""
    plain = solver.method == "own" and solver.substeps == 1 and solver.interpolation == "hold"
    return plain and isinstance(cell, DiagonalCell) and cell.is_linear


def all_bins_of_diagonal(
    cell: DiagonalCell,
    xs: Float[Array, "trials time inputs"],
    h0: Float[Array, "trials state"],
    dt: Float[Array, "trials time"],
    solver: Solver,
    kicks: Float[Array, "trials time state"] | None = None,
) -> Float[Array, "trials time state"]:
    """Computes the states after every bin."""
    turned, added = cell.maps(xs, dt)
    if kicks is not None:
        added = added + cell.as_modes(kicks)
    s0 = cell.as_modes(h0)
    if solver.time == "parallel" or (solver.time == "auto" and is_on_gpu()):
        added = added.at[:, 0].add(turned[:, 0] * s0)
        states = jax.lax.associative_scan(_composed, (turned, added), axis=1)[1]
    else:

        def step(s: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
            s = now[0] * s + now[1]
            return s, s

        maps = jnp.swapaxes(turned, 0, 1), jnp.swapaxes(added, 0, 1)
        states = jnp.swapaxes(jax.lax.scan(step, s0, maps, unroll=unroll(xs.shape[1]))[1], 0, 1)
    return cell.as_state(states)


def _composed(first: tuple[Array, Array], then: tuple[Array, Array]) -> tuple[Array, Array]:
    return first[0] * then[0], then[0] * first[1] + then[1]
