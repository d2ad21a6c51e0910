"""All analyses of a network that a report consists of."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from gnode import errors
from gnode.analysis._attractor import Attractor, attractor
from gnode.analysis._fixed_points.result import FixedPoints
from gnode.analysis._fixed_points.search import fixed_points
from gnode.analysis._flow import FlowField, flow_field
from gnode.analysis._lyapunov import LyapunovExponents, lyapunov
from gnode.analysis._memory import AmplitudeError
from gnode.analysis._pca import PCA, pca
from gnode.analysis._slow_states import slow_states
from gnode.analysis._system import Field, System, last_axis, states_of, system
from gnode.arguments import check_takes, checked
from gnode.cells import Cell
from gnode.network import AbstractNetwork
from gnode.types import Key

FEWEST_SLOW_STATES = 20
"""The smallest number of slow states whose geometry is measured."""
LYAPUNOV_STEPS = 1000
MOST_EXPONENTS = 5

Progress = Callable[[str], None]
"""A function that is called with the name of each analysis before it starts."""


@dataclasses.dataclass(frozen=True)
class Findings:
    """The results of all analyses of a network.

    | field                 | meaning                                                                            |
    |-----------------------|------------------------------------------------------------------------------------|
    | `fixed_points`        | the fixed points found with the preset "tight"                                     |
    | `paper_points`        | the fixed points found with the paper's settings                                   |
    | `attractor`           | the slow set; None if fewer than `FEWEST_SLOW_STATES` states settle                |
    | `slow_count`          | the number of visited states that settle                                           |
    | `visited_count`       | the number of visited states that were tried                                       |
    | `components`          | the principal components of the visited states                                     |
    | `field`               | the flow field; None for a one-dimensional state                                   |
    | `driven`              | the Lyapunov exponents under the given inputs; None without inputs                 |
    | `errors_by_amplitude` | the errors of held pulses, as given to `study`                                     |
    | `dt`                  | the length of a bin in seconds                                                     |
    | `x`                   | the constant input of all but `driven` and `errors_by_amplitude`                   |

    No example: made by `study`.
    """

    fixed_points: FixedPoints
    paper_points: FixedPoints
    attractor: Attractor | None
    slow_count: int
    visited_count: int
    components: PCA
    field: FlowField | None
    driven: LyapunovExponents | None
    errors_by_amplitude: tuple[AmplitudeError, ...]
    dt: float
    x: Float[np.ndarray, " inputs"] = dataclasses.field(default_factory=lambda: np.zeros(0))

    def __repr__(self) -> str:
        return f"Findings(fixed_points={self.fixed_points!r}, attractor={self.attractor!r}, dt={self.dt:g})"

    def summary(self) -> dict[str, Any]:
        """Returns plain numbers, ready for a JSON file."""
        numbers = {
            "dt_s": self.dt,
            "input": self.x.tolist(),
            "fixed_points": self.fixed_points.summary(),
            "paper_points": self.paper_points.summary(),
            "slow_set": None if self.attractor is None else self.attractor.summary(),
            "states_that_settle": self.slow_count,
            "states_visited": self.visited_count,
            "components_for_90_percent": self.components.needed(0.9),
            "variance_explained": self.components.explained[:20].tolist(),
            "share_of_flow_leaving_the_plane": None if self.field is None else self.field.share_leaving,
            "errors_by_amplitude": [dataclasses.asdict(error) for error in self.errors_by_amplitude],
        }
        if self.driven is not None:
            numbers["lyapunov_exponents_per_s"] = self.driven.exponents.tolist()
            numbers["lyapunov_standard_errors"] = self.driven.standard_error.tolist()
        return numbers


@checked
def study(
    net: AbstractNetwork | Cell | Field | System,
    states: Any,
    *,
    dt: float,
    x: Any = None,
    inputs: Any = None,
    errors_by_amplitude: Sequence[AmplitudeError] = (),
    starts: int = 10_000,
    key: Key | int = 0,
    progress: Progress = lambda part: None,
) -> Findings:
    """Runs every analysis on a network, or on another source that the analyses take, at a constant input.

    **Arguments:**

    - `net`: the network; or a cell, a function f(h, x) or a `System`, as in `system`.
    - `states`: the states that it visits, trials x time x state.
    - `dt`: the length of a bin in seconds.
    - `x`: the constant input, zero by default.
    - `inputs`: trials x time x inputs, for the Lyapunov exponents of a driven trajectory.
    - `errors_by_amplitude`: errors of held pulses to include in the findings.
    - `starts`: the number of states at which the search for fixed points starts, drawn from `states` with `key`.
    - `progress`: called with the name of each analysis before it starts.

    **Returns:** `Findings`.

    No example: it takes several seconds.
    """
    of = system(net, x=x, dt=errors.positive("dt", dt), state=last_axis(states))
    visited, held = states_of(states, of.size), np.asarray(of.x)
    check_takes("progress", progress)
    if inputs is not None:
        inputs = errors.array("inputs", inputs, ("trials", "time", of.cell.inputs))
    starts = errors.whole("starts", starts)
    search: dict[str, Any] = {"dt": dt, "x": held, "most_starts": starts, "key": key}
    progress("fixed points, tight")
    tight = fixed_points(of, visited, **search)
    progress("fixed points, as in the paper")
    paper = fixed_points(of, visited, preset="paper", **search)
    progress("slow set")
    tried = visited[:: max(1, -(-len(visited) // starts))]
    settled = slow_states(of, tried, dt=dt, x=held)
    measured = attractor(of, settled, dt=dt, x=held) if len(settled) >= FEWEST_SLOW_STATES else None
    progress("Lyapunov exponents")
    driven = None if inputs is None else _driven(of, visited[0], inputs, dt)
    progress("flow field")
    return Findings(
        fixed_points=tight,
        paper_points=paper,
        attractor=measured,
        slow_count=len(settled),
        visited_count=len(tried),
        components=pca(visited),
        field=flow_field(of, around=visited, x=held, dt=dt) if of.size > 1 else None,
        driven=driven,
        errors_by_amplitude=tuple(errors_by_amplitude),
        dt=dt,
        x=held,
    )


def _driven(of: System, start: np.ndarray, inputs: np.ndarray, dt: float) -> LyapunovExponents:
    count = min(MOST_EXPONENTS, of.size)
    stream = inputs.reshape(-1, inputs.shape[-1])
    return lyapunov(of, start, dt=dt, xs=stream, steps=LYAPUNOV_STEPS, transient=100, exponents=count)
