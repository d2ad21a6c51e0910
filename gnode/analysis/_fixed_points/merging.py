"""Merging of duplicate points, connected components, and even samples of a point set."""

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

_MOST_POINTS_FOR_PAIRS = 3000  # single linkage uses an even sample of at most this many points


def merge(
    points: Float[np.ndarray, "count state"], quality: Float[np.ndarray, " count"], radius: float
) -> tuple[Int[np.ndarray, " kept"], Int[np.ndarray, " count"]]:
    """Assigns each point to the best point within `radius` of it.

    Points are visited in order of `quality`, best (smallest) first. Each point that has no representative yet becomes
    one and claims all remaining points within `radius`. Representatives are therefore more than `radius` apart, and
    there is no chaining: along a continuum only points closer than `radius` to each other are merged.

    **Returns:** the indices of the representatives, and for every point the position of its representative among them.
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
    """Splits the points into groups such that two points within `radius` are always in the same group."""
    if len(points) == 0:
        return []
    direction = np.random.default_rng(0).standard_normal(points.shape[1])
    along = points @ (direction / np.linalg.norm(direction))
    order = np.argsort(along, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(along[order]) > radius) + 1)


def even_sample(
    points: Float[np.ndarray, "count state"], count: int, spacing: float = 0.0
) -> Int[np.ndarray, " sampled"]:
    """Returns the indices of at most `count` evenly spread points, by farthest-point sampling.

    Stops early when every point is within `spacing` of a chosen one.
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
    """Labels each point by its connected component under single linkage at distance `link`, largest component first."""
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
    """Returns the distance from each point to the nearest of `others`.

    It uses matrix products in blocks of `chunk` points.
    """
    squares = np.sum(others**2, axis=1)
    distances = np.empty(len(points))
    for start in range(0, len(points), chunk):
        block = points[start : start + chunk]
        nearest = np.argmin(squares - 2 * block @ others.T, axis=1)  # |a - b|^2 - |a|^2
        distances[start : start + chunk] = np.linalg.norm(block - others[nearest], axis=1)
    return distances
