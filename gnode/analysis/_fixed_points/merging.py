"""Which points are the same point, which are part of a continuum, and how to sample a set evenly."""

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

_MOST_POINTS_FOR_PAIRS = 3000  # single linkage works on an even sample of at most this many points


def merge(
    points: Float[np.ndarray, "count state"], quality: Float[np.ndarray, " count"], radius: float
) -> tuple[Int[np.ndarray, " kept"], Int[np.ndarray, " count"]]:
    """Joins each point to the best point within `radius` of it.

    Points are taken from the best (smallest) `quality` on; each one that is not yet joined becomes a
    representative and takes all points within `radius` along. Representatives are thus more than `radius`
    apart, and nothing chains: a continuum loses points that are closer than `radius` to each other, and
    nothing else.

    **Returns:** the representatives' indices, and for every point the position of its representative among
    them.
    """
    order = np.argsort(quality, kind="stable")
    owner = np.full(len(points), -1)
    kept: list[int] = []
    for block in _runs_along_a_line(points, radius):
        waiting = block[np.argsort(np.argsort(order)[block])]
        while waiting.size:
            best = waiting[0]
            joined = np.linalg.norm(points[waiting] - points[best], axis=1) <= radius
            owner[waiting[joined]] = len(kept)
            kept.append(int(best))
            waiting = waiting[~joined]
    return np.asarray(kept, dtype=int), owner


def _runs_along_a_line(points: np.ndarray, radius: float) -> list[np.ndarray]:
    """Groups that no pair of close points straddles: points within `radius` are so along any line."""
    if len(points) == 0:
        return []
    direction = np.random.default_rng(0).standard_normal(points.shape[1])
    along = points @ (direction / np.linalg.norm(direction))
    order = np.argsort(along, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(along[order]) > radius) + 1)


def even_sample(
    points: Float[np.ndarray, "count state"], count: int, spacing: float = 0.0
) -> Int[np.ndarray, " sampled"]:
    """Indices of at most `count` points spread evenly: each next one is the farthest from those taken before.

    Stops early when every point is within `spacing` of one that is taken.
    """
    count = min(count, len(points))
    if count == 0:
        return np.zeros(0, dtype=int)
    taken = [int(np.argmin(np.linalg.norm(points - points.mean(axis=0), axis=1)))]
    distance = np.linalg.norm(points - points[taken[0]], axis=1)
    while len(taken) < count and distance.max() > spacing:
        taken.append(int(np.argmax(distance)))
        distance = np.minimum(distance, np.linalg.norm(points - points[taken[-1]], axis=1))
    return np.asarray(taken)


def components(points: Float[np.ndarray, "count state"], link: float) -> Int[np.ndarray, " count"]:
    """The connected component of each point when points within `link` are joined (single linkage), largest
    first.
    """
    if len(points) == 0:
        return np.zeros(0, dtype=int)
    sample = even_sample(points, _MOST_POINTS_FOR_PAIRS)
    tree = KDTree(points[sample])
    pairs = tree.query_pairs(link, output_type="ndarray")
    ones = np.ones(len(pairs), dtype=bool)
    graph = csr_array((ones, (pairs[:, 0], pairs[:, 1])), shape=(len(sample), len(sample)))
    label = connected_components(graph, directed=False)[1][tree.query(points)[1]]
    rank = np.argsort(np.argsort(-np.bincount(label), kind="stable"), kind="stable")
    return rank[label]


def nearest_distance(
    points: Float[np.ndarray, "count state"], others: Float[np.ndarray, "others state"], chunk: int = 512
) -> Float[np.ndarray, " count"]:
    """The distance of each point to the nearest of the others, by products of matrices, in blocks of `chunk`
    points.
    """
    squares = np.sum(others**2, axis=1)
    found = np.empty(len(points))
    for start in range(0, len(points), chunk):
        block = points[start : start + chunk]
        nearest = np.argmin(squares - 2 * block @ others.T, axis=1)  # |a - b|^2 without its part that b does not change
        found[start : start + chunk] = np.linalg.norm(block - others[nearest], axis=1)
    return found
