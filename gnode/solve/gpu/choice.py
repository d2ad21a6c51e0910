"""The choice of a GPU kernel for a cell and a solver."""

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from gnode import errors
from gnode.arguments import checked
from gnode.cells import Cell
from gnode.devices import is_on_gpu
from gnode.solve._cores import Integrate
from gnode.solve._solver import Solver
from gnode.solve.gpu import fused, streamed
from gnode.solve.gpu.backend import why_missing

ONE_STEP = "one per bin, with interpolation 'hold' and adjoint 'discretise_then_optimise'"

BY_NAME = ("fused", "streamed")

INTERPRET = False
"""Whether the kernels run in Pallas' interpreter if there is no GPU. It is very slow and serves tests only."""


def kernel_for(cell: Any, solver: Solver, dtype: Any, trials: int = 1) -> Callable[[Any], Integrate] | None:
    """Returns a function that integrates a cell by the requested or chosen kernel, or None for the compiled loop.

    The choice depends on the sizes of the cell, the number of trials, and how many networks run side by side.

    Without a GPU the loop replaces the kernels, so that training that began on a GPU can be resumed on any machine.

    **Raises:** `ArgumentError` if the requested kernel does not support the cell, the solver or the dtype.
    """
    is_fused = _is_fused(cell, solver, dtype)
    is_streamed = not is_fused and _is_streamed(cell, solver, dtype, trials)
    on_gpu = is_on_gpu()
    if not (on_gpu or INTERPRET):
        return None
    if solver.kernel in BY_NAME:
        _is_possible(solver.kernel, why_missing(interpret=not on_gpu))
    how = {"products": solver.products, "interpret": not on_gpu}
    if is_fused:
        return lambda cell: lambda h0, bins: fused.fused_euler(cell, h0, *bins, **how)
    if is_streamed:
        return lambda cell: lambda h0, bins: streamed.streamed_euler(cell, h0, *bins, method=solver.method, **how)
    return None


@checked
def check_kernel(cell: Cell, solver: Solver) -> None:
    """Checks, before training, that the kernel of the solver supports the cell.

    **Raises:** `ArgumentError` if it does not.

    >>> from gnode.cells import rnn
    >>> check_kernel(rnn(2, 3, key=0), Solver(kernel="fused"))
    """
    if solver.kernel in ("auto", "loop"):
        return  # the loop runs every cell
    kernel_for(cell, solver, jnp.result_type(jnp.float32, *jax.tree.leaves(eqx.filter(cell, eqx.is_inexact_array))))


def with_a_kernel_that_is_there(solver: Solver) -> Solver:
    """Returns a solver whose kernel is there: the loop in place of one that was asked for by name on another machine.

    So training goes on where this version of JAX cannot compile the kernel that it began with; a warning says so.
    """
    why = why_missing() if solver.kernel in BY_NAME and is_on_gpu() else ""
    if not why:
        return solver
    warnings.warn(f"the {solver.kernel} kernel {why}; training goes on by the compiled loop.", stacklevel=4)
    return dataclasses.replace(solver, kernel="loop")


def kernel_without_noise(cell: Cell, solver: Solver) -> str | None:
    """Returns the name of the kernel that trains a cell alone here, or would if it was asked for; None for the loop.

    Noise on the states is integrated by the loop alone.
    """
    if solver.kernel in BY_NAME:
        return solver.kernel
    dtype = jnp.result_type(jnp.float32, *jax.tree.leaves(eqx.filter(cell, eqx.is_inexact_array)))
    return "fused" if solver.kernel == "auto" and _is_fused(cell, solver, dtype) else None


def is_one_euler_step(solver: Solver) -> bool:
    """Whether a bin is one forward Euler step whose derivative is that of the step."""
    return solver.method == "euler" and is_one_step(solver)


def is_one_step(solver: Solver) -> bool:
    return solver.substeps == 1 and solver.interpolation == "hold" and solver.adjoint == "discretise_then_optimise"


def _is_fused(cell: Any, solver: Solver, dtype: Any) -> bool:
    if solver.kernel == "fused":
        why = "" if is_one_euler_step(solver) else f"supports forward Euler steps only, {ONE_STEP}"
        return _is_possible("fused", why or fused.why_not(cell, dtype))
    possible = is_one_euler_step(solver) and fused.fits(cell, dtype)
    return solver.kernel == "auto" and possible and fused.is_chosen_here()


def _is_streamed(cell: Any, solver: Solver, dtype: Any, trials: int) -> bool:
    if solver.kernel == "auto":
        possible = is_one_step(solver) and not streamed.why_not(cell, solver.method, dtype)
        return possible and fused.is_chosen_here() and streamed.pays(cell, trials)
    if solver.kernel != "streamed":
        return False
    why = "" if is_one_step(solver) else f"supports Euler steps only, {ONE_STEP}"
    return _is_possible("streamed", why or streamed.why_not(cell, solver.method, dtype))


def _is_possible(kernel: str, why_not: str) -> bool:
    if why_not:
        raise errors.ArgumentError(f"kernel is '{kernel}', but that kernel {why_not}; use kernel='auto'.")
    return True
