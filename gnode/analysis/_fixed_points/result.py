"""The settings and the result of a search for fixed points."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float

from gnode import errors
from gnode.analysis._fixed_points.merging import even_sample
from gnode.analysis._fixed_points.newton import NOT_FINITE
from gnode.analysis._stability import CLASSES, Stability
from gnode.arguments import checked, checked_class
from gnode.wording import plural

EQUILIBRIUM, SLOW, CLOSED_GATE = "equilibrium", "slow", "closed_gate"
NOT_CONVERGED, OUTSIDE = "not_converged", "outside"
STATUSES: dict[str, str] = {
    EQUILIBRIUM: "F(h) = h to the tolerance, with the gate open in at least one direction",
    SLOW: "not an equilibrium, but |dh/dt| is below the speed that counts as slow, with the gate open",
    CLOSED_GATE: "|dh/dt| is below the speed that counts as slow, but only because the gate is shut",
    NOT_CONVERGED: "the search ended at a state that still moves",
    OUTSIDE: "found, but too far from the visited states to be kept",
    NOT_FINITE: "the field is NaN or infinite at the start",
}
"""The possible outcomes of a start, with their meaning. The first three are the statuses of a point."""

FOUND = (EQUILIBRIUM, SLOW, CLOSED_GATE)
PER_POINT = ("points", "outputs", "status", "residual", "speed", "gate", "iterations", "distance", "multiplicity")
"""The fields of `FixedPoints` with one entry per point, except for `stability`."""


@checked_class
@dataclasses.dataclass(frozen=True)
class SearchSettings:
    """The settings of a search for fixed points.

    **Arguments:**

    - `equation`: "drift" solves -h + F = 0 of a gated cell (f = 0 of any other); "flow" solves f = 0 of every cell.
    - `tolerance`: a point with |F(h) - h| below this is an equilibrium.
    - `slow_speed`: any other point is kept if |dh/dt|, in state per second, is below this.
    - `stop_when_slow`: whether the search of a start ends as soon as it is slow, which keeps it close to the start.
    - `max_iterations`: the largest number of iterations of a start.
    - `merge_radius`: points closer than this are merged; 0 keeps every point.
    - `keep`: "all", "box" (the paper's 2 q < h_i < 2 r) or "near" (within distance 1 of a visited state).
    - `midpoints`: whether the search is repeated from the midpoints of all pairs of equilibria, until that finds no new
      one. It finds equilibria that no start leads to, such as the ones between stable states. The midpoints follow the
      starts in `outcomes` and `ends` of the result. More than 64 equilibria, such as a continuum's, are left as they are.

    >>> SearchSettings(tolerance=1e-6).merge_radius
    1e-06
    """

    equation: str = "drift"
    tolerance: float = 1e-9
    slow_speed: float = 0.01
    stop_when_slow: bool = False
    max_iterations: int = 100
    merge_radius: float = 1e-6
    keep: str = "all"
    midpoints: bool = False

    def __post_init__(self):
        errors.one_of("equation", self.equation, ("drift", "flow"))
        errors.one_of("keep", self.keep, KEEP)
        errors.positive("tolerance", self.tolerance)
        errors.positive("slow_speed", self.slow_speed)
        errors.not_negative("merge_radius", self.merge_radius)
        errors.whole("max_iterations", self.max_iterations, at_least=0)


KEEP = ("all", "box", "near")
PRESETS: dict[str, SearchSettings] = {
    "tight": SearchSettings(),
    "paper": SearchSettings(equation="flow", stop_when_slow=True, merge_radius=0.0, keep="box"),
}
"""Named settings: "tight", and the paper's (100 iterations, |dh/dt| < 0.01, the box around the trajectories)."""


@dataclasses.dataclass(frozen=True)
class FixedPoints:
    """The points that a search has found, one entry per point, and the outcomes of all starts.

    | field           | meaning                                                                                           |
    |-----------------|---------------------------------------------------------------------------------------------------|
    | `points`        | the states, in float64                                                                            |
    | `outputs`       | the readout at each point (the state itself without a network)                                    |
    | `status`        | "equilibrium", "slow" or "closed_gate", see `STATUSES`                                            |
    | `residual`      | |F(h) - h|, where F is the network of a gated cell, or the map of one step (NaN without `dt`)     |
    | `speed`         | |dh/dt|, in state per second                                                                      |
    | `gate`          | the largest component of the gate; 1 for a system without a gate                                  |
    | `iterations`    | the iterations used by the start that led there                                                   |
    | `distance`      | the distance to the nearest visited state                                                         |
    | `multiplicity`  | the number of starts that ended there                                                             |
    | `stability`     | the eigenvalues and classes                                                                       |
    | `outcomes`      | the outcome of every start, from `STATUSES`                                                       |
    | `ends`          | for every start the index of its point, -1 if it found none                                       |
    | `visited_range` | the smallest and the largest value of every coordinate of the visited states                      |

    No example: made by `fixed_points`.
    """

    points: Float[np.ndarray, "count state"]
    outputs: Float[np.ndarray, "count outputs"]
    status: np.ndarray
    residual: Float[np.ndarray, " count"]
    speed: Float[np.ndarray, " count"]
    gate: Float[np.ndarray, " count"]
    iterations: np.ndarray
    distance: Float[np.ndarray, " count"]
    multiplicity: np.ndarray
    stability: Stability
    outcomes: np.ndarray
    ends: np.ndarray
    settings: SearchSettings
    visited_range: Float[np.ndarray, "2 state"] | None = None

    def __len__(self) -> int:
        return len(self.points)

    @property
    def kind(self) -> np.ndarray:
        """The class of each point, by the map if `dt` is known, else by the flow."""
        by_map = self.stability.map_class
        return self.stability.flow_class if by_map is None else by_map

    @property
    def on_continuum(self) -> np.ndarray:
        """Whether each point has at least one marginal direction.

        Such points lie on a continuum and are kept individually; isolated points are merged into one.
        """
        return self.stability.marginal > 0

    @property
    def counts(self) -> dict[str, int]:
        """The number of starts by outcome."""
        return {status: int(np.sum(self.outcomes == status)) for status in STATUSES if np.any(self.outcomes == status)}

    @checked
    def select(self, *, status: str | None = None, kind: str | None = None) -> "FixedPoints":
        """Returns the points with this status and this class."""
        which = np.ones(len(self), bool)
        if status is not None:
            which &= self.status == errors.one_of("status", status, FOUND)
        if kind is not None:
            which &= self.kind == errors.one_of("kind", kind, CLASSES)
        return self[np.flatnonzero(which)]

    @checked
    def sample(self, count: int) -> "FixedPoints":
        """Returns at most `count` points, spread evenly over the set."""
        return self[even_sample(self.points, errors.whole("count", count))]

    def __getitem__(self, which: Any) -> "FixedPoints":
        selected = {name: getattr(self, name)[which] for name in PER_POINT}
        position = np.full(len(self) + 1, -1)  # the last entry belongs to starts that found no point
        position[:-1][which] = np.arange(len(selected["points"]))
        return dataclasses.replace(self, **selected, stability=self.stability[which], ends=position[self.ends])

    def summary(self) -> dict[str, Any]:
        """Returns plain numbers for a report."""
        return {
            "starts": len(self.outcomes),
            "points": len(self),
            "ends_of_starts": self.counts,
            "points_by_status": {name: int(np.sum(self.status == name)) for name in FOUND},
            "points_on_a_continuum": int(self.on_continuum.sum()),
            "settings": dataclasses.asdict(self.settings),
            "largest_residual_of_equilibria": _largest(self.residual[self.status == EQUILIBRIUM]),
            "largest_speed_of_equilibria": _largest(self.speed[self.status == EQUILIBRIUM]),
            "stability": self.stability.summary(),
        }

    def __repr__(self) -> str:
        return f"FixedPoints({self})"

    def __str__(self) -> str:
        if not len(self):
            return f"none found from {len(self.outcomes)} starts ({self.counts})"
        kinds = {str(kind): int(np.sum(self.kind == kind)) for kind in np.unique(self.kind)}
        by_status = {name: int(np.sum(self.status == name)) for name in FOUND if np.any(self.status == name)}
        return f"{plural(len(self), 'point')} from {len(self.outcomes)} starts: {by_status}, {kinds}"


def _largest(values: np.ndarray) -> float | None:
    return float(values.max()) if values.size else None
