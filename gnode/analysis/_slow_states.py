"""The slow set on which states settle."""

import dataclasses
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float

from gnode import errors
from gnode.analysis._system import Field, System, bins_of, flow_of, in_chunks, last_axis, states_of, system
from gnode.arguments import checked
from gnode.cells import Cell
from gnode.network import AbstractNetwork
from gnode.solve import Solver

SLOWEST_CROSSING = 1e-3  # largest share of the visited set's extent that a slow state moves in one tau


@checked
def slow_states(
    source: AbstractNetwork | Cell | Field | System,
    states: Any,
    *,
    dt: float,
    settle: float | None = None,
    speed: float | None = None,
    x: Any = None,
    method: str | Solver | None = None,
) -> Float[np.ndarray, "count state"]:
    """Returns the slow set on which states settle.

    These are the states after some time at a constant input, if they hardly move any more.

    **Arguments:**

    - `source`, `x`, `dt`, `method`: as in `system`.
    - `states`: the initial states, usually visited ones.
    - `settle`: the time to settle in seconds, 10 tau by default.
    - `speed`: the largest |dh/dt| per second of a state that is kept; by default that of a state which takes 1000 tau
      to cross the visited set.

    **Returns:** the slow states, possibly none.

    >>> len(slow_states(lambda h, x: -h, [[1.0], [2.0]], dt=0.1))
    2
    """
    of = system(source, x=x, dt=errors.positive("dt", dt), state=last_axis(states), method=method)
    matrix = states_of(states, of.size)
    wait = 10 / float(of.rate) if settle is None else errors.not_negative("settle", settle)
    extent = float(np.linalg.norm(np.ptp(matrix, axis=0)))
    fastest = SLOWEST_CROSSING * float(of.rate) * extent if speed is None else errors.positive("speed", speed)
    settled = in_chunks(_Settling(bins_of("settle", wait, dt)), of, matrix)
    settled = settled[np.all(np.isfinite(settled), axis=1)]
    if len(settled) == 0:
        return settled
    return settled[np.linalg.norm(in_chunks(flow_of, of, settled), axis=1) <= fastest]


@dataclasses.dataclass(frozen=True)
class _Settling:
    """Iterates the map for a number of bins."""

    bins: int

    def __call__(self, of: System, h: Array) -> Array:
        return jax.lax.fori_loop(0, self.bins, lambda _, h: of.step(h), h)
