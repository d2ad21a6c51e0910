"""The geometry of a point set: its dimension, connected components, extent and shape."""

import dataclasses

import numpy as np
from jaxtyping import Float
from scipy.spatial import ConvexHull, KDTree, QhullError

from gnode import errors
from gnode.analysis._fixed_points.merging import components, even_sample
from gnode.arguments import checked
from gnode.wording import plural

SHAPES: dict[str, str] = {
    "points": "isolated points",
    "interval": "a straight segment",
    "curve": "an open or bent curve",
    "ring": "a closed circle",
    "square": "a filled square",
    "rectangle": "a filled rectangle",
    "disk": "a filled disk",
    "annulus": "a disk with a hole",
    "cuboid": "a filled box in three or more dimensions",
    "region": "a filled region of another shape",
}
"""The shapes that `shape` distinguishes in output coordinates, with their meaning."""

MOST_CORE_POINTS = 1500
CORE_SPACING = 0.01  # share of the extent; finer detail is ignored
FEWEST_FOR_A_MANIFOLD = 20  # core points; fewer count as isolated points
NEIGHBOURS = 12
LINK = 5.0  # points of the core within this many typical spacings are connected
LONGEST_LINK = 0.2  # share of the extent; upper bound of the linking distance
FLAT = 0.1  # a local direction with less than this share of the largest local variance is thickness, not extent
RING_WOBBLE = 0.15  # standard deviation of a ring's radius, as a share of its mean
RING_GAP = np.pi / 3  # largest angle without points in a ring
RING_HOLE, ANNULUS_HOLE = 0.8, 0.2  # smallest inner radius, as a share of the outer one, of a ring and of an annulus
MOST_HULL_AXES = 5  # the time to find a convex hull grows with the number of points to the power of half the axes
LARGEST = 1e150  # of a coordinate
STRAIGHT = 0.1  # width of an interval, as a share of its length
SQUARE_SIDES = 1.25  # the largest ratio of the sides of a square


@dataclasses.dataclass(frozen=True)
class Shape:
    """The shape of a point set in output coordinates.

    - `name`: a key of `SHAPES`.
    - `low`, `high`: the range of each output.
    - `measures`: the numbers that decided the name.

    No example: made by `shape`.
    """

    name: str
    low: Float[np.ndarray, " outputs"]
    high: Float[np.ndarray, " outputs"]
    measures: dict[str, float]

    def __repr__(self) -> str:
        return f"Shape({self.name}, {plural(len(self.low), 'output')}, {plural(len(self.measures), 'measure')})"


@dataclasses.dataclass(frozen=True)
class Manifold:
    """The geometry of a cloud of points.

    | field           | meaning                                                      |
    |-----------------|--------------------------------------------------------------|
    | `dimension`     | the most common local dimension                              |
    | `agreement`     | the share of core points with that local dimension           |
    | `parts`         | the number of connected components                           |
    | `largest_part`  | the share of core points in the largest component            |
    | `extent`        | the diagonal of the bounding box                             |
    | `core`          | an even sample of the points, on which all of this is measured |
    | `is_in_largest` | whether each core point belongs to the largest component     |

    No example: made by `manifold`.
    """

    dimension: int
    agreement: float
    parts: int
    largest_part: float
    extent: float
    core: Float[np.ndarray, "core state"]
    is_in_largest: np.ndarray

    def __repr__(self) -> str:
        counted = f"{plural(len(self.core), 'core point')}, {plural(self.parts, 'component')}"
        return f"Manifold(dimension {self.dimension}, {counted}, extent {self.extent:.3g})"


@checked
def manifold(points: Float[np.ndarray, "count state"]) -> Manifold:
    """Measures the dimension and the connectedness of a cloud of points.

    The local dimension is found by principal component analysis of the nearest neighbours of each point of an even
    sample.

    **Arguments:**

    - `points`: one point per row.

    **Returns:** a `Manifold`.

    >>> angle = np.linspace(0, 6.28, 400)
    >>> manifold(np.stack([np.cos(angle), np.sin(angle)], axis=1)).dimension
    1
    """
    points = _moderate("points", errors.array("points", points, ("count", "state")))
    extent = float(np.linalg.norm(np.ptp(points, axis=0)))
    core = points[even_sample(points, MOST_CORE_POINTS, CORE_SPACING * extent)]
    if len(core) < 2:
        return Manifold(0, 1.0, len(core), 1.0, extent, core, np.ones(len(core), bool))
    nearest = KDTree(core).query(core, k=2)[0][:, 1]
    link = min(LINK * float(np.median(nearest)), LONGEST_LINK * extent)
    label = components(core, link)
    is_alone = nearest > link
    if len(core) < FEWEST_FOR_A_MANIFOLD:
        local = np.zeros(len(core), dtype=int)
    else:
        local = np.where(is_alone, 0, _local_dimensions(core))
    dimension = int(np.argmax(np.bincount(local)))
    return Manifold(
        dimension=dimension,
        agreement=float(np.mean(local == dimension)),
        parts=int(label.max()) + 1,
        largest_part=float(np.mean(label == 0)),
        extent=extent,
        core=core,
        is_in_largest=label == 0,
    )


def _local_dimensions(core: np.ndarray) -> np.ndarray:
    near = KDTree(core).query(core, k=min(NEIGHBOURS, len(core)))[1]
    cloud = core[near] - core[near].mean(axis=1, keepdims=True)
    variances = np.linalg.svd(cloud, compute_uv=False) ** 2
    return np.sum(variances > FLAT * variances[:, :1], axis=1)


@checked
def shape(outputs: Float[np.ndarray, "count outputs"], dimension: int) -> Shape:
    """Names the shape of a point set in output coordinates.

    **Arguments:**

    - `outputs`: one point per row.
    - `dimension`: the intrinsic dimension of the set, as found by `manifold`.

    **Returns:** a `Shape`.

    >>> grid = np.stack(np.meshgrid(np.linspace(-2, 2, 30), np.linspace(-1, 1, 30)), -1).reshape(-1, 2)
    >>> shape(grid, dimension=2).name
    'rectangle'
    """
    outputs = _moderate("outputs", errors.array("outputs", outputs, ("count", "outputs")))
    errors.whole("dimension", dimension, at_least=0)
    low, high = outputs.min(axis=0), outputs.max(axis=0)
    if dimension == 0:
        return Shape("points", low, high, {"points": float(len(outputs))})
    if dimension == 1 or outputs.shape[1] == 1:
        return Shape(*_curve(outputs, low, high))
    if outputs.shape[1] == 2:
        return Shape(*_area(outputs, low, high))
    return Shape(*_volume(outputs, low, high))


_ShapeFields = tuple[str, np.ndarray, np.ndarray, dict[str, float]]


def _curve(outputs: np.ndarray, low: np.ndarray, high: np.ndarray) -> _ShapeFields:
    centred = outputs - outputs.mean(axis=0)
    spread, axes = np.linalg.svd(centred, full_matrices=False)[1:]
    width = float(spread[1] / spread[0]) if len(spread) > 1 and spread[0] > 0 else 0.0
    length = float(np.ptp(centred @ axes[0]))
    if width < STRAIGHT:
        return "interval", low, high, {"length": length, "width_share": width}
    flat = centred @ axes[:2].T
    centre, radius = _circle(flat)
    offsets = flat - centre
    radii = np.linalg.norm(offsets, axis=1)
    wobble = float(radii.std() / radii.mean())
    angles = np.sort(np.arctan2(offsets[:, 1], offsets[:, 0]))
    gap = float(np.max(np.diff(np.concatenate([angles, angles[:1] + 2 * np.pi]))))
    measures = {"radius": radius, "radius_wobble": wobble, "largest_gap_radians": gap}
    return "ring" if wobble < RING_WOBBLE and gap < RING_GAP else "curve", low, high, measures


def _circle(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Fits a circle by least squares: |p|^2 = 2 c.p + (R^2 - |c|^2) is linear in c and in the bracket."""
    matrix = np.concatenate([2 * points, np.ones((len(points), 1))], axis=1)
    *centre, rest = np.linalg.lstsq(matrix, np.sum(points**2, axis=1), rcond=None)[0]
    centre = np.asarray(centre)
    return centre, float(np.sqrt(max(rest + centre @ centre, 0.0)))


def _area(outputs: np.ndarray, low: np.ndarray, high: np.ndarray) -> _ShapeFields:
    try:
        hull = ConvexHull(outputs)
    except QhullError:  # all outputs on one line
        return _curve(outputs, low, high)
    corners = outputs[hull.vertices]
    sides, box_area = _smallest_box(corners)
    centre = _centroid(corners)
    radii = np.linalg.norm(outputs - centre, axis=1)
    outer, inner = float(radii.max()), float(radii.min())
    measures = {
        "rectangle_fill": float(hull.volume / box_area),
        "disk_fill": float(hull.volume / (np.pi * outer**2)),
        "longer_side": float(sides.max()),
        "shorter_side": float(sides.min()),
        "outer_radius": outer,
        "inner_radius": inner,
    }
    if measures["disk_fill"] > measures["rectangle_fill"]:
        hole = inner / outer
        name = "ring" if hole > RING_HOLE else "annulus" if hole > ANNULUS_HOLE else "disk"
    else:
        name = "square" if sides.max() < SQUARE_SIDES * sides.min() else "rectangle"
    return name, low, high, measures


def _centroid(corners: np.ndarray) -> np.ndarray:
    """Returns the centroid of a convex polygon's area, given its corners in order."""
    following = np.roll(corners, -1, axis=0)
    cross = corners[:, 0] * following[:, 1] - following[:, 0] * corners[:, 1]
    return ((corners + following) * cross[:, None]).sum(axis=0) / (3 * cross.sum())


def _smallest_box(corners: np.ndarray) -> tuple[np.ndarray, float]:
    """Returns the sides and the area of the smallest enclosing rectangle, which shares a side with the polygon."""
    edges = np.roll(corners, -1, axis=0) - corners
    angles = np.arctan2(edges[:, 1], edges[:, 0])
    turn = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    across = np.stack([-turn[:, 1], turn[:, 0]], axis=1)
    sides = np.stack([np.ptp(corners @ turn.T, axis=0), np.ptp(corners @ across.T, axis=0)], axis=1)
    best = int(np.argmin(sides.prod(axis=1)))
    return sides[best], float(sides[best].prod())


def _volume(outputs: np.ndarray, low: np.ndarray, high: np.ndarray) -> _ShapeFields:
    if outputs.shape[1] > MOST_HULL_AXES:
        return "region", low, high, {}
    try:
        fill = float(ConvexHull(outputs).volume / np.prod(high - low))
    except QhullError:
        return "region", low, high, {}
    # A ball fills pi/6 = 0.52 of the box around it; a cuboid sampled by points falls a little short of 1.
    return "cuboid" if fill > 0.75 else "region", low, high, {"cuboid_fill": fill}


def _moderate(name: str, points: np.ndarray) -> np.ndarray:
    """Returns points whose distances can be squared; refuses others."""
    if np.max(np.abs(points)) > LARGEST:
        raise errors.ArgumentError(f"{name} holds numbers above {LARGEST:g}, whose squares overflow; scale them down.")
    return points
