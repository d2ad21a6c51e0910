"""Networks of low rank: the rank after training, states in the span of few vectors, and a fixed point in closed form."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special

from gnode import Sweep, cells, rollout
from gnode.errors import ArgumentError

SMALL = "--state 12 --trials 24 --bins 12 --epochs 2 --batch-size 8"


def test_the_rank_is_kept_by_training_and_is_an_axis(gnode_command, tmp_path):
    axes = f"--model lowrank --rank 1,3 --lr 0.1 --engine one_program {SMALL}"
    gnode_command(f"sweep run flipflop-square {axes} --out", tmp_path / "grid").ok()
    sweep = Sweep(tmp_path / "grid")
    for member, rank in enumerate((1, 3)):
        cell = sweep.load(member).net.cell
        assert np.linalg.matrix_rank(np.asarray(cell.recurrent, np.float64), rtol=1e-5) == rank
        assert not np.allclose(cell.M.T @ cell.M, 12 * np.eye(rank), rtol=1e-3)  # it was trained


def test_equation(x64):
    cell = cells.lowrank(2, 10, rank=3, bias_std=0.2, tau=0.5, key=1)
    h, x = jax.random.normal(jax.random.key(0), (10,)), jnp.array([0.3, -1.0])
    M, N, U, b = (np.asarray(part) for part in (cell.M, cell.N, cell.U, cell.b))
    np.testing.assert_allclose(cell.vector_field(h, x), (-h + M @ N.T @ np.tanh(h) / 10 + U @ x + b) / 0.5, atol=1e-12)


def test_states_stay_in_the_span_of_M_and_U(x64):
    cell = cells.lowrank(2, 40, rank=2, init="kaiming_normal", key=2)
    xs = np.random.default_rng(0).normal(size=(30, 2))
    states = np.asarray(rollout(cell, xs, np.zeros(40), dt=0.3))
    basis = np.linalg.qr(np.concatenate([cell.M, cell.U], axis=1))[0]
    assert np.abs(states).max() > 0.1
    np.testing.assert_allclose(states - states @ basis @ basis.T, 0, atol=1e-12)


@pytest.mark.parametrize(("init", "hidden", "eigenvalue"), [
    ("critical", "tanh", 1.0), ("critical", "sigmoid", 4.0), ("critical", "relu", 2.0),
    ("glorot_uniform", "tanh", 1.0), ("kaiming_normal", "tanh", 2**0.5),
])  # fmt: skip
def test_eigenvalues_at_the_start(init, hidden, eigenvalue, x64):
    found = np.linalg.eigvals(np.asarray(cells.lowrank(2, 30, rank=3, init=init, hidden=hidden, key=0).recurrent))
    np.testing.assert_allclose(np.sort(np.abs(found)), [*[0] * 27, *[eigenvalue] * 3], atol=1e-7)


def test_rank_one_fixed_point_in_closed_form(x64):
    """With N = g M, Gaussian M and phi = erf:  kappa = g E[m erf(kappa m)]  gives  kappa^2 = (4 g^2 / pi - 1) / 2."""
    units, g = 2000, 1.5
    M = special.ndtri((np.arange(units) + 0.5) / units)[:, None]
    cell = cells.lowrank(1, units, hidden="erf", key=0)
    cell = eqx.tree_at(lambda c: (c.M, c.N), cell, (jnp.asarray(M), jnp.asarray(g * M)))
    last = np.asarray(rollout(cell, np.zeros((100, 1)), 0.1 * M[:, 0], dt=0.5))[-1]
    kappa = last @ M[:, 0] / (M[:, 0] @ M[:, 0])
    np.testing.assert_allclose(last, kappa * M[:, 0], atol=1e-9)
    assert kappa == pytest.approx(np.sqrt((4 * g**2 / np.pi - 1) / 2), rel=3e-3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rank": 11}, "rank is 11, but must be at most the number of units, which is 10"),
        ({"rank": 0}, "rank is 0"),
        ({"hidden": "step", "init": "critical"}, "the slope of step at 0 is 0"),
        ({"hidden": "tanhh"}, "Did you mean 'tanh'"),
    ],
)
def test_bad_values(options, words):
    with pytest.raises(ArgumentError, match=words):
        cells.lowrank(2, 10, key=0, **options)


def test_a_rank_above_the_state_is_one_sentence(gnode_command):
    assert "rank is 7" in gnode_command("train flipflop-square --model lowrank --state 6 --rank 7").one_sentence()
