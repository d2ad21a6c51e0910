"""Continuous attractors, measured: what the paper's Appendix C asks for, with numbers, and what a user asks
next.
"""

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
from gnode.analysis._system import Field, System, drift_of, flow_of, gate_of, in_chunks, outputs_of, states_of, system
from gnode.cells import Cell
from gnode.network import AbstractNetwork

SLOWEST_CROSSING = 1e-3  # share of the set's extent that a slow state may move in one tau
MOST_POINTS = 500  # of the set, sampled evenly, for eigenvalues and lifetimes
MANIFOLD_AGREEMENT = 0.8  # the share of points that must have the same local dimension
CONNECTED = 0.95  # the share of points that must lie in one connected part


@dataclasses.dataclass(frozen=True)
class Check:
    """One condition of the definition of a continuous attractor: what it says, what was measured, whether it
    holds.
    """

    item: str
    statement: str
    measured: dict[str, float]
    tolerance: float
    holds: bool


@dataclasses.dataclass(frozen=True)
class Gating:
    """The two factors of the flow on the set (Appendix F.7 of the paper): medians of each gate component, |G|,
    |-h + F|.
    """

    components: Float[np.ndarray, " state"]
    gate_norm: float
    drift_norm: float

    @property
    def drift_is_smaller(self) -> bool:
        """Whether -h + F is nearer to zero than the gate: then the set would rest even without its gate."""
        return self.drift_norm < self.gate_norm


@dataclasses.dataclass(frozen=True)
class Attractor:
    """A slow set, measured.

    | field               | meaning                                                                          |
    |---------------------|----------------------------------------------------------------------------------|
    | `points`, `outputs` | an even sample of the set, in state and in output coordinates                    |
    | `geometry`          | dimension by local principal components, connected parts, extent                 |
    | `spectral_dimension`| the median number of marginal directions                                         |
    | `shape`             | in output coordinates                                                            |
    | `tangent_rate`      | median over points of |Re lambda| of the fastest tangent direction |
    | `normal_rate`       | median of the slowest |Re lambda| of the others; None if there are no others     |
    | `normal_abscissa`   | the largest Re lambda of any other direction at any point; negative: attracting  |
    | `speed`             | |dh/dt| at each point; `output_speed` |dy/dt|                                    |
    | `memory`            | how long outputs stay                                                            |
    | `gating`            | of a gated cell                                                                  |
    | `definition`        | Appendix C, item by item                                                         |
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

    @property
    def dimension(self) -> int:
        return self.geometry.dimension

    @property
    def gap(self) -> float | None:
        """How many times faster the slowest normal direction is than the fastest tangent one."""
        if self.normal_rate is None or self.tangent_rate is None:
            return None
        return self.normal_rate / self.tangent_rate if self.tangent_rate > 0 else np.inf

    @property
    def is_continuous_attractor(self) -> bool:
        """Whether every item of the definition holds, to its tolerance."""
        return all(check.holds for check in self.definition)

    def summary(self) -> dict[str, Any]:
        """Plain numbers for a report."""
        found: dict[str, Any] = {
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
            found["memory"] = {
                "tolerance": self.memory.tolerance,
                "median_lifetime_s": self.memory.median,
                "surviving": self.memory.surviving,
                "horizon_s": self.memory.horizon,
            }
        if self.gating is not None:
            found["gating"] = {
                "median_gate": self.gating.components.tolist(),
                "median_gate_norm": self.gating.gate_norm,
                "median_drift_norm": self.gating.drift_norm,
            }
        return found


def slow_states(
    source: AbstractNetwork | Cell | Field | System,
    states: Any,
    *,
    dt: float,
    settle: float | None = None,
    speed: float | None = None,
    x: Any = None,
    method: Any = None,
) -> Float[np.ndarray, "count state"]:
    """The slow set that states settle on: where they are after a while of constant input, if they hardly move
    there.

    **Arguments:** `source`, `x`, `dt`, `method` as in `system`; `states` to start from, most often visited
    ones; `settle` in seconds, 10 tau by default; `speed`, |dh/dt| per second of the fastest state that is
    kept: by default one that takes 1000 tau to cross the visited set.

    **Returns:** the states, possibly none.
    """
    of = system(source, x=x, dt=errors.positive("dt", dt), state=np.shape(states)[-1], method=method)
    matrix = states_of(states, of.size)
    wait = 10 / float(of.rate) if settle is None else errors.not_negative("settle", settle)
    extent = float(np.linalg.norm(np.ptp(matrix, axis=0)))
    fastest = SLOWEST_CROSSING * float(of.rate) * extent if speed is None else errors.positive("speed", speed)
    bins = round(wait / dt)
    settled = in_chunks(_Settling(bins), of, matrix)
    settled = settled[np.all(np.isfinite(settled), axis=1)]
    if len(settled) == 0:
        return settled
    return settled[np.linalg.norm(in_chunks(flow_of, of, settled), axis=1) <= fastest]


@dataclasses.dataclass(frozen=True)
class _Settling:
    bins: int

    def __call__(self, of: System, h: Array) -> Array:
        return jax.lax.fori_loop(0, self.bins, lambda _, h: of.step(h), h)


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
    method: Any = None,
) -> Attractor:
    """Measures a slow set: its geometry, its spectrum, its drift, its memory, and the definition of Appendix
    C.

    S is a continuous attractor of dh/dt = f(h) if (1) S is a connected manifold of dimension d, (2) f = 0 on
    S, (3) the abscissa of Df is 0 on S. Then d directions are tangent and neutral, and the others must decay.

    **Arguments:** `source`, `x`, `dt`, `method` as in `system`; `points` of the set (`slow_states`, or those
    of `fixed_points`); `margin` of neutral directions, see `stability`; `speed_tolerance` for item 2, in
    state per second; `error_tolerance` and `horizon` (seconds) for the lifetime of a memory, which needs
    `dt`.

    **Returns:** an `Attractor`.
    """
    of = system(source, x=x, dt=dt, state=np.shape(points)[-1], method=method)
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
    """The largest connected part of a continuum, or all of a set of isolated points."""
    return geometry.core[geometry.is_in_largest] if geometry.dimension > 0 else geometry.core


def _memory(of: System, sample: np.ndarray, tolerance: float, horizon: float | None) -> MemoryLifetime:
    assert of.dt is not None
    return memory_lifetime(of, sample, dt=of.dt, tolerance=tolerance, horizon=horizon)


def _motion(of: System, sample: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outputs, |dy/dt| and |dh/dt| at each state."""
    outputs, output_velocity, velocity = in_chunks(_output_motion, of, sample)
    return outputs, np.linalg.norm(output_velocity, axis=1), np.linalg.norm(velocity, axis=1)


def _output_motion(of: System, h: Array) -> tuple[Array, Array, Array]:
    velocity = of.flow(h)
    y, output_velocity = jax.jvp(lambda h: outputs_of(of, h), (h,), (velocity,))
    return y, output_velocity, velocity


def _split(spectrum: Stability, dimension: int) -> tuple[float | None, float | None, float | None]:
    """Tangent rate, normal rate, normal abscissa: the `dimension` slowest directions at each point are
    tangent.
    """
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
    checks = [
        Check(
            "1",
            "S is a connected manifold of dimension d",
            manifold_numbers,
            CONNECTED,
            is_manifold and is_connected,
        ),
        Check(
            "2",
            "f = 0 on S: |dh/dt| per second",
            speeds,
            speed_tolerance,
            speeds["largest"] <= speed_tolerance,
        ),
        Check(
            "3",
            "the spectral abscissa is 0 on S: |eta| per second",
            abscissas,
            spectrum.margin,
            largest_abscissa <= spectrum.margin,
        ),
    ]
    if normal_abscissa is not None:
        statement = "off S states return: the largest Re lambda of the normal directions, per second, is negative"
        decays = normal_abscissa < -spectrum.margin
        checks.append(Check("3, consequence", statement, {"largest": normal_abscissa}, -spectrum.margin, decays))
    return tuple(checks)
