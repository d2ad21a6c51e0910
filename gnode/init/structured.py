"""Draws of recurrent weights with a structure: signs and balance (Dale's law), or a low rank."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gnode import errors
from gnode.init._initialiser import STANDARD_SIGMA_W, Initialiser
from gnode.theory import BalancedNetwork, critical_strength, pointwise
from gnode.types import Key

__all__ = ["balanced_ensemble", "balanced_strength", "draw_balanced", "draw_low_rank", "low_rank_overlap"]

_BESIDE_KINK = np.array([-1e-9, 1e-9])


def balanced_ensemble(units: int, excitatory: float, density: float, self_connections: bool) -> BalancedNetwork:
    """Returns the ensemble of sign-constrained weights, of which theory knows the spectrum."""
    return BalancedNetwork(units, excitatory, density, self_connections)


def balanced_strength(rule: Initialiser, network: BalancedNetwork, activation: str, baseline: float) -> float:
    """Returns T, the sum of the excitatory weights of each row.

    A critical rule asks theory. Any other gives the spectral radius that its weights would have without signs, sqrt(N var).
    A network that cannot be balanced, such as one of excitatory units only, has that number as the sum of each row.
    """
    if rule.critical != "no":
        return critical_strength(network, activation, baseline)
    radius = rule_radius(rule)
    return radius / network.radius if network.can_balance else radius


def rule_radius(rule: Initialiser) -> float:
    """Returns the spectral radius of a square matrix that a rule draws, as the matrix grows.

    >>> rule_radius(Initialiser("glorot", "normal"))
    1.0
    """
    return rule.sigma_w if rule.scaling == "kaiming" else rule.sigma_w / STANDARD_SIGMA_W


def draw_balanced(
    key: Key, network: BalancedNetwork
) -> tuple[Float[Array, "units units"], Float[Array, "units units"], Float[Array, " units"]]:
    """Draws the magnitudes of a `BalancedNetwork` at T = 1, its mask of connections (0 or 1) and the signs of columns."""
    N, key_mask, key_size = network.units, *jax.random.split(key)
    order = jax.random.uniform(key_mask, (N, N)) + (0 if network.self_connections else 2) * jnp.eye(N)  # self: last
    sizes = jax.random.exponential(key_size, (network.shape, N, N)).sum(0)  # gamma variables of that shape
    n_E, n_I = network.populations
    rows = np.repeat([0, 1], [n_E, n_I])
    masks = []
    for source, columns in enumerate((slice(0, n_E), slice(n_E, N))):
        ranks = jnp.argsort(jnp.argsort(order[:, columns], axis=1), axis=1)
        masks.append((ranks < network.in_degrees[rows, source][:, None]).astype(sizes.dtype))
    parts = [mask * size for mask, size in zip(masks, (sizes[:, :n_E], sizes[:, n_E:]))]
    least = jnp.finfo(sizes.dtype).tiny  # a row without connections stays zero
    drawn = jnp.concatenate([part / jnp.maximum(part.sum(1, keepdims=True), least) for part in parts], axis=1)
    return drawn, jnp.concatenate(masks, axis=1), jnp.asarray(1.0 - 2.0 * rows, sizes.dtype)


def low_rank_overlap(rule: Initialiser, activation: str) -> float:
    """Returns the eigenvalue that a rule gives to the R directions of a low-rank matrix.

    A critical rule divides by the mean slope at rest, 1/2 for ReLU; any other gives the radius of a matrix of full rank.
    """
    if rule.critical == "no":
        return rule_radius(rule)
    slope = float(np.mean(pointwise(activation).derivative(_BESIDE_KINK)))
    if not slope > 1e-6:
        raise errors.ArgumentError(
            f"init is critical, but the slope of {activation} at 0 is {slope:g}, which no scale makes critical; "
            "choose another activation, such as hidden='tanh'."
        )
    return 1 / slope


def draw_low_rank(
    key: Key, units: int, rank: int, overlap: float
) -> tuple[Float[Array, "units rank"], Float[Array, "units rank"]]:
    """Draws M and N with M^T M = units * I and N^T M = units * overlap * I; both have entries of order one.

    The part of N across M is random, so that the network also listens to what its recurrence does not produce.
    """
    key_M, key_N = jax.random.split(key)
    M = jnp.sqrt(1.0 * units) * jnp.linalg.qr(jax.random.normal(key_M, (units, rank)))[0]
    other = jax.random.normal(key_N, (units, rank))
    return M, overlap * M + other - M @ (M.T @ other) / units
