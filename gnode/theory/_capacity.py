"""Capacity of a perceptron network for random sequences (Appendix D, "Gardner Volume").

To store xi^0 -> xi^1 -> ... -> xi^T in h <- sign(N^(-1/2) J h) without self-coupling, each row i of J must satisfy

    xi_i^(t+1) N^(-1/2) sum_(j != i) J_ij xi_j^t > kappa,   t = 0, ..., T - 1,   sum_(j != i) J_ij^2 = N.

These are T random dichotomies in N - 1 dimensions. The labels xi_i^(t+1) never occur among the inputs xi_j^t, j != i, so
the map to Gardner's problem is exact at every N. The paper counts T + 1 patterns; T + 1 is the number of states.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special

from gnode import errors
from gnode.arguments import checked, real_array

Array = np.ndarray

_LARGEST_MARGIN = 1e100  # its square is well within float64


@checked
def gardner_capacity(margin: float = 0.0) -> float:
    """Computes alpha_c(kappa), the number of transitions per unit that a spherical perceptron stores with margin kappa.

        1 / alpha_c = int_(-kappa)^inf dt / sqrt(2 pi) exp(-t^2 / 2) (t + kappa)^2
                    = (1 + kappa^2) Phi(kappa) + kappa exp(-kappa^2 / 2) / sqrt(2 pi)

    **Arguments:**

    - `margin`: kappa >= 0, which the paper calls epsilon.

    **Returns:** alpha_c, the largest T / N.

    >>> gardner_capacity(0.0)
    2.0
    """
    kappa = errors.not_negative("margin", margin)
    if kappa > _LARGEST_MARGIN:
        raise errors.ArgumentError(f"margin is {kappa!r}, but must be at most {_LARGEST_MARGIN:g}.")
    density = np.exp(-(kappa**2) / 2) / np.sqrt(2 * np.pi)
    return float(1 / ((1 + kappa**2) * special.ndtr(kappa) + kappa * density))


@checked
def cover_probability(transitions: int, weights: int) -> float:
    """Computes the probability that a random dichotomy of points in general position is linearly separable (Cover).

        P(T, n) = 2^(1 - T) sum_(k < n) binom(T - 1, k),   exactly 1/2 at T = 2n

    As N grows this curve sharpens into a step at T = 2N.

    **Arguments:**

    - `transitions`: T, the number of points.
    - `weights`: n, the dimension. It is N - 1 for one row of a network without self-coupling.

    **Returns:** the probability P(T, n).

    >>> round(cover_probability(20, 10), 12)
    0.5
    """
    transitions, weights = errors.whole("transitions", transitions), errors.whole("weights", weights)
    if transitions <= weights:
        return 1.0
    return float(special.bdtr(weights - 1, transitions - 1, 0.5))


@checked
def random_sequence(units: int, transitions: int, seed: int | Sequence[int] = 0) -> Array:
    """Draws states xi^0, ..., xi^T with independent entries +1 and -1.

    For one seed, a shorter sequence is a prefix of a longer one.

    **Arguments:**

    - `units`: N.
    - `transitions`: T.
    - `seed`: the seed of the random generator.

    **Returns:** an array of shape (T + 1, N).

    >>> random_sequence(4, 2).shape
    (3, 4)
    """
    transitions, units = errors.whole("transitions", transitions), errors.whole("units", units)
    errors.affordable("transitions", transitions, 16.0 * transitions * units)
    own = [errors.seed("seed", one) for one in np.atleast_1d(np.asarray(seed, dtype=object))]
    if not own:
        raise errors.ArgumentError("seed is empty, but must hold at least one whole number.")
    rng = np.random.default_rng(own if np.ndim(np.asarray(seed, dtype=object)) else own[0])
    return 2.0 * rng.integers(0, 2, (transitions + 1, units)) - 1


def _signs(sequence: Any, row: int) -> Array:
    """Returns a sequence as an array if it holds +1 and -1 and has the unit `row`."""
    signs = np.asarray(real_array("sequence", sequence), float)
    if signs.ndim != 2 or min(signs.shape) < 2 or not np.all(np.abs(signs) == 1):
        raise errors.ArgumentError(
            f"sequence is {errors.shown(sequence)}, but must be an array of shape (states, units), at least (2, 2), with "
            "entries +1 and -1."
        )
    if row not in range(signs.shape[1]):
        raise errors.ArgumentError(f"row is {row!r}, but must be one of the units 0 to {signs.shape[1] - 1}.")
    return signs


def _constraints(sequence: Array, row: int) -> Array:
    """Returns the rows xi_i^(t+1) xi_j^t, j != i, whose product with J_i must be positive."""
    row = int(row)
    others = np.delete(sequence[:-1], row, axis=1)
    return sequence[1:, row, None] * others


@checked
def stored_row(sequence: Any, row: int) -> Array | None:
    """Finds a row of J that produces every transition of one unit, by linear programming.

        find J_i with xi_i^(t+1) sum_(j != i) J_ij xi_j^t >= 1 for all t

    The threshold 1 imposes no margin, because the scale of J is free.

    **Arguments:**

    - `sequence`: an array of shape (T + 1, N) with entries +1 and -1.
    - `row`: i, the unit.

    **Returns:** the N weights J_i, with J_ii = 0, or `None` if the sequence cannot be stored.

    >>> stored_row(np.array([[1.0, 1.0], [-1.0, 1.0]]), row=0)
    array([ 0., -1.])
    """
    sides = _constraints(_signs(sequence, row), row)
    free = sides.shape[1]
    answer = optimize.linprog(
        np.zeros(free), A_ub=-sides, b_ub=-np.ones(len(sides)), bounds=(None, None), method="highs"
    )
    return np.insert(answer.x, int(row), 0.0) if answer.status == 0 else None


@checked
def longest_stored(sequence: Any, row: int) -> tuple[int, int]:
    """Finds the longest prefix of a sequence that one unit can store, by bisection.

    Bisection is exact, because every prefix of a storable sequence is storable.

    **Arguments:**

    - `sequence`: an array of shape (T + 1, N) with entries +1 and -1.
    - `row`: the unit.

    **Returns:** the number of transitions of that prefix, and the number of linear programs solved.

    >>> longest_stored(random_sequence(2, 6, seed=1), row=0)[0]
    1
    """
    _signs(sequence, row)
    solved = 0
    low, high = 0, len(sequence) - 1  # `low` transitions can be stored, more than `high` cannot
    while low < high:
        middle = (low + high + 1) // 2
        solved += 1
        if stored_row(sequence[: middle + 1], row) is None:
            high = middle - 1
        else:
            low = middle
    return low, solved


@dataclass(frozen=True)
class CapacityExperiment:
    """Numbers of transitions that the rows of random networks can store.

    **Attributes:**

    - `units`: the network sizes N.
    - `longest`: for each N, the largest storable T of every row.
    - `programs`: the number of linear programs solved.
    - `status`: "complete", or "censored" if some row stored its whole sequence, so that its T is only a lower bound.

    No example: made by `capacity_experiment`.
    """

    units: tuple[int, ...]
    longest: tuple[Array, ...]
    programs: int
    status: str

    def __repr__(self) -> str:
        rows = len(self.longest[0]) if self.longest else 0
        return f"CapacityExperiment(units={errors.shown(self.units)}, {rows} rows each, status={self.status!r})"

    @checked
    def stored_fraction(self, index: int, load: float | Sequence[float] | Array) -> Array:
        """Computes the fraction of the rows of size `units[index]` that store T = load * N transitions."""
        longest = self.longest[self._at(index)]
        loads = np.atleast_1d(real_array("load", load, finite=True))
        if loads.ndim > 1:
            raise errors.ArgumentError(f"load has shape {loads.shape}, but must be one number or a list of them.")
        return np.mean(longest[:, None] >= loads * self.units[int(index)], axis=0)

    @checked
    def half_load(self, index: int) -> float:
        """Computes the load T / N at which half of the rows still store the sequence."""
        return float(np.median(self.longest[self._at(index)]) + 0.5) / self.units[int(index)]

    def _at(self, index: int) -> int:
        if index not in range(-len(self.units), len(self.units)):
            raise errors.ArgumentError(
                f"index is {errors.shown(index)}, but must be one of 0 to {len(self.units) - 1}."
            )
        return int(index)


@checked
def capacity_experiment(
    units: Sequence[int] = (10, 20, 40), rows: int = 40, max_load: float = 4.0, seed: int = 0
) -> CapacityExperiment:
    """Measures by linear programming how many transitions of a random sequence single rows can store.

    **Arguments:**

    - `units`: the network sizes N.
    - `rows`: the number of rows per size. Each has its own sequence, so that the rows are independent.
    - `max_load`: the length T / N of the sequences.
    - `seed`: the seed of the sequences.

    **Returns:** a `CapacityExperiment`. Half of the rows fail beyond T = 2 (N - 1), and the transition sharpens as N grows.

    >>> 1.0 < capacity_experiment(units=(10,), rows=10).half_load(0) < 2.6
    True
    """
    rows, seed = errors.whole("rows", rows), errors.seed("seed", seed)
    errors.positive("max_load", max_load)
    if not len(units):
        raise errors.ArgumentError("units is empty, but must hold at least one network size.")
    longest, programs, censored = [], 0, False
    for size in units:
        size = errors.whole("units", size, at_least=2)
        offered = int(np.ceil(max_load * size))
        found = []
        for trial in range(rows):
            sequence = random_sequence(size, offered, seed=(seed, size, trial))
            length, solved = longest_stored(sequence, trial % size)
            found.append(length)
            programs += solved
        longest.append(np.array(found))
        censored = censored or max(found) == offered
    return CapacityExperiment(tuple(units), tuple(longest), programs, "censored" if censored else "complete")


@checked
def largest_margin(sequence: Any, row: int) -> float:
    """Computes the largest margin kappa with which one row can store a sequence.

    The maximum of min_t xi_i^(t+1) J_i . xi^t / sqrt N over |J_i|^2 = N is the distance from the origin to the convex hull
    of the constraint vectors. Non-negative least squares finds it:

        min over a >= 0, sum a = 1 of |sum_t a_t xi_i^(t+1) xi^t|.

    **Arguments:**

    - `sequence`: an array of shape (T + 1, N) with entries +1 and -1.
    - `row`: i, the unit.

    **Returns:** kappa, which is 0 if the row cannot store the sequence. At T = alpha N it tends to the solution of
    alpha_c(kappa) = alpha.

    >>> round(largest_margin(np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]), row=0), 6)  # sqrt(N - 1)
    1.414214
    """
    sides = _constraints(_signs(sequence, row), row)
    # Lawson and Hanson's reduction: up to scale, the point of the hull nearest to the origin is the residual of
    # min |[sides^T; 1] a - (0, 1)|. The hull contains the origin when the residual vanishes.
    stacked = np.vstack([sides.T, np.ones(len(sides))])
    target = np.append(np.zeros(sides.shape[1]), 1.0)
    combination, _ = optimize.nnls(stacked, target)
    total = combination.sum()
    return float(np.linalg.norm(sides.T @ combination) / total) if total > 0 else 0.0
