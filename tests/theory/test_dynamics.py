"""The stationary chaotic state against known limits, its own equation, and simulated networks."""

import jax
import numpy as np
import pytest

from gnode import errors
from gnode.theory import RandomStack, chaotic_state, draw, simulate, two_time

STACKS = {
    "rate network": RandomStack(1, 2.0, activate_state=True),
    "depth 2": RandomStack(2, 1.5, "tanh"),
    "depth 3, biases": RandomStack(3, 2.0, "tanh", sigma_b=0.3),
    "relu, final tanh": RandomStack(3, 2.0, "relu", final="tanh"),
}


@pytest.mark.parametrize("stack", STACKS.values(), ids=STACKS)
def test_profile_solves_the_two_time_equation(stack):
    state = chaotic_state(stack, max_lag=40.0, points=4001)
    c, step = state.autocorrelation, state.lags[1]
    output, chi = two_time(stack, state.variance)(c)
    fourth = (-c[:-4] + 16 * c[1:-3] - 30 * c[2:-2] + 16 * c[3:-1] - c[4:]) / (12 * step**2)
    np.testing.assert_allclose(fourth, (c - output)[2:-2], atol=2e-5 * state.variance)
    np.testing.assert_allclose(state.susceptibility, chi)
    assert np.all(np.diff(c) < 0)
    assert c[0] == pytest.approx(state.variance, rel=1e-12)
    assert c[-1] == pytest.approx(state.plateau, abs=1e-3 * state.variance)
    assert state.energy_error < 1e-10
    assert state.exponent_error < 1e-6
    assert state.exponent > 0


def test_first_excited_state_is_marginal():
    """C_h' solves the eigenvalue equation at lambda = 0: it is the odd ground state."""
    from scipy import linalg

    state = chaotic_state(RandomStack(2, 1.5, "tanh"), max_lag=40.0, points=4001)
    step = state.lags[1]
    diagonal = 2 / step**2 - state.susceptibility[1:]  # Q(0) = 0
    side = np.full(len(diagonal) - 1, -1 / step**2)
    energy = linalg.eigh_tridiagonal(diagonal, side, eigvals_only=True, select="i", select_range=(0, 0))[0]
    assert np.sqrt(-energy) - 1 == pytest.approx(0, abs=1e-4)


def test_onset_of_chaos_of_the_rate_network():
    """lambda -> (g - 1)^2 / 2 and C_0 -> g - 1 as g -> 1 (Sompolinsky, Crisanti and Sommers)."""
    ratios = []
    for excess in (0.02, 0.01):
        state = chaotic_state(RandomStack(1, 1 + excess, activate_state=True), max_lag=8 / excess)
        ratios.append(state.exponent / (excess**2 / 2))
        assert state.variance == pytest.approx(excess, rel=2 * excess)
    assert 2 * ratios[1] - ratios[0] == pytest.approx(1, abs=0.01)  # the first correction is linear in the excess


def test_the_exponent_does_not_depend_on_the_lags_that_are_shown():
    """Near criticality everything is slow: the eigenvalue problem needs more time than anyone may want to look at."""
    stack = RandomStack(1, 1.02, activate_state=True)
    short, long = (chaotic_state(stack, max_lag=lag).exponent for lag in (40.0, 400.0))
    assert short == pytest.approx(long, rel=1e-9)
    assert short > 0


@pytest.mark.parametrize("sigma_w", [3.0, pytest.param(6.0, marks=pytest.mark.slow)])
def test_series_agree_with_closed_forms_as_well_as_they_say(sigma_w):
    """erf has a closed form; the same function without its name takes the Hermite series, which steep flanks make long."""
    closed = chaotic_state(RandomStack(2, sigma_w, "erf"))
    series = chaotic_state(RandomStack(2, sigma_w, lambda x: jax.scipy.special.erf(x)))
    assert abs(series.exponent - closed.exponent) <= series.exponent_error + closed.exponent_error
    assert closed.exponent_error < 1e-5
    assert sigma_w > 3 or series.exponent_error < 1e-7


def test_two_ways_to_write_one_network():
    """h = W y with dy/dt = -y + tanh(W y) obeys dh/dt = -h + W tanh(h): one exponent, g^2 times C_0."""
    inside, outside = (
        chaotic_state(RandomStack(1, 2.0, final="tanh")),
        chaotic_state(RandomStack(1, 2.0, activate_state=True)),
    )
    assert inside.exponent == pytest.approx(outside.exponent, abs=1e-9)
    assert 4 * inside.variance == pytest.approx(outside.variance, rel=1e-9)


@pytest.mark.slow
def test_simulated_networks():
    """Depth 2, sigma_w = 2.5, four networks each of width 300 and 600: C_h(tau) within 6% of C_0.

    The exponent falls short by a term in 1 / N, and extrapolated is within 6%.
    """
    stack = RandomStack(2, 2.5, "tanh")
    theory = chaotic_state(stack, max_lag=30.0, points=151)
    exponents, correlations = [], []
    for width in (300, 600):
        runs = [
            simulate(draw(stack, width, seed), duration=60.0, step=0.2, max_lag=6.0, batch=4, warm_up=20.0)
            for seed in range(4)
        ]
        exponents.append(np.mean([run.exponent for run in runs]))
        correlations.append(np.mean([run.autocorrelation for run in runs], axis=0))
    lags = slice(0, 16)  # up to tau = 3, where C_h has fallen by half
    np.testing.assert_allclose(correlations[1][lags], theory.autocorrelation[lags], atol=0.06 * theory.variance)
    assert exponents[0] < exponents[1] < theory.exponent
    assert 2 * exponents[1] - exponents[0] == pytest.approx(theory.exponent, rel=0.06)


def test_gates_slow_chaos_down():
    """mGRU of width 300, sigma_w = 2: gates of scale 5 lengthen the memory and lower the exponent."""
    stack = RandomStack(1, 2.0, final="tanh")
    free, gated = (simulate(draw(stack, 300, 1, sigma_z=z), duration=60.0, step=0.2, batch=4) for z in (0.0, 5.0))
    assert gated.exponent < 0.5 * free.exponent
    assert (
        gated.autocorrelation[25] / gated.autocorrelation[0] > free.autocorrelation[25] / free.autocorrelation[0] + 0.2
    )


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: chaotic_state(RandomStack(2, 0.9)), "only above the critical scale"),
        (lambda: chaotic_state(RandomStack(3, 1.2, sigma_b=0.5)), "only above the critical scale"),
        (lambda: chaotic_state(RandomStack(2, 1.5, "relu")), "no fixed point exists.* it runs away; .* final 'tanh'"),
        (lambda: chaotic_state(RandomStack(2, 1.5), max_lag=0.0), "max_lag is 0"),
    ],
)
def test_no_chaos(make, says):
    with pytest.raises(errors.ArgumentError, match=says):
        make()
