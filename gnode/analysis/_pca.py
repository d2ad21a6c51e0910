"""Principal component analysis of states."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float

from gnode import errors
from gnode.analysis._system import last_axis, states_of
from gnode.arguments import checked
from gnode.wording import plural


@dataclasses.dataclass(frozen=True)
class PCA:
    """Principal components, by decreasing variance.

    - `mean`: the mean of the states.
    - `components`: the components as orthonormal rows.
    - `explained`: the share of the variance that each component explains.

    No example: made by `pca`.
    """

    mean: Float[np.ndarray, " state"]
    components: Float[np.ndarray, "count state"]
    explained: Float[np.ndarray, " count"]

    def __repr__(self) -> str:
        shares = ", ".join(f"{share:.0%}" for share in self.explained[:3])
        return f"PCA({plural(len(self.explained), 'component')}, variance explained by the first: {shares})"

    @checked
    def project(self, states: Any, count: int | None = None) -> Float[np.ndarray, "*batch count"]:
        """Returns the coordinates of states along the first `count` components (all by default)."""
        array = errors.array("states", states, finite=False)
        if array.ndim == 0 or array.shape[-1] != self.mean.size:
            raise errors.ArgumentError(
                f"states has shape {array.shape}, but its last axis must have the state's size, {self.mean.size}."
            )
        kept = len(self.components) if count is None else errors.whole("count", count, at_most=len(self.components))
        return (array - self.mean) @ self.components[:kept].T

    @checked
    def needed(self, share: float) -> int:
        """Returns the number of components that explain at least this share of the variance."""
        if not 0 < share <= 1:
            raise errors.ArgumentError(f"share is {share!r}, but must be above 0 and at most 1.")
        reached = np.cumsum(self.explained) >= share - 1e-12
        return int(np.argmax(reached)) + 1 if reached.any() else len(self.explained)


@checked
def pca(states: Any) -> PCA:
    """Computes the principal components of states, given as any array whose last axis is the state.

    >>> pca([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]).explained.round(6)
    array([1., 0.])
    """
    matrix = states_of(states, last_axis(states))
    mean = matrix.mean(axis=0)
    # The size of the covariance matrix does not depend on the number of states.
    with np.errstate(over="ignore", invalid="ignore"):
        covariance = np.atleast_2d(np.cov(matrix.T, bias=True))
    if not np.all(np.isfinite(covariance)):
        raise errors.ArgumentError("states holds numbers whose squares overflow; scale them down.")
    variances, vectors = np.linalg.eigh(covariance)
    variances = np.maximum(variances[::-1], 0)
    total = variances.sum()
    return PCA(mean, vectors.T[::-1].copy(), variances / total if total > 0 else np.zeros_like(variances))
