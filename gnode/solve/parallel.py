"""Rollouts of all bins at once: which solvers allow it, and the map of one bin that Newton's method is given."""

import warnings
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int, PyTree

from gnode.cells import Cell
from gnode.devices import is_on_gpu
from gnode.solve._at_once import Newton, Rounds, Step, at_once
from gnode.solve._bin import noise_of
from gnode.solve._chunks import in_chunks
from gnode.solve._gated_euler import has_hand_written_derivative, stacks
from gnode.solve._path import bins_of
from gnode.solve._solver import ADAPTIVE, Solver
from gnode.solve.fixed_step import step_of_bin
from gnode.solve.gpu.side_by_side import networks_side_by_side

WIDEST_FULL = 64
"""Up to this many states `jacobian="auto"` takes full Jacobians: a round costs their cube, and their square in memory."""
MOST_ROUNDS = 30
"""Most trained networks took at most ten, whatever the length (benchmarks/parallel_in_time.py). Where errors along the
trajectory decay very slowly, as in fits of slow noise, the rounds grow with its length: by then the loop is as fast, and it
takes over. Of a chaotic network they never converge."""

FEWEST_BINS, MOST_SIDE_BY_SIDE, WIDEST_CHOSEN = 1000, 100, 128
"""Where "auto" computes all bins at once, on a GPU: from so many bins on, if the states of all trials of all networks are at
most so many variables, in the gated family with layers of at most so many units and a state that full Jacobians suit. There
it was faster than the fused kernel: from 1.5 times at the edges to 16 times for 20,000 bins of two states (3.6 for 32).
Other cells and sizes were not measured, or lost."""


class AtOnce(NamedTuple):
    """States that were computed all at once, and how.

    - `states`: trials x time x state.
    - `rounds`: the number of rounds of Newton's method; of several chunks the largest.
    - `converged`: whether they converged. If not, the states are those of the loop over bins (of every chunk for which
      that holds).

    No example: made by `gnode.solve.rollout_at_once`.
    """

    states: Float[Array, "*trials time state"]
    rounds: Int[Array, ""]
    converged: Bool[Array, ""]

    def __repr__(self) -> str:
        return f"AtOnce(states of shape {self.states.shape}, rounds={self.rounds}, converged={self.converged})"


def all_at_once(
    cell: Cell,
    xs: Float[Array, "trials time inputs"],
    h0: Float[Array, "trials state"],
    dt: Float[Array, "trials time"],
    solver: Solver,
    *,
    kicks: Float[Array, "trials time state"] | None = None,
    guess: Float[Array, "trials time state"] | None = None,
    first: Float[Array, "trials inputs"] | None = None,
) -> AtOnce:
    """Integrates a batch of trials, all bins at once.

    `kicks` are what noise adds to the states at the end of each bin, `first` is the input before the first sample.
    """
    values, structure = eqx.partition(cell, eqx.is_inexact_array)
    path = jax.vmap(lambda x, dt, first: bins_of(cell, x, dt, solver, first))(xs, dt, first)
    bins, guess = jax.tree.map(lambda array: jnp.swapaxes(array, 0, 1), ((path, kicks), guess))
    return iterate_at_once(partial(_step, structure, solver), values, h0, bins, solver, guess)


def iterate_at_once(
    step: Step,
    values: PyTree,
    h0: Float[Array, "trials state"],
    bins: PyTree,
    solver: Solver,
    guess: Array | None = None,
) -> AtOnce:
    """Iterates any map h <- step(values, h, bin) from `h0`, all bins at once.

    **Arguments:** `step` of one trial, whose products must be in full float32; `values`, by which it can be differentiated;
    `h0`; `bins`, a tree of arrays that begin with time x trials; `solver`, for its `bins_at_once`, `rounds` and `jacobian`;
    `guess`, time x trials x state.

    **Returns:** an `AtOnce`, whose states are trials x time x state.

    >>> iterate_at_once(lambda a, h, x: a * h + x, 0.5, jnp.zeros((1, 1)), jnp.ones((3, 1, 1)), Solver()).states.ravel()
    Array([1.  , 1.5 , 1.75], dtype=float32)
    """
    newton = Newton(step, solver.rounds or MOST_ROUNDS, _is_diagonal(h0.shape[-1], solver))

    def run(h: Array, given: tuple[PyTree, Array | None]) -> tuple[Array, Rounds]:
        return at_once(newton, values, h, *given)

    if solver.bins_at_once == 0 and solver.memory == "store":
        states, found = run(h0, (bins, guess))
    else:
        states, found = in_chunks(run, h0, (bins, guess), solver.bins_at_once or None)
    return AtOnce(jnp.swapaxes(states, 0, 1), jnp.max(found.number), jnp.all(found.converged))


def is_at_once(solver: Solver) -> bool:
    """Whether a solver was told to compute all bins at once.

    >>> is_at_once(Solver()), is_at_once(Solver(time="parallel"))
    (False, True)
    """
    return solver.time == "parallel"


def goes_at_once(cell: Cell, solver: Solver, trials: int, time: int) -> bool:
    """Whether a rollout of so many trials and bins is computed all at once: if the solver says so, or where that wins."""
    return is_at_once(solver) or (solver.time == "auto" and _wins(cell, solver, trials, time))


def warn_if_by_loop(converged: Any) -> None:
    """Warns if the loop found what all bins at once were asked for. Inside a compiled function nothing is known yet."""
    if not isinstance(converged, Tracer) and not np.all(converged):
        warnings.warn(
            "all bins at once did not converge, as for a chaotic trajectory, so the loop over bins computed the states; "
            "time='loop' does so without trying.",
            stacklevel=4,
        )


def _wins(cell: Cell, solver: Solver, trials: int, time: int) -> bool:
    if not is_on_gpu() or solver.method in ADAPTIVE or (solver.kernel, solver.memory) != ("auto", "store"):
        return False
    if solver.adjoint != "discretise_then_optimise" or not has_hand_written_derivative(cell):
        return False
    widest = max(W.shape[0] for stack in stacks(cell) for W in stack.W)
    side_by_side = networks_side_by_side() * trials * cell.state_size
    small = widest <= WIDEST_CHOSEN and cell.state_size <= WIDEST_FULL and side_by_side <= MOST_SIDE_BY_SIDE
    return small and time >= FEWEST_BINS


def _step(structure: PyTree, solver: Solver, values: PyTree, h: Array, bin: PyTree) -> Array:
    now, kick = bin
    # Products of operands that are rounded to TF32 would keep the residual from ever becoming small.
    with jax.default_matmul_precision("highest"):
        cell = eqx.combine(values, structure)
        end = step_of_bin(cell, h, now, solver)
        return end if kick is None else end + noise_of(cell, h, now, kick)


def _is_diagonal(size: int, solver: Solver) -> bool:
    return solver.jacobian == "diagonal" or (solver.jacobian == "auto" and size > WIDEST_FULL)
