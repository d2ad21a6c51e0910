"""One bin by the integrators of diffrax. Importing it imports diffrax, so it is imported where a method needs it."""

from typing import Any

import diffrax
import jax.numpy as jnp
import numpy as np

from gnode.cells import Cell
from gnode.solve._bin import State, by_tableau, rate, span
from gnode.solve._path import Bin
from gnode.solve._solver import ADAPTIVE, Solver


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


def by_diffrax(cell: Cell, h: State, bin: Bin, solver: Solver) -> State:
    """Computes the state at the end of a bin."""
    # Written out, a gradient of a neural CDE by Heun's method takes a quarter of the time that it takes by the loop of
    # diffrax, and compiles in less (32 trials of 200 bins on two cores of a CPU).
    if cell.has("control") and solver.adjoint == "discretise_then_optimise":
        tableau = tableau_of(solver)
        if tableau is not None:
            return by_tableau(tableau, cell, h, bin, solver)

    # Time is scaled to run from 0 to 1 within the bin, so that a bin of length 0 (padding) needs no special case.
    def field(share: Any, h: State, args: tuple[Cell, Bin]) -> State:
        cell, bin = args
        return span(cell, bin) * rate(cell, h, bin, share)

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
