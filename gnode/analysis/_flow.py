"""Flow fields on a plane in phase space, in coordinates of the state, of the output, or of principal components."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gnode import errors
from gnode.analysis._pca import pca
from gnode.analysis._system import Field, System, flow_of, in_chunks, outputs_of, states_of, system
from gnode.arguments import checked
from gnode.cells import Cell
from gnode.network import AbstractNetwork
from gnode.wording import plural


@dataclasses.dataclass(frozen=True)
class Plane:
    """The states h = origin + u a + v b, with coordinates (u, v) = offset + reader (h - origin) of any state h.

    `span` holds a and b as rows; `labels` are the names of u and v.

    No example: made by `state_plane`, `output_plane`, `pca_plane` or `points_plane`.
    """

    origin: Float[np.ndarray, " state"]
    span: Float[np.ndarray, "2 state"]
    reader: Float[np.ndarray, "2 state"]
    offset: Float[np.ndarray, " 2"]
    labels: tuple[str, str]

    def __repr__(self) -> str:
        return f"Plane({' x '.join(self.labels)}, in {plural(self.origin.size, 'dimension')})"

    @checked
    def lift(self, coordinates: Any) -> Float[np.ndarray, "*grid state"]:
        """Returns the states of the plane at the coordinates (u, v)."""
        return self.origin + (_with_last_axis("coordinates", coordinates, 2) - self.offset) @ self.span

    @checked
    def project(self, states: Any) -> Float[np.ndarray, "*batch 2"]:
        """Returns the coordinates (u, v) of states, which need not lie in the plane."""
        return self.offset + (_with_last_axis("states", states, self.origin.size) - self.origin) @ self.reader.T


@dataclasses.dataclass(frozen=True)
class FlowField:
    """The flow on a grid over a plane.

    | field      | meaning                                                                                        |
    |------------|------------------------------------------------------------------------------------------------|
    | `u`, `v`   | the axes of the grid; entry [i, j] of the fields below belongs to (u[j], v[i])                 |
    | `velocity` | (du/dt, dv/dt), per second                                                                     |
    | `speed`    | |dh/dt| of the whole state, per second                                                         |
    | `leaving`  | the share of |dh/dt|^2 that points out of the plane; 0 if the plane is all of phase space      |

    No example: made by `flow_field`.
    """

    plane: Plane
    u: Float[np.ndarray, " columns"]
    v: Float[np.ndarray, " rows"]
    velocity: Float[np.ndarray, "rows columns 2"]
    speed: Float[np.ndarray, "rows columns"]
    leaving: Float[np.ndarray, "rows columns"]

    def __repr__(self) -> str:
        ranges = ", ".join(
            f"{label} from {axis[0]:.3g} to {axis[-1]:.3g}" for label, axis in zip(self.labels, (self.u, self.v))
        )
        return f"FlowField({len(self.v)} x {len(self.u)} points: {ranges}; {self.share_leaving:.0%} leaves the plane)"

    @property
    def share_leaving(self) -> float:
        """The share of the squared speed, summed over the grid, that points out of the plane."""
        total = np.sum(self.speed**2)
        return float(np.sum(self.leaving * self.speed**2) / total) if total > 0 else 0.0

    @property
    def labels(self) -> tuple[str, str]:
        """The names of the two coordinates."""
        return self.plane.labels


@checked
def state_plane(size: int, first: int = 0, second: int = 1, origin: Any = None) -> Plane:
    """Builds the plane of two coordinates of the state; the other coordinates stay at `origin` (zero by default).

    >>> state_plane(3).lift(np.array([1.0, 2.0]))
    array([1., 2., 0.])
    """
    if errors.whole("size", size) < 2:
        raise errors.ArgumentError(f"size is {size}, but a plane needs a state of at least 2 dimensions.")
    errors.affordable("size", size, 32.0 * size)
    first, second = _axes(first, second, size, "coordinates of the state")
    span = np.zeros((2, size))
    span[[0, 1], [first, second]] = 1.0
    centre = np.zeros(size) if origin is None else states_of(origin, size, "origin")[0]
    return Plane(centre, span, span, span @ centre, (f"h{first + 1}", f"h{second + 1}"))


@checked
def output_plane(net: AbstractNetwork, first: int = 0, second: int = 1, origin: Any = None) -> Plane:
    """Builds the plane in which two outputs change and the state changes as little as possible.

    For an affine readout y = C h + d the plane is h = origin + C^+ (y - y(origin)), where C^+ is the pseudo-inverse of
    C's two rows; for N = 2 it is all of phase space. Velocities are those of the outputs, C dh/dt.

    **Arguments:**

    - `net`: a network with an affine readout of at least two outputs.
    - `first`, `second`: the indices of the two outputs.
    - `origin`: a state in the plane, zero by default.

    **Returns:** a `Plane`.

    >>> from gnode import Network, cells
    >>> output_plane(Network(cells.rnn(1, 3, key=0), outputs=2, key=1)).labels
    ('output 1', 'output 2')
    """
    of = system(net)
    centre = np.zeros(of.size) if origin is None else states_of(origin, of.size, "origin")[0]
    if net.outputs < 2:
        raise errors.ArgumentError(f"net has {net.outputs} output, but an output plane needs 2: use another plane.")
    first, second = _axes(first, second, net.outputs, "outputs")
    probes = np.stack([centre, centre + 1.0, centre - 0.5])
    C = in_chunks(_readout_jacobian, of, probes)
    if not np.allclose(C, C[0], rtol=1e-6, atol=1e-9):
        raise errors.ArgumentError(
            "net has a readout that is not affine, so its outputs span no plane: use another plane."
        )
    reader = C[0][[first, second]]
    if np.linalg.matrix_rank(reader) < 2:
        raise errors.ArgumentError("net has two outputs that are multiples of each other, so they span no plane.")
    offset = in_chunks(outputs_of, of, centre[None])[0][[first, second]]
    return Plane(centre, np.linalg.pinv(reader).T, reader, offset, (f"output {first + 1}", f"output {second + 1}"))


@checked
def pca_plane(states: Any, first: int = 0, second: int = 1) -> Plane:
    """Builds the plane of two principal components of states, through their mean.

    >>> pca_plane([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]).labels
    ('PC 1 (100% of variance)', 'PC 2 (0% of variance)')
    """
    components = pca(states)
    if len(components.explained) < 2:
        raise errors.ArgumentError("states has 1 dimension, but a plane needs at least 2.")
    first, second = _axes(first, second, len(components.explained), "principal components")
    span = components.components[[first, second]]
    shares = components.explained[[first, second]]
    labels = (
        f"PC {first + 1} ({shares[0]:.0%} of variance)",
        f"PC {second + 1} ({shares[1]:.0%} of variance)",
    )
    return Plane(components.mean, span, span, np.zeros(2), labels)


@checked
def points_plane(points: Any) -> Plane:
    """Builds the plane through three states; the first is the origin, the second lies on the u axis.

    >>> points_plane([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).project([2.0, 1.0, 5.0])
    array([2., 1.])
    """
    matrix = errors.array("points", points, (3, "state"))
    if matrix.shape[1] < 2:
        raise errors.ArgumentError("points has states of 1 dimension, but a plane needs at least 2.")
    sides = matrix[1:] - matrix[0]
    Q, R = np.linalg.qr(sides.T)
    if np.min(np.abs(np.diagonal(R))) <= 1e-12 * np.max(np.abs(R)):
        raise errors.ArgumentError("points holds three states on one line, but a plane needs three that are not.")
    span = (Q * np.sign(np.diagonal(R))).T
    return Plane(matrix[0], span, span, np.zeros(2), ("from point 1 to 2", "across"))


@checked
def flow_field(
    source: AbstractNetwork | Cell | Field | System,
    *,
    plane: Plane | None = None,
    limits: tuple[tuple[float, float], tuple[float, float]] | None = None,
    around: Any = None,
    resolution: int = 41,
    x: Any = None,
    dt: float | None = None,
    state: int | None = None,
) -> FlowField:
    """Evaluates the flow at a constant input on a grid over a plane.

    **Arguments:**

    - `source`, `x`, `state`: as in `system`.
    - `dt`: the length of a bin in seconds, for a cell that is a map and no flow: its field is the mean velocity of a bin.
    - `plane`: by default the output plane of a network with at least two outputs and an affine readout, else the first
      two principal components of `around`, else the first two coordinates of the state.
    - `limits`: ((low, high), (low, high)) of u and v.
    - `around`: states whose range, with a margin, sets the limits if `limits` is None; around a single state the window
      is as wide as its largest coordinate, and at least 1, to both sides.
    - `resolution`: the number of grid points along each axis.

    **Returns:** a `FlowField`.

    >>> field = flow_field(lambda h, x: -h, state=2, limits=((-1, 1), (-1, 1)), resolution=3)
    >>> field.velocity[0, 0]  # at (-1, -1)
    array([1., 1.])
    """
    of = system(source, x=x, dt=dt, state=state)
    around = None if around is None else states_of(around, of.size, "around")
    if plane is None:
        plane = default_plane(of, around)
    elif plane.origin.size != of.size:
        raise errors.ArgumentError(
            f"plane lies in {plural(plane.origin.size, 'dimension')}, but the state has {of.size}; make another plane."
        )
    (u_low, u_high), (v_low, v_high) = _limits(plane, limits, around)
    count = errors.whole("resolution", resolution, at_least=2)
    errors.affordable("resolution", resolution, 40.0 * count**2 * of.size)
    u, v = np.linspace(u_low, u_high, count), np.linspace(v_low, v_high, count)
    states = plane.lift(np.stack(np.meshgrid(u, v), axis=-1)).reshape(-1, of.size)
    flow = in_chunks(flow_of, of, states)
    within = flow @ np.linalg.pinv(plane.span) @ plane.span  # the part of the flow that lies in the plane
    squared = np.sum(flow**2, axis=1)
    leaving = np.sum((flow - within) ** 2, axis=1) / np.where(squared > 0, squared, 1.0)
    shape = (count, count)
    velocity = (flow @ plane.reader.T).reshape(*shape, 2)
    return FlowField(plane, u, v, velocity, np.sqrt(squared).reshape(shape), np.clip(leaving, 0, 1).reshape(shape))


def default_plane(of: System, around: Any = None) -> Plane:
    """Returns the output plane if it exists, else two principal components of `around`, else two state coordinates."""
    centre = None if around is None else states_of(around, of.size, "around").mean(axis=0)
    if of.network is not None and of.network.outputs >= 2:
        try:
            return output_plane(of.network, origin=centre)
        except errors.ArgumentError:  # fall through to the next best plane
            pass
    if around is not None and of.size > 2:
        return pca_plane(around)
    return state_plane(of.size, origin=centre if of.size > 2 else None)


def _limits(plane: Plane, limits: Any, around: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    if limits is None and around is None:
        raise errors.ArgumentError(
            "limits and around are both missing: pass one of them to set the range of the plane."
        )
    if limits is None:
        coordinates = plane.project(states_of(around, plane.origin.size, "around"))
        low, high = coordinates.min(axis=0), coordinates.max(axis=0)
        margin = _margin(high - low, float(np.abs(coordinates).max()))
        limits = tuple(zip(low - margin, high + margin))
    pairs = errors.array("limits", limits, (2, 2))
    if not np.all((pairs[:, 0] < pairs[:, 1]) & np.isfinite(pairs[:, 1] - pairs[:, 0])):
        raise errors.ArgumentError(
            f"limits is {errors.shown(limits)}, but must be ((low, high), (low, high)) with low < high."
        )
    return (float(pairs[0, 0]), float(pairs[0, 1])), (float(pairs[1, 0]), float(pairs[1, 1]))


def _margin(width: np.ndarray, largest: float) -> np.ndarray:
    """A quarter of each width; where one is nothing, a quarter of the other, and around a single point its own scale."""
    widest = float(width.max())
    if widest <= 1e-6 * max(1.0, largest):
        return np.full(2, max(1.0, largest))
    return 0.25 * np.where(width > 1e-3 * widest, width, widest)


def _readout_jacobian(of: System, h: Float[Array, " state"]) -> Float[Array, "outputs state"]:
    return jax.jacfwd(lambda h: jnp.atleast_1d(outputs_of(of, h)))(h)


def _axes(first: int, second: int, count: int, what: str) -> tuple[int, int]:
    """Returns the indices of the two axes of a plane, if they differ and are there."""
    axes = (errors.whole("first", first, at_least=0), errors.whole("second", second, at_least=0))
    if max(axes) >= count or axes[0] == axes[1]:
        raise errors.ArgumentError(
            f"first and second are {first} and {second}, but must be two different {what}, from 0 to {count - 1}."
        )
    return axes


def _with_last_axis(name: str, values: Any, size: int) -> np.ndarray:
    found = errors.array(name, values, finite=False)
    if found.ndim == 0 or found.shape[-1] != size:
        raise errors.ArgumentError(f"{name} has shape {found.shape}, but its last axis must have size {size}.")
    return found
