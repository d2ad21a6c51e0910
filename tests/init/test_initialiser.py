"""Initialisers: the paper's variances, measured on large draws, and critical scales."""

import math

import jax
import numpy as np
import pytest

from gnode import cells
from gnode.errors import ArgumentError
from gnode.init import INITIALISERS, Initialiser, initialiser
from gnode.theory import critical_sigma_w

OUT, IN = 900, 600


@pytest.mark.parametrize(
    ("name", "variance"),
    [
        ("glorot_uniform", 2 / (IN + OUT)),
        ("glorot_normal", 2 / (IN + OUT)),
        ("kaiming_uniform", 2 / IN),
        ("kaiming_normal", 2 / IN),
    ],
)
def test_variance(name, variance):
    W = np.asarray(INITIALISERS[name].weight(jax.random.key(0), (OUT, IN)))
    # 540,000 draws: the standard error of a variance is at most sqrt(2 / 540000) = 0.2% of it.
    assert W.var() == pytest.approx(variance, rel=0.01)
    assert abs(W.mean()) < 5 * math.sqrt(variance / W.size)
    if name.endswith("uniform"):
        assert np.abs(W).max() <= math.sqrt(3 * variance) * (1 + 1e-6)
    else:
        assert np.abs(W).max() > 4 * math.sqrt(variance)  # a normal draw is not truncated


def test_biases():
    assert not np.any(INITIALISERS["glorot_normal"].bias(jax.random.key(0), 50))
    small = initialiser("glorot_normal", bias_std=1e-3).bias(jax.random.key(0), 20_000)
    assert np.asarray(small).var() == pytest.approx(1e-6, rel=0.05)


def abscissa(F, h):
    """The measured spectral abscissa of -I + dF/dh."""
    J = np.asarray(jax.jacfwd(F)(h, jax.numpy.zeros(F.U.shape[1])), np.float64)
    return np.linalg.eigvals(J).real.max() - 1


@pytest.mark.parametrize("scaling", ["critical", "critical_glorot"])
@pytest.mark.parametrize(
    ("widths", "options"),
    [
        ((), {"final": "tanh"}),
        ((1200,), {}),
        ((800, 800), {}),
        ((300, 900), {}),
        ((600,), {"hidden": "tanh"}),
        ((600, 600), {"hidden": "tanh", "final": "tanh"}),
        ((600,), {"activate_state": True}),
        ((), {"activate_state": True}),
        ((), {"activate_state": True, "hidden": "erf"}),
    ],
)
def test_critical_stacks_have_unit_gain_near_zero(scaling, widths, options):
    """Near h = 0 with zero bias, E |J v|^2 / |v|^2 = rho^2 = 1, averaged over draws; any depth, activation and shape."""
    state, gains = 400, []
    for seed in range(8):
        F = cells.node(1, state, widths=widths, init=scaling, key=seed, **options).F
        h = 1e-3 * jax.random.normal(jax.random.key(seed + 100), (state,))
        v = jax.random.normal(jax.random.key(seed + 200), (state,))
        pushed = jax.jvp(lambda h, F=F: F(h, jax.numpy.zeros(1)), (h,), (v,))[1]
        gains.append(float(np.sum(pushed**2) / np.sum(v**2)))
    # The squared gain of one draw fluctuates by about sqrt(2 L / 400) = 0.1, so the mean of 8 by 0.04.
    assert np.mean(gains) == pytest.approx(1.0, abs=0.12)


def near_the_edge(networks, places, **options):
    """Returns the abscissa of each of several networks of width 1000 near h = 0, averaged over `places`.

    The Jacobian of a ReLU network depends on the direction of the displacement from 0.
    """
    found = []
    for seed in range(networks):
        F = cells.gnode(1, 1000, init="critical", key=seed, **options).F
        states = 0.01 * jax.random.normal(jax.random.key(seed + 100), (places, 1000))
        found.append(np.mean([abscissa(F, h) for h in states]))
    return np.array(found)


def test_critical_at_width_1000_is_within_005_of_the_edge():
    """Depth 2, each of three networks."""
    found = near_the_edge(3, places=2, widths=(1000,))
    assert np.all(np.abs(found) < 0.05), found


def test_critical_at_width_1000_and_depth_3_is_within_005_of_the_edge_on_average():
    """One state of each of three networks."""
    found = near_the_edge(3, places=1, widths=(1000, 1000))
    assert abs(found.mean()) < 0.05, found


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{}, {"final": "tanh"}, {"hidden": "tanh", "final": "tanh"}],
    ids=["relu", "relu, final tanh", "tanh"],
)
def test_most_critical_networks_of_depth_3_are_within_005_of_the_edge(options):
    """The mean of 16 networks and at least 13 of them: the rightmost of 1000 eigenvalues fluctuates by about 0.03."""
    found = near_the_edge(16, places=1 if "hidden" in options else 8, widths=(1000, 1000), **options)
    assert abs(found.mean()) < 0.05, found
    assert np.sum(np.abs(found) < 0.05) >= 13, found


def test_empirical_critical_is_exactly_critical_where_it_was_measured():
    """The public code's reading: gain 1, then every W scaled by (1 / (eta + 1))^(1/L)."""
    for widths in ((), (40,), (40, 50)):
        key = jax.random.key(4)
        F = cells.node(1, 30, widths=widths, hidden="relu", init="empirical_critical", key=key).F
        drawn_at = jax.random.fold_in(jax.random.split(key)[0], 1)
        h = math.sqrt(2 / 31) * jax.random.normal(drawn_at, (30,))
        assert abscissa(F, h) == pytest.approx(0.0, abs=1e-4)


def test_empirical_critical_and_theory_agree_for_wide_networks():
    by_theory, by_measure = (
        cells.node(1, 800, widths=(800,), init=name, key=0).F.W[0] for name in ("critical", "empirical_critical")
    )
    assert np.std(by_measure) / np.std(by_theory) == pytest.approx(1.0, abs=0.05)


def test_critical_changes_F_alone():
    plain, critical = (cells.gnode(2, 50, widths=(60,), init=name, key=0) for name in ("kaiming_normal", "critical"))
    ratio = np.asarray(critical.F.W[0]) / np.asarray(plain.F.W[0])
    np.testing.assert_allclose(ratio, 2 ** (-1 / 4), rtol=1e-5)  # sigma_w* / sqrt 2 at depth 2
    np.testing.assert_array_equal(critical.G.W[0], plain.G.W[0])
    np.testing.assert_array_equal(critical.F.U, plain.F.U)


def test_bad_rules():
    with pytest.raises(ArgumentError, match="scaling is 'xavier'"):
        Initialiser("xavier")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="bias_std is -1"):
        initialiser("critical", bias_std=-1)


@pytest.mark.parametrize("cell", [cells.gru, cells.lstm, cells.lem])
@pytest.mark.parametrize("init", ["critical", "empirical_critical"])
def test_cells_without_a_known_critical_scale_refuse_it(cell, init):
    with pytest.raises(ArgumentError, match="gated family only"):
        cell(2, 3, init=init, key=0)


def test_a_field_without_a_slope_cannot_be_rescaled():
    with pytest.raises(ArgumentError, match="which no scale makes critical"):
        cells.node(2, 4, widths=(5,), hidden="step", init="empirical_critical", key=0)


def test_a_scale_at_which_the_state_runs_away_is_said():
    found = critical_sigma_w(2, "silu", sigma_b=0.3, aspect=(400, 500, 400))
    assert found.status == "runaway"
    with pytest.warns(UserWarning, match=f"before any scale is critical .*sigma_w = {found.sigma_w:.4g}"):
        F = cells.node(2, 400, widths=(500,), hidden="silu", init="critical", bias_std=0.3, key=0).F
    for W in F.W:  # still drawn at that edge
        assert np.std(W) * math.sqrt(W.shape[1]) == pytest.approx(found.sigma_w, rel=0.01)
