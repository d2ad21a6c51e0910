"""Principal components of states."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float

from gnode import errors
from gnode.analysis._system import states_of


@dataclasses.dataclass(frozen=True)
class PCA:
    """Principal components, largest first: `mean`, `components` (rows, orthonormal), the share of variance of
    each.
    """

    mean: Float[np.ndarray, " state"]
    components: Float[np.ndarray, "count state"]
    explained: Float[np.ndarray, " count"]

    def project(self, states: Any, count: int | None = None) -> Float[np.ndarray, "*batch count"]:
        """Coordinates of states along the first `count` components (all by default)."""
        return (np.asarray(states, dtype=np.float64) - self.mean) @ self.components[:count].T

    def needed(self, share: float) -> int:
        """How many components it takes to explain at least this share of the variance."""
        if not 0 < share <= 1:
            raise errors.ArgumentError(f"share is {share!r}, but must be above 0 and at most 1.")
        reached = np.cumsum(self.explained) >= share - 1e-12
        return int(np.argmax(reached)) + 1 if reached.any() else len(self.explained)


def pca(states: Any) -> PCA:
    """Principal components of states, given as any array whose last axis is the state.

    >>> pca([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]).explained.round(6)
    array([1., 0.])
    """
    size = np.shape(states)[-1] if np.ndim(states) else 0
    matrix = states_of(states, size)
    mean = matrix.mean(axis=0)
    # The covariance is state x state, however many states there are.
    variances, vectors = np.linalg.eigh(np.atleast_2d(np.cov(matrix.T, bias=True)))
    variances = np.maximum(variances[::-1], 0)
    total = variances.sum()
    return PCA(mean, vectors.T[::-1].copy(), variances / total if total > 0 else np.zeros_like(variances))
