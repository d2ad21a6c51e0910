"""The choices that turn a flow into a sequence of states."""

import dataclasses
from functools import partial

from gnode import errors
from gnode.options import check_settings, choice, setting

ADJOINTS = ("discretise_then_optimise", "optimise_then_discretise")
MEMORIES = ("store", "checkpoint")
INTERPOLATIONS = ("hold", "linear")
KERNELS = ("auto", "loop", "fused", "streamed")

PRODUCTS: dict[str, str] = {
    "tf32": "factors rounded to 10 bits of mantissa, sums in float32: what a GPU's own products do by default",
    "bfloat16": "factors rounded to 7 bits of mantissa, sums in float32",
}
"""The precision of products inside the GPU kernels. The streamed one's TF32 is float16: as many bits, for 6e-5 to 65504."""

METHODS: dict[str, str] = {
    "euler": "forward Euler, order 1; at dt = tau the flow becomes the usual recurrent map",
    "forward_backward_euler": "first one half of the state, then the other from the new first half, order 1 (LEM)",
    "heun": "explicit trapezoid, order 2",
    "midpoint": "explicit midpoint, order 2",
    "rk4": "the classical Runge-Kutta method, order 4",
    "tsit5": "Tsitouras 5(4), adaptive to rtol and atol",
    "kvaerno5": "Kvaerno 5(4), implicit and adaptive, for stiff fields",
}
"""Every integrator and what it is."""

ADAPTIVE = ("tsit5", "kvaerno5")

solver_setting = partial(setting, part="solver")


@dataclasses.dataclass(frozen=True)
class Solver:
    """How time passes.

    **Arguments:**

    - `method`: a name from `METHODS`.
    - `substeps`: steps per bin, for the methods of fixed step.
    - `interpolation`: what the input does between its samples: "hold" keeps x_t during bin t; "linear" moves from x_t at
      the start of bin t to x_(t+1) at its end, and so looks one sample ahead (it is not causal).
    - `adjoint`: "discretise_then_optimise" differentiates the steps themselves; "optimise_then_discretise" solves the
      adjoint equation backwards in time, bin by bin, from the stored state at each bin's end.
    - `memory`: of the backward pass. "store" keeps what every bin computed; "checkpoint" keeps about 2 sqrt(T) states and
      computes the rest again.
    - `kernel`: how training takes a batch through time. "loop" is a compiled loop over bins. "fused" is one GPU kernel for
      all bins, with the weights on the chip (`gnode.solve.fused`: the gated family by forward Euler, float32, layers up
      to 128 units, state and inputs up to 127 together). "streamed" is one that reads the weights again in every bin
      (`gnode.solve.streamed`: any width, also GRU, LSTM and LEM). Without a GPU the loop takes the place of both. "auto"
      takes the fused one on a GPU that is new enough, where it fits, and the loop elsewhere.
    - `products`: a name from `PRODUCTS`, the precision of products inside the GPU kernels.
    - `cores`: of a CPU, over which the trials of a batch are split, after `gnode.use_cores`. Sums are then made in another
      order, so results agree with those of one core to rounding.
    - `rtol`, `atol`, `max_steps`: tolerances and the most steps in one bin, for the adaptive methods.

    >>> Solver("rk4", substeps=2).method
    'rk4'
    """

    method: str = solver_setting("euler", str, f"Integrator: {', '.join(METHODS)}.", check=choice(tuple(METHODS)))
    substeps: int = solver_setting(1, int, "Steps per bin of a fixed-step method.", check=errors.whole)
    interpolation: str = solver_setting(
        "hold", str, f"Input between samples: {', '.join(INTERPOLATIONS)}.", check=choice(INTERPOLATIONS)
    )
    adjoint: str = solver_setting(
        "discretise_then_optimise", str, f"Gradient: {', '.join(ADJOINTS)}.", check=choice(ADJOINTS)
    )
    memory: str = solver_setting("store", str, f"Backward pass: {', '.join(MEMORIES)}.", check=choice(MEMORIES))
    kernel: str = solver_setting(
        "auto",
        str,
        f"All bins by one GPU kernel or by a loop: {', '.join(KERNELS)}.",
        check=choice(KERNELS),
    )
    products: str = solver_setting(
        "tf32",
        str,
        f"Precision of products in the GPU kernels: {', '.join(PRODUCTS)}.",
        check=choice(tuple(PRODUCTS)),
    )
    cores: int = solver_setting(1, int, "CPU cores that share the trials of a batch.", check=errors.whole)
    rtol: float = solver_setting(1e-4, float, "Relative tolerance of an adaptive method.", check=errors.positive)
    atol: float = solver_setting(1e-6, float, "Absolute tolerance of an adaptive method.", check=errors.positive)
    max_steps: int = solver_setting(4096, int, "Most steps in one bin of an adaptive method.", check=errors.whole)

    def __post_init__(self):
        check_settings(self)
        if self.method in ADAPTIVE and self.substeps != 1:
            raise errors.ArgumentError(
                f"substeps is {self.substeps}, but method {self.method!r} chooses its own steps; set rtol and atol instead."
            )
        if self.method == "forward_backward_euler" and self.adjoint == "optimise_then_discretise":
            raise errors.ArgumentError(
                "adjoint 'optimise_then_discretise' needs a flow, and 'forward_backward_euler' is a splitting of one; "
                "use method 'euler'."
            )
