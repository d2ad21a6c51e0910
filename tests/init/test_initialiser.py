"""The variances that the paper writes down, measured on large draws."""

import math

import jax
import numpy as np
import pytest

from gnode import cells
from gnode.errors import ArgumentError
from gnode.init import INITIALISERS, Initialiser, initialiser

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
        assert np.abs(W).max() > 4 * math.sqrt(variance)  # a normal draw is not cut off


def test_biases():
    assert not np.any(INITIALISERS["glorot_normal"].bias(jax.random.key(0), 50))
    small = initialiser("glorot_normal", bias_std=1e-3).bias(jax.random.key(0), 20_000)
    assert np.asarray(small).var() == pytest.approx(1e-6, rel=0.05)


@pytest.mark.parametrize("scaling", ["critical", "critical_glorot"])
@pytest.mark.parametrize("widths", [(), (1200,), (800, 800)])
def test_critical_stack_has_unit_radius_at_zero(scaling, widths):
    """At h = 0 with zero bias, dF/dh of a ReLU stack has mean squared gain one: |J v|^2 / |v|^2, averaged over draws."""
    state = 400
    hidden = {"hidden": "relu"}
    gains = []
    for seed in range(6):
        F = cells.node(1, state, widths=widths, init=scaling, key=seed, **hidden).F
        h = 1e-3 * jax.random.normal(jax.random.key(seed + 100), (state,))
        v = jax.random.normal(jax.random.key(seed + 200), (state,))
        pushed = jax.jvp(lambda h, F=F: F(h, np.zeros(1, np.float32) + jax.numpy.zeros(1)), (h,), (v,))[1]
        gains.append(float(np.sum(pushed**2) / np.sum(v**2)))
    assert np.mean(gains) == pytest.approx(1.0, abs=0.12)


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
