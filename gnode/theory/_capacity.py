"""How long a random sequence a perceptron network can hold (Appendix D, "Gardner Volume").

Storing xi^0 -> xi^1 -> ... -> xi^T in h <- sign(N^(-1/2) J h) without self-coupling asks of each row i of J

    xi_i^(t+1) N^(-1/2) sum_(j != i) J_ij xi_j^t > kappa,   t = 0, ..., T - 1,   sum_(j != i) J_ij^2 = N,

which are T random dichotomies in N - 1 dimensions: the labels xi_i^(t+1) never occur among the inputs xi_j^t,
j != i, so the map to Gardner's problem is exact at every N. The paper writes T + 1 patterns; T + 1 is the
number of states.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from gnode import errors

Array = np.ndarray


def gardner_capacity(margin: float = 0.0) -> float:
    """alpha_c(kappa): how many transitions per unit a spherical perceptron can store with margin kappa.

        1 / alpha_c = int_(-kappa)^inf dt / sqrt(2 pi) exp(-t^2 / 2) (t + kappa)^2
                    = (1 + kappa^2) Phi(kappa) + kappa exp(-kappa^2 / 2) / sqrt(2 pi)

    Arguments:
        margin: kappa, the paper's epsilon, not negative.

    Returns:
        alpha_c, the largest T / N.

    >>> gardner_capacity(0.0)
    2.0
    """
    kappa = errors.not_negative("margin", margin)
    density = np.exp(-(kappa**2) / 2) / np.sqrt(2 * np.pi)
    return float(1 / ((1 + kappa**2) * special.ndtr(kappa) + kappa * density))


def cover_probability(transitions: int, weights: int) -> float:
    """Probability that random dichotomies of points in general position can be realised (Cover's count).

        P(T, n) = 2^(1 - T) sum_(k < n) binom(T - 1, k),   exactly 1/2 at T = 2n

    This is the curve at finite N which sharpens into the step at T = 2N.

    Arguments:
        transitions: T.
        weights: n, which is N - 1 for one row of a network without self-coupling.

    Returns:
        The probability.

    >>> round(cover_probability(20, 10), 12)
    0.5
    """
    errors.whole("transitions", transitions)
    errors.whole("weights", weights)
    if transitions <= weights:
        return 1.0
    return float(special.bdtr(weights - 1, transitions - 1, 0.5))


def random_sequence(units: int, transitions: int, seed: int | Sequence[int] = 0) -> Array:
    """xi^0, ..., xi^T with independent entries of +1 and -1: (T + 1, N), the same prefix for every T.

    >>> random_sequence(4, 2).shape
    (3, 4)
    """
    rng = np.random.default_rng(seed)
    return 2.0 * rng.integers(0, 2, (errors.whole("transitions", transitions) + 1, errors.whole("units", units))) - 1


def _constraints(sequence: Array, row: int) -> Array:
    """Rows xi_i^(t+1) xi_j^t, j != i: all must have a positive product with J_i."""
    others = np.delete(sequence[:-1], row, axis=1)
    return sequence[1:, row, None] * others


def stored_row(sequence: Array, row: int) -> Array | None:
    """A row of J that makes every transition of one unit come out right, or None, by linear programming.

        find J_i with xi_i^(t+1) sum_(j != i) J_ij xi_j^t >= 1 for all t

    The threshold 1 is no margin: J may be scaled at will.

    Arguments:
        sequence: (T + 1, N) with entries +1 and -1.
        row: i.

    Returns:
        The N weights J_i, with J_ii = 0, or None.

    >>> stored_row(np.array([[1.0, 1.0], [-1.0, 1.0]]), row=0)
    array([ 0., -1.])
    """
    signs = np.asarray(sequence, float)
    if signs.ndim != 2 or not np.all(np.abs(signs) == 1):
        raise errors.ArgumentError("sequence must be an array of states x units with entries +1 and -1.")
    if row not in range(signs.shape[1]):
        raise errors.ArgumentError(f"row is {row!r}, but must be one of the units 0 to {signs.shape[1] - 1}.")
    sides = _constraints(signs, row)
    free = sides.shape[1]
    answer = optimize.linprog(
        np.zeros(free), A_ub=-sides, b_ub=-np.ones(len(sides)), bounds=(None, None), method="highs"
    )
    return np.insert(answer.x, row, 0.0) if answer.status == 0 else None


def longest_stored(sequence: Array, row: int) -> tuple[int, int]:
    """(T, programs solved): the longest prefix whose transitions one unit can store, found by bisection.

    A prefix of a storable sequence is storable, so bisection is exact.

    >>> longest_stored(random_sequence(2, 6, seed=1), row=0)[0]
    1
    """
    low, high, solved = (
        0,
        len(sequence) - 1,
        0,
    )  # `low` transitions can be stored, more than `high` are not there
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
    """The longest storable prefix of many rows, and what it says about the capacity.

    Attributes:
        units: the network sizes N.
        longest: for each N the longest storable T of every row that was tried.
        programs: linear programs solved.
        status: "complete", or "censored" if some row could store all that was offered, so that its T is a
            lower bound.
    """

    units: tuple[int, ...]
    longest: tuple[Array, ...]
    programs: int
    status: str

    def stored_fraction(self, index: int, load: Array) -> Array:
        """Fraction of the rows of the `index`-th size that store T = load * N transitions."""
        longest = self.longest[index]
        return np.mean(longest[:, None] >= np.asarray(load)[None] * self.units[index], axis=0)

    def half_load(self, index: int) -> float:
        """T / N at which half of the rows still store the sequence."""
        return float(np.median(self.longest[index]) + 0.5) / self.units[index]


def capacity_experiment(
    units: Sequence[int] = (10, 20, 40), rows: int = 40, max_load: float = 4.0, seed: int = 0
) -> CapacityExperiment:
    """Stores random sequences by linear programming, row by row, and finds how long each row lasts.

    Arguments:
        units: network sizes N.
        rows: rows tried per size, each with a sequence of its own, so that they are independent.
        max_load: T / N offered.
        seed: of the sequences.

    Returns:
        A `CapacityExperiment`; half of the rows fail beyond T = 2 (N - 1), and all of them at once as N
        grows.

    >>> 1.0 < capacity_experiment(units=(10,), rows=10).half_load(0) < 2.6
    True
    """
    errors.whole("rows", rows)
    errors.positive("max_load", max_load)
    longest, programs, censored = [], 0, False
    for size in units:
        errors.whole("units", size, at_least=2)
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


def largest_margin(sequence: Array, row: int) -> float:
    """kappa: the largest margin with which one row can store a sequence, 0 if it cannot store it at all.

    The maximum of min_t xi_i^(t+1) J_i . xi^t / sqrt N over |J_i|^2 = N is the distance from the origin to
    the convex hull of the constraint vectors, which non-negative least squares finds:

        min over a >= 0, sum a = 1 of |sum_t a_t xi_i^(t+1) xi^t|.

    Arguments:
        sequence: (T + 1, N) with entries +1 and -1.
        row: i.

    Returns:
        kappa; at T = alpha N it tends to the solution of alpha_c(kappa) = alpha.

    >>> round(largest_margin(np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]), row=0), 6)  # sqrt(N - 1)
    1.414214
    """
    sides = _constraints(np.asarray(sequence, float), row)
    # Lawson and Hanson's reduction: with y the residual of min |[sides^T; 1] a - (0, 1)|, the nearest point
    # of the hull is y up to scale, and it is at the origin when the residual vanishes.
    stacked = np.vstack([sides.T, np.ones(len(sides))])
    target = np.append(np.zeros(sides.shape[1]), 1.0)
    combination, _ = optimize.nnls(stacked, target)
    total = combination.sum()
    return float(np.linalg.norm(sides.T @ combination) / total) if total > 0 else 0.0
