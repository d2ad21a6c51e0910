"""Which GPU kernel takes a batch through time, if one does."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from gnode import errors
from gnode.solve._cores import Integrate
from gnode.solve._solver import Solver
from gnode.solve.gpu import fused, streamed

ONE_STEP = "one per bin, with the input held and these steps differentiated (not an adjoint equation)"


INTERPRET = False
"""Whether the kernels run in Pallas' interpreter where there is no GPU, very slowly: to check them, never to train."""


def kernel_for(cell: Any, solver: Solver, dtype: Any) -> Callable[[Any], Integrate] | None:
    """What makes a kernel's run of a cell, for the kernel that `solver` asks for or that "auto" chooses; None: the loop.

    The loop also takes the place of a kernel where there is no GPU: what was trained on one goes on anywhere.
    """
    is_fused, is_streamed = _is_fused(cell, solver, dtype), _is_streamed(cell, solver, dtype)
    on_gpu = jax.default_backend() == "gpu"
    if not (on_gpu or INTERPRET):
        return None
    how = {"products": solver.products, "interpret": not on_gpu}
    if is_fused:
        return lambda cell: lambda h0, bins: fused.fused_euler(cell, h0, *bins, **how)
    if is_streamed:
        return lambda cell: lambda h0, bins: streamed.streamed_euler(cell, h0, *bins, method=solver.method, **how)
    return None


def check_kernel(cell: Any, solver: Solver) -> None:
    """An error, before anything is trained, if the solver asks for a kernel that can not run the cell."""
    kernel_for(cell, solver, jnp.result_type(jnp.float32, *jax.tree.leaves(eqx.filter(cell, eqx.is_inexact_array))))


def is_one_euler_step(solver: Solver) -> bool:
    """Whether a bin is one forward Euler step, to be differentiated as such."""
    return solver.method == "euler" and _is_one_step(solver)


def _is_one_step(solver: Solver) -> bool:
    return solver.substeps == 1 and solver.interpolation == "hold" and solver.adjoint == "discretise_then_optimise"


def _is_fused(cell: Any, solver: Solver, dtype: Any) -> bool:
    if solver.kernel == "fused":
        why = "" if is_one_euler_step(solver) else f"takes forward Euler steps only, {ONE_STEP}"
        return _is_possible("fused", why or fused.why_not(cell, dtype))
    possible = is_one_euler_step(solver) and fused.fits(cell, dtype)
    return solver.kernel == "auto" and possible and fused.is_chosen_here()


def _is_streamed(cell: Any, solver: Solver, dtype: Any) -> bool:
    if solver.kernel != "streamed":
        return False
    why = "" if _is_one_step(solver) else f"takes Euler steps only, {ONE_STEP}"
    return _is_possible("streamed", why or streamed.why_not(cell, solver.method, dtype))


def _is_possible(kernel: str, why_not: str) -> bool:
    if why_not:
        raise errors.ArgumentError(f"kernel is '{kernel}', but that kernel {why_not}; use kernel='auto'.")
    return True
