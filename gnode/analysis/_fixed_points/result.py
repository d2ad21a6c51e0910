"""What a search for fixed points is asked for, and what it gives back."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float

from gnode import errors
from gnode.analysis._fixed_points.merging import even_sample
from gnode.analysis._fixed_points.newton import NOT_FINITE
from gnode.analysis._stability import CLASSES, Stability

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
"""What can become of a start. The first three are points that were found."""

FOUND = (EQUILIBRIUM, SLOW, CLOSED_GATE)


@dataclasses.dataclass(frozen=True)
class SearchSettings:
    """How to search and what to keep.

    - `equation`: "drift" solves -h + F = 0 of a gated cell (f = 0 of any other); "flow" solves f = 0 of all.
    - `tolerance`: |F(h) - h| below which a point is an equilibrium.
    - `slow_speed`: |dh/dt| in state per second below which any other point is worth keeping.
    - `stop_when_slow`: ends the search of a start as soon as it is slow, so that it stays close to where it
      began.
    - `max_iterations`, `merge_radius` (0 keeps every point), `keep` ("all", "box": the paper's 2 q < h_i < 2
      r, "near": within distance 1 of a visited state).
    """

    equation: str = "drift"
    tolerance: float = 1e-9
    slow_speed: float = 0.01
    stop_when_slow: bool = False
    max_iterations: int = 100
    merge_radius: float = 1e-6
    keep: str = "all"

    def __post_init__(self):
        errors.one_of("equation", self.equation, ("drift", "flow"))
        errors.one_of("keep", self.keep, KEEP)
        errors.positive("tolerance", self.tolerance)
        errors.positive("slow_speed", self.slow_speed)
        errors.not_negative("merge_radius", self.merge_radius)


KEEP = ("all", "box", "near")
PRESETS: dict[str, SearchSettings] = {
    "tight": SearchSettings(),
    "paper": SearchSettings(equation="flow", stop_when_slow=True, merge_radius=0.0, keep="box"),
}
"""Named settings: tight ones, and the paper's (100 iterations, |dh/dt| < 0.01, the box around the
trajectories).
"""


@dataclasses.dataclass(frozen=True)
class FixedPoints:
    """The points that were found, one entry per point, and what became of the starts.

    | field          | meaning |
    |----------------|---------------------------------------------------------------------------------------------|
    | `points`       | the states, in float64 |
    | `outputs`      | the readout there (the state itself without a network) |
    | `status`       | one of `FOUND`, see `STATUSES` |
    | `residual`     | |F(h) - h|; F is a gated cell's network, or the map of one step (nan without dt) |
    | `speed`        | |dh/dt|, in state per second |
    | `gate`         | the most open component of the gate there; 1 for a system without a gate |
    | `iterations`   | spent from the start that led there |
    | `distance`     | to the nearest visited state |
    | `multiplicity` | how many starts ended there |
    | `stability`    | eigenvalues and classes |
    | `outcomes`     | the fate of every start, from `STATUSES` |
    | `ends`         | for every start the index of its point, -1 if it found none |
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

    def __len__(self) -> int:
        return len(self.points)

    @property
    def kind(self) -> np.ndarray:
        """The class of each point: by the map where there is one, else by the flow."""
        by_map = self.stability.map_class
        return self.stability.flow_class if by_map is None else by_map

    @property
    def on_continuum(self) -> np.ndarray:
        """Points with at least one marginal direction. Isolated points merge into one; these are kept one by
        one.
        """
        return self.stability.marginal > 0

    @property
    def counts(self) -> dict[str, int]:
        """How many starts came to each end."""
        return {status: int(np.sum(self.outcomes == status)) for status in STATUSES if np.any(self.outcomes == status)}

    def select(self, *, status: str | None = None, kind: str | None = None) -> "FixedPoints":
        """Only the points of a status and a class."""
        which = np.ones(len(self), bool)
        if status is not None:
            which &= self.status == errors.one_of("status", status, FOUND)
        if kind is not None:
            which &= self.kind == errors.one_of("kind", kind, CLASSES)
        return self[np.flatnonzero(which)]

    def sample(self, count: int) -> "FixedPoints":
        """At most `count` points, spread evenly over the set."""
        return self[even_sample(self.points, errors.whole("count", count))]

    def __getitem__(self, which: Any) -> "FixedPoints":
        per_point = (
            "points",
            "outputs",
            "status",
            "residual",
            "speed",
            "gate",
            "iterations",
            "distance",
            "multiplicity",
        )
        parts = {name: getattr(self, name)[which] for name in per_point}
        position = np.full(len(self) + 1, -1)
        position[:-1][which] = np.arange(len(parts["points"]))
        return dataclasses.replace(self, **parts, stability=self.stability[which], ends=position[self.ends])

    def summary(self) -> dict[str, Any]:
        """Plain numbers for a report."""
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

    def __str__(self) -> str:
        if not len(self):
            return f"none found from {len(self.outcomes)} starts ({self.counts})"
        kinds = {str(kind): int(np.sum(self.kind == kind)) for kind in np.unique(self.kind)}
        by_status = {name: int(np.sum(self.status == name)) for name in FOUND if np.any(self.status == name)}
        return f"{len(self)} points from {len(self.outcomes)} starts: {by_status}, {kinds}"


def _largest(values: np.ndarray) -> float | None:
    return float(values.max()) if values.size else None
