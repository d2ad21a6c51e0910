"""Lyapunov exponents of driven and autonomous trajectories."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from gnode import errors
from gnode.analysis._system import Field, System, in_double, last_axis, states_of, system
from gnode.arguments import checked
from gnode.cells import Cell
from gnode.network import AbstractNetwork
from gnode.precision import double
from gnode.solve import Solver, advance, rollout_batch_at_once
from gnode.solve.fixed_step import Bin, bins_of, step_of_bin
from gnode.solve.parallel import is_at_once, warn_if_by_loop

_BLOCKS = 10  # the standard error is computed from the means of this many consecutive blocks


@dataclasses.dataclass(frozen=True)
class LyapunovExponents:
    """Lyapunov exponents with error bars.

    | field            | meaning                                                                             |
    |------------------|-------------------------------------------------------------------------------------|
    | `exponents`      | the exponents per second, in decreasing order                                       |
    | `standard_error` | their standard errors, from consecutive blocks of the trajectory                    |
    | `running`        | the estimates after each tenth of the trajectory, to judge convergence              |
    | `steps`          | the number of steps after the transient                                             |
    | `status`         | "finished", or "not_finite" if the trajectory diverged                              |

    No example: made by `lyapunov`.
    """

    exponents: Float[np.ndarray, " exponents"]
    standard_error: Float[np.ndarray, " exponents"]
    running: Float[np.ndarray, "blocks exponents"]
    steps: int
    status: str

    def __repr__(self) -> str:
        values = ", ".join(f"{a:.3g} ± {b:.1g}" for a, b in zip(self.exponents[:5], self.standard_error))
        more = ", ..." if len(self.exponents) > 5 else ""
        return f"LyapunovExponents({values}{more} per second; {self.steps} steps, {self.status})"

    @property
    def sum(self) -> float:
        """The mean growth rate of phase-space volumes, if all exponents were computed."""
        return float(self.exponents.sum())

    @property
    def dimension(self) -> float:
        """The Kaplan-Yorke dimension (the number of exponents if their sum is not negative)."""
        total = np.cumsum(self.exponents)
        whole = int(np.sum(total >= 0)) if self.exponents[0] >= 0 else 0
        if whole == len(total):
            return float(whole)
        before = total[whole - 1] if whole else 0.0
        return whole + before / abs(self.exponents[whole]) if whole else 0.0


@checked
def lyapunov(
    source: AbstractNetwork | Cell | Field | System,
    start: Any,
    *,
    dt: float,
    steps: int = 10_000,
    transient: int = 1_000,
    xs: Any = None,
    x: Any = None,
    exponents: int | None = None,
    method: str | Solver | None = None,
) -> LyapunovExponents:
    """Computes the Lyapunov exponents of the map that the solver iterates, by repeated QR decompositions.

    With J_t the Jacobian of step t, J_t Q_(t-1) = Q_t R_t and

        exponent_i = mean over t of ln |R_t,ii| / dt.

    **Arguments:**

    - `source`, `x`, `dt`, `method`: as in `system`.
    - `start`: the initial state.
    - `steps`: the number of steps to average over.
    - `transient`: the number of steps before those, in which the state reaches its attractor and Q aligns.
    - `xs`: the inputs of a driven trajectory (time x inputs), repeated if they are fewer than the steps. Between them the
      input is what the solver's `interpolation` says, as in a rollout; a cell that changes of the input move
      (`Cell.control`) feels them.
    - `exponents`: how many of the largest exponents to compute, all by default.

    **Returns:** a `LyapunovExponents`.

    >>> lyapunov(lambda h, x: -h, [1.0], dt=0.1, steps=50, transient=0).exponents.round(6)  # ln(0.9) / 0.1
    array([-1.053605])
    """
    of = system(source, x=x, dt=errors.positive("dt", dt), state=last_axis(start, "start"), method=method)
    h0 = states_of(start, of.size, "start")[0]
    count = of.size if exponents is None else errors.whole("exponents", exponents)
    if count > of.size:
        raise errors.ArgumentError(f"exponents is {count}, but the state has only {of.size} dimensions.")
    steps = errors.whole("steps", steps, at_least=_BLOCKS)
    total = steps + errors.whole("transient", transient, at_least=0)
    errors.affordable("steps", steps, 8.0 * total * (count + of.cell.inputs))
    inputs = _inputs(of, xs, total)
    with double():
        logs, converged = _growth(in_double(of), jnp.asarray(h0), jnp.asarray(inputs), count)
    warn_if_by_loop(converged)
    logs = np.asarray(logs)[total - steps :] / of.dt
    blocks = np.stack([block.mean(axis=0) for block in np.array_split(logs, _BLOCKS)])
    return LyapunovExponents(
        exponents=logs.mean(axis=0),
        standard_error=blocks.std(axis=0, ddof=1) / np.sqrt(_BLOCKS),
        running=np.cumsum(blocks, axis=0) / np.arange(1, _BLOCKS + 1)[:, None],
        steps=steps,
        status="finished" if np.all(np.isfinite(logs[:, 0])) else "not_finite",
    )


def _inputs(of: System, xs: Any, total: int) -> Float[np.ndarray, "time inputs"]:
    if xs is None:
        return np.broadcast_to(np.asarray(of.x), (total, of.cell.inputs))
    return np.resize(errors.array("xs", xs, ("time", of.cell.inputs)), (total, of.cell.inputs))


@eqx.filter_jit
def _growth(of: System, h0: Array, inputs: Array, count: int) -> tuple[Float[Array, "time exponents"], Bool[Array, ""]]:
    """Returns ln |R_ii| of every step, and whether the rounds of all bins at once converged, if they were asked for."""
    start = jnp.eye(of.size, count, dtype=h0.dtype)
    dt = jnp.full(len(inputs), of.bin(), h0.dtype)
    bins = bins_of(of.cell, inputs, dt, of.solver)

    def stretch(Q: Array, J: Array) -> tuple[Array, Array]:
        Q, R = jnp.linalg.qr(J @ Q)
        return Q, jnp.log(jnp.abs(jnp.diagonal(R)))

    def step(carried: tuple[Array, Array], bin: Bin) -> tuple[tuple[Array, Array], Array]:
        h, Q = carried

        def once(h: Array) -> tuple[Array, Array]:
            end = advance(of.cell, h, tuple(bin), of.solver)
            return end, end

        J, end = jax.jacrev(once, has_aux=True)(h)
        Q, growth = stretch(Q, J)
        return (end, Q), growth

    if not is_at_once(of.solver):
        return jax.lax.scan(step, (h0, start), bins)[1], jnp.bool_(True)
    # States and Jacobians of all steps at once; only the small QR decompositions follow one another.
    found = rollout_batch_at_once(of.cell, inputs[None], h0[None], dt[None], of.solver)
    before = jnp.concatenate([h0[None], found.states[0, :-1]])
    jacobian = jax.jacfwd(lambda h, bin: step_of_bin(of.cell, h, bin, of.solver))
    return jax.lax.scan(stretch, start, jax.vmap(jacobian)(before, bins))[1], found.converged
