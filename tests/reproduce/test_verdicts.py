"""Verdicts on hand-computed cases: two groups of seeds, bounds, and how several comparisons make one."""

import math

import numpy as np
import pytest
from scipy import stats

from gnode.reproduce.verdicts import (
    FAILS,
    FLOOR,
    HOLDS,
    NEGLIGIBLE,
    OPEN,
    TIE,
    Group,
    above,
    all_of,
    below,
    higher,
    lower,
    most_of,
    of_stored,
    opposite,
    tally,
)


def test_the_standard_error_is_that_of_welchs_test():
    """By hand: 1, 2, 3 has the variance 1 of n - 1, so 1 / sqrt(3); scipy's statistic is the difference over both."""
    first, second = [1.0, 2.0, 3.0], [4.0, 4.5, 7.0, 8.5]
    groups = Group.of(first), Group.of(second)
    assert groups[0].standard_error == pytest.approx(1 / math.sqrt(3))
    assert groups[1].standard_error == pytest.approx(stats.sem(second))
    error = math.hypot(*(group.standard_error for group in groups))
    expected = stats.ttest_ind(second, first, equal_var=False).statistic
    assert (groups[1].mean - groups[0].mean) / error == pytest.approx(expected)


@pytest.mark.parametrize(
    ("second", "verdict"),
    # e = hypot(0.3, 0.4) = 0.5, so a difference decides beyond 1
    [(3.01, HOLDS), (3.0, TIE), (2.0, TIE), (1.0, TIE), (0.99, FAILS)],
)
def test_two_standard_errors_decide(second, verdict):
    five = math.sqrt(4)  # n - 1 = 4
    first, other = Group(2.0, 0.3 * five, 5), Group(second, 0.4 * five, 5)
    assert lower(first, other) == verdict
    assert higher(other, first) == verdict


def test_a_published_deviation_is_of_n_minus_1():
    group = Group.published(0.552, 0.019)
    assert group.standard_error == pytest.approx(0.019 / math.sqrt(5))
    assert Group.of([0.5, 0.6]).std == pytest.approx(np.std([0.5, 0.6]))


def test_a_tie_of_stored_results_is_a_tie():
    """Noise at N = 10, tau = 30 s: 0.325 +- 0.010 against 0.336 +- 0.016, five seeds."""
    assert lower(Group(0.336, 0.016, 5), Group(0.325, 0.010, 5)) == TIE


def test_both_negligible_is_a_floor_and_one_of_them_is_not():
    tiny, tinier = Group(5e-7, 1e-9, 5), Group(1e-10, 1e-12, 5)
    assert lower(tinier, tiny, NEGLIGIBLE) == FLOOR
    assert lower(tiny, tinier, NEGLIGIBLE) == FLOOR
    assert lower(tinier, Group(0.05, 0.01, 5), NEGLIGIBLE) == HOLDS
    assert lower(tinier, tiny) == HOLDS  # without a floor


def test_a_single_network_or_a_loss_that_is_not_finite_decides_no_comparison():
    assert lower(Group(0.1), Group(0.2, 0.01, 3)) == OPEN
    assert lower(Group(float("nan"), 0.1, 3), Group(0.2, 0.01, 3)) == OPEN
    assert lower(Group(float("inf"), float("nan"), 3), Group(0.2, 0.01, 3)) == OPEN


def test_bounds():
    assert below([0.001, 0.002, 0.2], 0.01) == HOLDS  # two of three, though the mean is 0.068
    assert below([0.237, 0.0022, 0.1], 0.01) == FAILS
    assert below([0.001, 0.2], 0.01) == TIE
    assert below([], 0.01) == OPEN
    assert below(Group(0.0185, 0.00123, 3), 0.02) == TIE  # 0.0015 is less than 2 * 0.00087
    assert above(Group(0.03, 0.001, 3), 0.02) == HOLDS
    assert below(Group(0.0078), 0.01) == HOLDS  # one network


def test_the_worst_decides_all_and_more_than_half_of_the_decided_decide_most():
    assert all_of([HOLDS, HOLDS]) == HOLDS
    assert all_of([HOLDS, TIE]) == TIE
    assert all_of([HOLDS, TIE, OPEN]) == OPEN
    assert all_of([HOLDS, TIE, OPEN, FAILS]) == FAILS
    assert all_of([HOLDS, FLOOR]) == HOLDS
    assert all_of([FLOOR, FLOOR]) == FLOOR
    assert all_of([]) == OPEN
    assert most_of([HOLDS, HOLDS, FAILS, TIE, TIE, TIE]) == HOLDS  # half of them are ties, and two of three hold
    assert most_of([HOLDS, HOLDS, TIE, TIE, TIE]) == TIE
    assert most_of([HOLDS, FAILS]) == FAILS
    assert most_of([TIE, FLOOR]) == TIE
    assert most_of([FLOOR]) == FLOOR
    assert most_of([]) == OPEN
    assert [opposite(verdict) for verdict in (HOLDS, FAILS, TIE)] == [FAILS, HOLDS, TIE]
    assert tally([HOLDS, TIE, HOLDS]) == {HOLDS: 2, TIE: 1}


def test_old_claims_knew_yes_no_and_none():
    assert [of_stored({"holds": holds}) for holds in (True, False, None)] == [HOLDS, FAILS, OPEN]
    assert of_stored({"holds": True, "verdict": TIE}) == TIE
