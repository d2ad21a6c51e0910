"""Settings of the numerical integration."""

import dataclasses
from functools import partial
from typing import Any

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.options import check_settings, choice, setting

ADJOINTS = ("discretise_then_optimise", "optimise_then_discretise")
"""Ways to compute gradients: differentiate the steps, or integrate the adjoint equation."""
MEMORIES = ("store", "checkpoint")
"""What the backward pass keeps: everything, or checkpoints from which it recomputes the rest."""
INTERPOLATIONS = ("hold", "linear", "hermite", "natural")
"""The input between its samples: piecewise constant, straight lines, or cubics (see `gnode/solve/_path.py`)."""
KERNELS = ("auto", "loop", "fused", "streamed")
"""Implementations of the loop over bins in training."""

TIMES: dict[str, str] = {
    "auto": "the one that is faster here, by measurements (benchmarks/parallel_in_time.py)",
    "loop": "bin after bin",
    "parallel": "all bins at once, by Newton's method on the whole trajectory; the loop if that does not converge",
}
"""Ways through time."""
JACOBIANS = ("auto", "full", "diagonal")
"""What Newton's method on all bins at once takes of the map's Jacobians: all, or the diagonal for wide states."""

PRODUCTS: dict[str, str] = {
    "tf32": "operands rounded to 10 bits of mantissa, sums in float32: the default of a GPU's matrix products",
    "bfloat16": "operands rounded to 7 bits of mantissa, sums in float32",
}
"""Precisions of matrix products inside the GPU kernels.

For "tf32" they use float16, which has as many bits of mantissa, for values from 6e-5 to 65504.
"""

METHODS: dict[str, str] = {
    "euler": "forward Euler, order 1; with dt = tau it gives the usual recurrent map",
    "forward_backward_euler": "updates half of the state, then the other from the new half, order 1 (LEM, oscillators)",
    "heun": "explicit trapezoid, order 2",
    "midpoint": "explicit midpoint, order 2",
    "rk4": "the classical Runge-Kutta method, order 4",
    "tsit5": "Tsitouras 5(4), adaptive with tolerances rtol and atol",
    "kvaerno5": "Kvaerno 5(4), implicit and adaptive, for stiff vector fields",
    "own": "the cell's own formula for one bin (LTC, CfC, LMU, S4D, LRU)",
}
"""The integrators and their descriptions."""

ADAPTIVE = ("tsit5", "kvaerno5")

MOST_CORES = 4096
"""Each becomes a device of jax, which reserves threads for it."""

solver_setting = partial(setting, part="solver")


def _cores(name: str, value: int) -> int:
    return errors.whole(name, value, at_most=MOST_CORES)


def _count(name: str, value: int) -> int:
    return errors.whole(name, value, at_least=0)


@checked_class
@dataclasses.dataclass(frozen=True)
class Solver:
    """Settings of the numerical integration.

    **Arguments:**

    - `method`: a name from `METHODS`.
    - `substeps`: the number of steps per bin of a fixed-step method.
    - `interpolation`: the input between its samples. "hold" keeps x_t during bin t; "linear" interpolates from x_t at the
      start of bin t to x_(t+1) at its end, "hermite" and "natural" by cubics. These three are not causal: they use the next
      sample, and "natural" all samples.
    - `adjoint`: "discretise_then_optimise" differentiates the steps of the solver; "optimise_then_discretise" integrates
      the adjoint equation backwards in time, bin by bin, from the stored state at the end of each bin.
    - `memory`: the memory of the backward pass. "store" keeps the intermediate results of every bin; "checkpoint" keeps
      about 2 sqrt(T) states and recomputes the rest.
    - `kernel`: the implementation of the loop over bins in training. "loop" is a compiled loop. "fused" is one GPU kernel
      for all bins that keeps the weights on the chip (the gated family by forward Euler, float32, layers of at most 128
      units, at most 127 units and inputs together). "streamed" is one GPU kernel that reads the weights again in every bin
      (any width, also GRU, LSTM and LEM). Without a GPU both fall back to the loop. "auto" chooses the fused kernel on a
      recent GPU if it supports the cell, the streamed one for several wide networks of the gated family that are trained as
      one program, and the loop otherwise.
    - `time`: a name from `TIMES`. "parallel" computes all bins at once, which on a GPU is faster for long trials of small
      networks: the same states and gradients up to rounding, by any method with fixed steps, with products in full float32.
      "auto" does so where it was measured to win: on a GPU, from 1000 bins on, for a few trials of small gated networks.
    - `bins_at_once`: for `time="parallel"`, the number of bins that are in memory at a time, all by default (0). Where there
      are several chunks, the backward pass repeats the rounds of each.
    - `rounds`: for `time="parallel"`, after how many rounds of Newton's method the loop takes over; by default (0) after 30.
    - `jacobian`: for `time="parallel"`, a name from `JACOBIANS`. Diagonals need more rounds, each of which costs less if the
      state is wide; "auto" takes them for more than 64 states.
    - `products`: a name from `PRODUCTS`, the precision of matrix products inside the GPU kernels.
    - `cores`: the number of CPU cores over which the trials of a batch are split, after `gnode.use_cores`. Sums are then
      computed in another order, so results agree with those of one core up to rounding.
    - `rtol`, `atol`: the relative and absolute tolerances of an adaptive method.
    - `max_steps`: the maximum number of steps in one bin of an adaptive method.

    **Raises:** `ArgumentError` for an unknown name or settings that exclude each other.

    >>> Solver("rk4", substeps=2)
    Solver(method='rk4', substeps=2)
    """

    method: str = solver_setting("euler", str, f"Integrator: {', '.join(METHODS)}.", check=choice(tuple(METHODS)))
    substeps: int = solver_setting(1, int, "Steps per bin of a fixed-step method.", check=errors.whole)
    interpolation: str = solver_setting(
        "hold",
        str,
        f"Interpolation of the input between samples: {', '.join(INTERPOLATIONS)}.",
        check=choice(INTERPOLATIONS),
    )
    adjoint: str = solver_setting(
        "discretise_then_optimise", str, f"Computation of the gradient: {', '.join(ADJOINTS)}.", check=choice(ADJOINTS)
    )
    memory: str = solver_setting(
        "store", str, f"Memory of the backward pass: {', '.join(MEMORIES)}.", check=choice(MEMORIES)
    )
    kernel: str = solver_setting(
        "auto",
        str,
        f"Implementation of the loop over bins: {', '.join(KERNELS)}.",
        check=choice(KERNELS),
    )
    time: str = solver_setting("auto", str, f"Way through time: {', '.join(TIMES)}.", check=choice(tuple(TIMES)))
    bins_at_once: int = solver_setting(
        0, int, "Bins in memory at a time with --time parallel; 0 for all.", check=_count
    )
    rounds: int = solver_setting(
        0, int, "Rounds of --time parallel before the loop takes over; 0 for 30.", check=_count
    )
    jacobian: str = solver_setting(
        "auto", str, f"Jacobians of --time parallel: {', '.join(JACOBIANS)}.", check=choice(JACOBIANS)
    )
    products: str = solver_setting(
        "tf32",
        str,
        f"Precision of matrix products in the GPU kernels: {', '.join(PRODUCTS)}.",
        check=choice(tuple(PRODUCTS)),
    )
    cores: int = solver_setting(1, int, "CPU cores over which the trials of a batch are split.", check=_cores)
    rtol: float = solver_setting(1e-4, float, "Relative tolerance of an adaptive method.", check=errors.positive)
    atol: float = solver_setting(1e-6, float, "Absolute tolerance of an adaptive method.", check=errors.positive)
    max_steps: int = solver_setting(
        4096, int, "Maximum number of steps in one bin of an adaptive method.", check=errors.whole
    )

    def __post_init__(self):
        check_settings(self)
        if self.method in ADAPTIVE and self.substeps != 1:
            raise errors.ArgumentError(
                f"substeps is {self.substeps}, but method {self.method!r} chooses its own steps; set rtol and atol instead."
            )
        if self.time == "parallel":
            self._check_parallel()
        if self.method in ("forward_backward_euler", "own") and self.adjoint == "optimise_then_discretise":
            raise errors.ArgumentError(
                f"adjoint is 'optimise_then_discretise', which needs a flow, but method {self.method!r} is not an "
                f"integrator of one; use method 'euler'."
            )

    def _check_parallel(self) -> None:
        if self.method in ADAPTIVE:
            raise errors.ArgumentError(
                f"time is 'parallel', but method {self.method!r} chooses its steps one after another; use a method with "
                f"fixed steps, such as 'rk4'."
            )
        if self.adjoint == "optimise_then_discretise":
            raise errors.ArgumentError(
                "time is 'parallel', which differentiates the steps, but adjoint is 'optimise_then_discretise'; use the "
                "other one."
            )
        if self.kernel in ("fused", "streamed"):
            raise errors.ArgumentError(
                f"time is 'parallel', but kernel {self.kernel!r} goes through time bin by bin; use kernel 'auto'."
            )

    def __repr__(self) -> str:
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        defaults = {field.name: field.default for field in dataclasses.fields(self) if field.name != "method"}
        shown = [f"{name}={value!r}" for name, value in values.items() if value != defaults.get(name)]
        return f"Solver({', '.join(shown)})"


@checked
def as_solver(cell: Any, method: str | Solver | None, options: dict[str, Any]) -> Solver:
    """Returns the solver that `method` and `options` specify.

    **Arguments:**

    - `cell`: the cell, whose default method is used if `method` is None.
    - `method`: a name from `METHODS`, a `Solver`, or None.
    - `options`: further options of `Solver`, which must be empty if `method` is a `Solver`.

    **Raises:** `ArgumentError` for an unknown name or option.

    >>> from gnode.cells import lem
    >>> as_solver(lem(2, 3, key=0), None, {"substeps": 2})
    Solver(method='forward_backward_euler', substeps=2)
    """
    if isinstance(method, Solver):
        if options:
            named = errors.shortened(", ".join(options))
            raise errors.ArgumentError(f"{named}: set in the Solver that is passed as method instead.")
        return method
    for name in options:
        errors.one_of("an option of the solver", name, [field.name for field in dataclasses.fields(Solver)])
    if method is None and not hasattr(cell, "default_method"):
        raise errors.ArgumentError(f"cell is {errors.shown(cell)}, but must be a cell, such as gnode.cells.rnn(...).")
    return Solver(cell.default_method if method is None else method, **options)
