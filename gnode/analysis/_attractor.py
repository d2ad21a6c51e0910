"""Continuous attractors: geometry, spectrum, drift and memory of a slow set, and the conditions of Appendix C."""

import dataclasses
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float

from gnode import errors
from gnode.analysis._fixed_points.merging import even_sample
from gnode.analysis._manifold import Manifold, Shape, manifold, shape
from gnode.analysis._memory import MemoryLifetime, memory_lifetime
from gnode.analysis._stability import DEFAULT_MARGIN, Stability, stability
from gnode.analysis._system import Field, System, drift_of, gate_of, in_chunks, last_axis, outputs_of, states_of, system
from gnode.arguments import checked
from gnode.cells import Cell
from gnode.network import AbstractNetwork
from gnode.solve import Solver
from gnode.wording import plural

MOST_POINTS = 500  # size of the even sample for eigenvalues and lifetimes
MANIFOLD_AGREEMENT = 0.8  # smallest share of points with the same local dimension
CONNECTED = 0.95  # smallest share of points in one connected component


@dataclasses.dataclass(frozen=True)
class Check:
    """One condition of the definition of a continuous attractor.

    - `item`: its number in Appendix C.
    - `statement`: the condition.
    - `measured`: the numbers it was judged by.
    - `tolerance`: the tolerance of those numbers.
    - `holds`: whether the condition holds.

    No example: made by `attractor`.
    """

    item: str
    statement: str
    measured: dict[str, float]
    tolerance: float
    holds: bool


@dataclasses.dataclass(frozen=True)
class Gating:
    """The two factors of the flow on a slow set (Appendix F.7 of the paper).

    - `components`: the median of each component of the gate G.
    - `gate_norm`: the median of |G|.
    - `drift_norm`: the median of |-h + F|.

    No example: made by `attractor`.
    """

    components: Float[np.ndarray, " state"]
    gate_norm: float
    drift_norm: float

    def __repr__(self) -> str:
        return f"Gating({len(self.components)} gates, |G| {self.gate_norm:.3g}, |-h + F| {self.drift_norm:.3g})"

    @property
    def drift_is_smaller(self) -> bool:
        """Whether -h + F is closer to zero than the gate: then the set would be at rest even without a gate."""
        return self.drift_norm < self.gate_norm


@dataclasses.dataclass(frozen=True)
class Attractor:
    """The measured properties of a slow set.

    | field                | meaning                                                                                |
    |----------------------|----------------------------------------------------------------------------------------|
    | `points`, `outputs`  | an even sample of the set, in state and in output coordinates                          |
    | `geometry`           | dimension by local principal components, connected components, extent                  |
    | `spectral_dimension` | the median number of marginal directions                                               |
    | `shape`              | the shape in output coordinates                                                        |
    | `stability`          | the eigenvalues at each point                                                          |
    | `tangent_rate`       | the median over points of |Re lambda| of the fastest tangent direction                 |
    | `normal_rate`        | the median of the slowest |Re lambda| of the normal directions; None without any       |
    | `normal_abscissa`    | the largest Re lambda of any normal direction; if it is negative, the set attracts     |
    | `speed`              | |dh/dt| at each point                                                                  |
    | `output_speed`       | |dy/dt| at each point                                                                  |
    | `memory`             | how long outputs persist; None without `dt`                                            |
    | `gating`             | the gate and the drift on the set; None for a cell without a gate                      |
    | `definition`         | the conditions of Appendix C                                                           |

    No example: made by `attractor`.
    """

    points: Float[np.ndarray, "count state"]
    outputs: Float[np.ndarray, "count outputs"]
    geometry: Manifold
    spectral_dimension: int
    shape: Shape
    stability: Stability
    tangent_rate: float | None
    normal_rate: float | None
    normal_abscissa: float | None
    speed: Float[np.ndarray, " count"]
    output_speed: Float[np.ndarray, " count"]
    memory: MemoryLifetime | None
    gating: Gating | None
    definition: tuple[Check, ...]

    def __repr__(self) -> str:
        size = f"{plural(len(self.points), 'point')}, {plural(self.geometry.parts, 'component')}"
        verdict = "a continuous attractor" if self.is_continuous_attractor else "not a continuous attractor"
        return f"Attractor({self.shape.name} of dimension {self.dimension}, {size}, {verdict})"

    @property
    def dimension(self) -> int:
        """The dimension of the set by local principal components."""
        return self.geometry.dimension

    @property
    def gap(self) -> float | None:
        """The ratio of the slowest normal rate to the fastest tangent rate; None if either is missing."""
        if self.normal_rate is None or self.tangent_rate is None:
            return None
        return self.normal_rate / self.tangent_rate if self.tangent_rate > 0 else np.inf

    @property
    def is_continuous_attractor(self) -> bool:
        """Whether every condition of the definition holds to its tolerance."""
        return all(check.holds for check in self.definition)

    def summary(self) -> dict[str, Any]:
        """Returns plain numbers for a report."""
        numbers: dict[str, Any] = {
            "points": len(self.points),
            "dimension": self.dimension,
            "dimension_agreement": self.geometry.agreement,
            "spectral_dimension": self.spectral_dimension,
            "parts": self.geometry.parts,
            "largest_part": self.geometry.largest_part,
            "shape": self.shape.name,
            "shape_measures": self.shape.measures,
            "output_low": self.shape.low.tolist(),
            "output_high": self.shape.high.tolist(),
            "tangent_rate": self.tangent_rate,
            "normal_rate": self.normal_rate,
            "normal_abscissa": self.normal_abscissa,
            "gap": self.gap,
            "median_speed": float(np.median(self.speed)),
            "largest_speed": float(self.speed.max()),
            "median_output_speed": float(np.median(self.output_speed)),
            "is_continuous_attractor": self.is_continuous_attractor,
            "definition": [dataclasses.asdict(check) for check in self.definition],
        }
        if self.memory is not None:
            numbers["memory"] = {
                "tolerance": self.memory.tolerance,
                "median_lifetime_s": self.memory.median,
                "surviving": self.memory.surviving,
                "horizon_s": self.memory.horizon,
            }
        if self.gating is not None:
            numbers["gating"] = {
                "median_gate": self.gating.components.tolist(),
                "median_gate_norm": self.gating.gate_norm,
                "median_drift_norm": self.gating.drift_norm,
            }
        return numbers


@checked
def attractor(
    source: AbstractNetwork | Cell | Field | System,
    points: Any,
    *,
    dt: float | None = None,
    x: Any = None,
    margin: float = DEFAULT_MARGIN,
    speed_tolerance: float = 0.01,
    error_tolerance: float = 0.1,
    horizon: float | None = None,
    method: str | Solver | None = None,
) -> Attractor:
    """Measures a slow set: its geometry, spectrum, drift and memory, and the conditions of Appendix C.

    S is a continuous attractor of dh/dt = f(h) if (1) S is a connected manifold of dimension d, (2) f = 0 on S, (3) the
    spectral abscissa of Df is 0 on S. Then d directions are tangent and neutral, and the others must decay.

    **Arguments:**

    - `source`, `x`, `dt`, `method`: as in `system`.
    - `points`: the points of the set, from `slow_states` or `fixed_points`.
    - `margin`: the margin of neutral directions, see `stability`.
    - `speed_tolerance`: the largest |dh/dt| for item 2, in state per second.
    - `error_tolerance`, `horizon`: the tolerance and the simulated time (seconds) of `memory_lifetime`, which needs
      `dt`.

    **Returns:** an `Attractor`.

    >>> line = np.stack([np.linspace(-1, 1, 60), np.zeros(60)], axis=1)
    >>> attractor(lambda h, x: h * np.array([0.0, -1.0]), line)
    Attractor(interval of dimension 1, 60 points, 1 component, a continuous attractor)
    """
    of = system(source, x=x, dt=dt, state=last_axis(points, "points"), method=method)
    errors.not_negative("margin", margin)
    errors.not_negative("speed_tolerance", speed_tolerance)
    errors.positive("error_tolerance", error_tolerance)
    cloud = states_of(points, of.size, "points")
    geometry = manifold(cloud)
    sample = geometry.core[even_sample(geometry.core, MOST_POINTS)]
    spectrum = stability(of, sample, margin=margin)
    outputs, output_speed, speed = _motion(of, sample)
    tangent, normal, normal_abscissa = _split(spectrum, geometry.dimension)
    has_map = of.dt is not None
    return Attractor(
        points=sample,
        outputs=outputs,
        geometry=geometry,
        spectral_dimension=int(np.median(spectrum.marginal)),
        shape=shape(in_chunks(outputs_of, of, _body(geometry)), geometry.dimension),
        stability=spectrum,
        tangent_rate=tangent,
        normal_rate=normal,
        normal_abscissa=normal_abscissa,
        speed=speed,
        output_speed=output_speed,
        memory=_memory(of, sample, error_tolerance, horizon) if has_map else None,
        gating=_gating(of, sample) if of.is_gated else None,
        definition=_definition(geometry, spectrum, speed, speed_tolerance, normal_abscissa),
    )


def _body(geometry: Manifold) -> Float[np.ndarray, "body state"]:
    """Returns the largest component of a continuum, or all of a set of isolated points."""
    return geometry.core[geometry.is_in_largest] if geometry.dimension > 0 else geometry.core


def _memory(of: System, sample: np.ndarray, tolerance: float, horizon: float | None) -> MemoryLifetime:
    assert of.dt is not None
    return memory_lifetime(of, sample, dt=of.dt, tolerance=tolerance, horizon=horizon)


def _motion(of: System, sample: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns outputs, |dy/dt| and |dh/dt| at each state."""
    outputs, output_velocity, velocity = in_chunks(_output_motion, of, sample)
    return outputs, np.linalg.norm(output_velocity, axis=1), np.linalg.norm(velocity, axis=1)


def _output_motion(of: System, h: Array) -> tuple[Array, Array, Array]:
    velocity = of.flow(h)
    y, output_velocity = jax.jvp(lambda h: outputs_of(of, h), (h,), (velocity,))
    return y, output_velocity, velocity


def _split(spectrum: Stability, dimension: int) -> tuple[float | None, float | None, float | None]:
    """Returns tangent rate, normal rate and normal abscissa; the `dimension` slowest directions are tangent."""
    order = np.argsort(np.abs(spectrum.flow_rates), axis=1)
    rates = np.take_along_axis(spectrum.flow_rates, order, axis=1)
    tangent, normal = rates[:, :dimension], rates[:, dimension:]
    tangent_rate = float(np.median(np.abs(tangent[:, -1]))) if tangent.shape[1] else None
    if not normal.shape[1]:
        return tangent_rate, None, None
    return tangent_rate, float(np.median(np.abs(normal[:, 0]))), float(normal.max())


def _gating(of: System, sample: np.ndarray) -> Gating:
    gate, drift = in_chunks(gate_of, of, sample), in_chunks(drift_of, of, sample)
    return Gating(
        components=np.median(gate, axis=0),
        gate_norm=float(np.median(np.linalg.norm(gate, axis=1))),
        drift_norm=float(np.median(np.linalg.norm(drift, axis=1))),
    )


def _definition(
    geometry: Manifold,
    spectrum: Stability,
    speed: np.ndarray,
    speed_tolerance: float,
    normal_abscissa: float | None,
) -> tuple[Check, ...]:
    largest_abscissa = float(np.max(np.abs(spectrum.abscissa)))
    manifold_numbers = {
        "dimension": float(geometry.dimension),
        "share_of_points_with_it": geometry.agreement,
        "connected_parts": float(geometry.parts),
        "share_in_largest_part": geometry.largest_part,
    }
    is_manifold = geometry.dimension > 0 and geometry.agreement >= MANIFOLD_AGREEMENT
    is_connected = geometry.largest_part >= CONNECTED
    speeds = {"largest": float(speed.max()), "median": float(np.median(speed))}
    abscissas = {"largest": largest_abscissa, "median": float(np.median(np.abs(spectrum.abscissa)))}
    on_manifold = "S is a connected manifold of dimension d"
    at_rest = "f = 0 on S: |dh/dt| per second"
    neutral = "the spectral abscissa is 0 on S: |eta| per second"
    checks = [
        Check("1", on_manifold, manifold_numbers, CONNECTED, is_manifold and is_connected),
        Check("2", at_rest, speeds, speed_tolerance, speeds["largest"] <= speed_tolerance),
        Check("3", neutral, abscissas, spectrum.margin, largest_abscissa <= spectrum.margin),
    ]
    if normal_abscissa is not None:
        statement = "off S states return: the largest Re lambda of the normal directions, per second, is negative"
        decays = normal_abscissa < -spectrum.margin
        checks.append(Check("3, consequence", statement, {"largest": normal_abscissa}, -spectrum.margin, decays))
    return tuple(checks)
