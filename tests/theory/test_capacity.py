"""Capacity: closed forms, Cover's count, and sequences stored by linear programming."""

import numpy as np
import pytest
from scipy import integrate, stats

from gnode import errors
from gnode.theory import (
    capacity_experiment,
    cover_probability,
    gardner_capacity,
    largest_margin,
    longest_stored,
    random_sequence,
    stored_row,
)


@pytest.mark.parametrize("kappa", [0.0, 0.3, 1.0, 4.0])
def test_gardner_integral(kappa):
    integral = integrate.quad(lambda t: stats.norm.pdf(t) * (t + kappa) ** 2, -kappa, 30)[0]
    assert gardner_capacity(kappa) == pytest.approx(1 / integral, rel=1e-12)
    assert gardner_capacity(0.0) == pytest.approx(2.0, abs=1e-15)


def test_cover_count():
    assert cover_probability(20, 10) == pytest.approx(0.5, abs=1e-12)
    assert cover_probability(3, 2) == 3 / 4  # of the 8 dichotomies of 3 lines in the plane, 6 can be had
    assert cover_probability(10, 10) == 1.0


def test_stored_row_drives_the_sequence():
    units, transitions = 20, 25
    sequence = random_sequence(units, transitions, seed=3)
    rows = [stored_row(sequence, i) for i in range(units)]
    assert all(row is not None for row in rows)
    J = np.array(rows)
    assert np.all(np.diag(J) == 0)
    state = sequence[0]
    for expected in sequence[1:]:
        state = np.sign(J @ state)
        np.testing.assert_array_equal(state, expected)


def test_what_cannot_be_stored():
    clash = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]])  # unit 0 would need both signs
    assert stored_row(clash, 0) is None
    assert longest_stored(clash, 0)[0] == 1
    assert largest_margin(clash, 0) == pytest.approx(0, abs=1e-12)


def test_experiment_follows_cover_and_crosses_one_half_at_2n():
    """60 rows of N = 40: the stored fraction within 0.2 of Cover's count (three errors), half at T = 2 N."""
    found = capacity_experiment(units=(20, 40), rows=60, max_load=3.0)
    assert found.status == "complete"
    for index, units in enumerate(found.units):
        loads = np.arange(1.0, 3.01, 0.25)
        exact = [cover_probability(int(load * units), units - 1) for load in loads]
        assert np.max(np.abs(found.stored_fraction(index, loads) - exact)) < 0.2
        assert found.half_load(index) == pytest.approx(2 * (units - 1) / units, abs=0.2)
    widths = [np.std(longest / units) for longest, units in zip(found.longest, found.units)]
    assert widths[1] < widths[0]  # the crossing sharpens


@pytest.mark.parametrize("load", [0.5, 1.0, 1.5])
def test_margin_of_stored_sequences(load):
    """N = 300, 12 rows: Gardner's alpha_c of the mean largest margin is T / N within 5%."""
    sequence = random_sequence(300, int(load * 300), seed=1)
    margins = [largest_margin(sequence, row) for row in range(12)]
    assert gardner_capacity(np.mean(margins)) == pytest.approx(load, rel=0.05)


def test_bad_arguments():
    with pytest.raises(errors.ArgumentError, match="margin is -1"):
        gardner_capacity(-1.0)
    with pytest.raises(errors.ArgumentError, match="units is 1"):
        capacity_experiment(units=(1,))
    with pytest.raises(errors.ArgumentError, match="rows is 0"):
        capacity_experiment(rows=0)
