"""Dale's law: signs and missing connections hold after every update, on every way through training and folders."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import special

from gnode import Sweep, cells, load, resume, trainable
from gnode.errors import ArgumentError
from gnode.train import run_folder

SMALL = "--state 6 --trials 24 --bins 12 --epochs 2 --batch-size 8 --lr 0.3 --weight-decay 0.5"
SETTINGS, UPDATES = 200, 5


def violations(cell):
    """How many weights have the wrong sign, or are there though the mask says no."""
    W, mask, signs = (np.asarray(part) for part in (cell.recurrent, cell.mask, cell.signs))
    return np.sum(W * signs < 0) + np.sum(W[mask == 0] != 0)


def test_no_violation_in_random_updates():
    """200 settings, five updates each, with learning rates up to 10, decay, and gradients of random size."""
    rng, law = np.random.default_rng(0), jnp.asarray
    optimisers = [partial(optax.adamw, weight_decay=1.0), optax.sgd, optax.rmsprop, optax.lion]
    start = cells.dale(2, 7, density=0.5, self_connections=False, key=0)
    for setting in range(SETTINGS):
        n_E = int(rng.integers(0, 8))
        mask, signs = rng.random((7, 7)) < rng.random(), np.where(np.arange(7) < n_E, 1.0, -1.0)
        cell = eqx.tree_at(lambda c: (c.mask, c.signs), start, (law(mask, jnp.float32), law(signs, jnp.float32)))
        before = np.asarray(cell.mask), np.asarray(cell.signs)
        weights, rest = eqx.partition(cell, trainable(cell))
        update = optimisers[setting % 4](10 ** rng.uniform(-3, 1))
        memory = update.init(weights)
        for _ in range(UPDATES):
            size = 10 ** rng.uniform(-2, 3)
            gradient = jax.tree.map(lambda w: size * rng.normal(size=w.shape).astype(np.float32), weights)  # noqa: B023
            change, memory = update.update(gradient, memory, weights)
            weights = optax.apply_updates(weights, change)
            cell = eqx.combine(weights, rest)
            assert violations(cell) == 0
        assert np.array_equal(cell.mask, before[0])
        assert np.array_equal(cell.signs, before[1])


def test_it_trains_loads_and_resumes_with_its_signs(gnode_command, tmp_path):
    folder = tmp_path / "run"
    options = f"--model dale --excitatory 0.5 --density 0.6 --self-connections no --init critical {SMALL}"
    assert "finished 2 epochs" in gnode_command(f"train flipflop-square {options} --out", folder).ok()
    run = load(folder)
    cell = run.net.cell
    drawn = np.asarray(cell.recurrent)
    assert violations(cell) == 0
    assert np.array_equal(cell.signs, [1, 1, 1, -1, -1, -1])
    assert not np.diag(cell.mask).any()
    assert np.asarray(cell.mask).sum() == 6 * 3  # one of the two others of its kind, two of the three of the other
    assert np.any(drawn)
    (folder / run_folder.RESULT).unlink()  # as if it had been killed after its last checkpoint
    again = resume(folder)
    assert again.best_loss == run.best_loss
    assert violations(again.net.cell) == 0
    assert np.array_equal(again.net.cell.recurrent, drawn)


@pytest.mark.parametrize("engine", ["threads", "one_program"])
def test_shares_are_axes_that_compile_once(engine, gnode_command, tmp_path):
    axes = f"--model dale --excitatory 0.5,0.8 --density 0.5,1 --engine {engine} {SMALL}"
    assert "4 members in 1 group, 1 compilation" in gnode_command(f"sweep run flipflop-square {axes} --dry-run").ok()
    gnode_command(f"sweep run flipflop-square {axes} --out", tmp_path / "grid").ok()
    sweep = Sweep(tmp_path / "grid")
    found = [sweep.load(member).net.cell for member in range(4)]
    assert [violations(cell) for cell in found] == [0] * 4
    assert [int(np.sum(cell.signs > 0)) for cell in found] == [3, 3, 5, 5]
    assert [bool(np.all(cell.mask)) for cell in found] == [False, True, False, True]


@pytest.mark.parametrize("hidden", ["relu", "softplus", "sigmoid"])
def test_equation_rates_and_the_uniform_fixed_point(hidden, x64):
    cell = cells.dale(2, 20, hidden=hidden, tau=0.5, density=0.5, init="critical", key=1)
    phi = {"relu": lambda h: np.maximum(h, 0), "softplus": lambda h: np.logaddexp(h, 0), "sigmoid": special.expit}
    h, x = jax.random.normal(jax.random.key(0), (20,)), jnp.array([0.3, -1.0])
    W = np.asarray(cell.mask) * np.abs(np.asarray(cell.A)) * np.asarray(cell.signs)[None, :]
    expected = (-h + W @ phi[hidden](np.asarray(h)) + np.asarray(cell.U) @ x + np.asarray(cell.b)) / 0.5
    np.testing.assert_allclose(cell.vector_field(h, x), expected, atol=1e-12)
    assert np.all(cell.visible(h) >= 0)
    np.testing.assert_allclose(cell.vector_field(cell.b, jnp.zeros(2)), np.zeros(20), atol=1e-12)


def test_empirical_critical_puts_every_draw_at_the_edge(x64):
    cell = cells.dale(2, 30, hidden="sigmoid", init="empirical_critical", key=3)
    assert np.linalg.eigvals(np.asarray(cell.recurrent)).real.max() / 4 == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"excitatory": -0.1}, "excitatory is -0.1"),
        ({"density": 0}, "density is 0"),
        ({"hidden": "tanh"}, "hidden is 'tanh', but must be one of: relu, softplus, sigmoid"),
        ({"baseline": 0.0, "init": "critical"}, "baseline is 0"),
        ({"excitatory": 1.0, "init": "critical"}, "needs at least two units"),
        ({"baseline": float("nan")}, "baseline is nan"),
    ],
)
def test_bad_values(options, words):
    with pytest.raises(ArgumentError, match=words):
        cells.dale(2, 10, key=0, **options)


def test_bad_values_on_the_command_line(gnode_command):
    train = "train flipflop-square --model dale"
    assert "excitatory is 2" in gnode_command(f"{train} --excitatory 2").one_sentence()
    other = gnode_command("train flipflop-square --model rnn --density 0.5").one_sentence()
    assert "'rnn' has no setting 'density'; it belongs to dale" in other


def test_own_masks_and_signs_are_checked():
    cell = cells.dale(1, 3, key=0)
    fields = {name: getattr(cell, name) for name in cell.__dataclass_fields__}
    with pytest.raises(ArgumentError, match="signs holds other numbers than -1 and 1"):
        cells.Dale(**fields | {"signs": jnp.array([1.0, 0.5, -1.0])})
