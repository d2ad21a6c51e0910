"""Related systems against their authors' own code: the numbers that `tests/fixtures/relatives` holds."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from three_eighths import three_eighths

from gnode import cells
from gnode.cells import GRUODE, CoRNN, FixedTimescale, HeavyBall, Stack
from gnode.errors import ArgumentError
from gnode.solve import Solver, rollout_batch
from gnode.solve._bin import moved
from gnode.solve._path import Bin

FIXTURES = Path(__file__).parent.parent / "fixtures" / "relatives"
SECOND = FixedTimescale(jnp.array(1.0))


def stored(name):
    return {key: jnp.asarray(value) for key, value in np.load(FIXTURES / f"{name}.npz").items()}


def states(cell, xs, h0, dt, method="euler"):
    """The states after each step of length dt / tau."""
    steps = jnp.full(xs.shape[:2], dt)
    return rollout_batch(cell, xs, h0, steps, Solver(method))


def gradient(cell, *how):
    """Of the sum of squares of the last state, as the fixtures have it."""
    return eqx.filter_grad(lambda cell: jnp.sum(states(cell, *how)[:, -1] ** 2))(cell)


@pytest.mark.parametrize("task", ["smnist", "adding"])
def test_cornn(task, x64):
    given = stored("cornn")
    dt, gamma, epsilon = given[f"{task}/dt_gamma_epsilon"]
    A, (D, N) = given["cell.i2h.weight"], (3, 4)
    U, V, W = A[:, :D], A[:, D : D + N], A[:, D + N :]
    cell = CoRNN(W, V, U, given["cell.i2h.bias"], FixedTimescale(jnp.array(1.0)), gamma, epsilon, D, N)
    how = given["xs"], jnp.concatenate([given["hy0"], given["hz0"]], -1), dt, cell.default_method
    expected = jnp.concatenate([given[f"{task}/hy"], given[f"{task}/hz"]], -1)
    np.testing.assert_allclose(states(cell, *how), expected, rtol=1e-10, atol=1e-12)
    found = gradient(cell, *how)
    columns = jnp.concatenate([found.U, found.V, found.W], 1)
    np.testing.assert_allclose(columns, given[f"{task}/gradient/cell.i2h.weight"], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.b, given[f"{task}/gradient/cell.i2h.bias"], rtol=1e-8, atol=1e-10)


def heavy_ball(given, kind):
    """Their f and m are -F and -z of the cell."""
    W, b = ([given[f"df.dense{layer}.{part}"] for layer in (1, 2, 3)] for part in ("weight", "bias"))
    F = Stack((*W[:2], -W[2]), jnp.zeros((3, 1)), (*b[:2], -b[2]), "relu", "identity")
    pull = None if kind == "hbnode" else given[f"{kind}/corr.param"][0]
    return HeavyBall(F, given[f"{kind}/gamma.param"][0], pull, SECOND, kind == "ghbnode", 1, 3)


@pytest.mark.parametrize("kind", ["hbnode", "hbnode_corrected", "ghbnode"])
def test_heavy_balls(kind, x64):
    given = stored("hbnode")
    cell = heavy_ball(given, kind)
    signs = jnp.array([1.0, -1.0])[:, None]
    ours = lambda y: (signs * y).reshape(*y.shape[:-2], 6)  # noqa: E731
    h0, x = ours(given["y0"]), jnp.zeros(1)
    speed = jax.vmap(cell.vector_field, (0, None))(h0, x)
    np.testing.assert_allclose(speed, ours(given[f"{kind}/drift"]), rtol=1e-10, atol=1e-12)
    step, times = float(given["step"]), np.asarray(given["times"])
    on_grid = np.flatnonzero(np.isclose(times / step, np.round(times / step)) & (times > 0))
    assert len(on_grid) >= 2
    bins = round(times[on_grid[-1]] / step)
    found = states(cell, jnp.zeros((2, bins, 1)), h0, step)
    for place in on_grid:
        expected = ours(given[f"{kind}/euler"][place])
        np.testing.assert_allclose(found[:, round(times[place] / step) - 1], expected, rtol=1e-10, atol=1e-12)
    assert_their_rule_of_order_4(cell, given, kind, (h0, ours))


def assert_their_rule_of_order_4(cell, given, kind, states_as):
    """States and gradients by the 3/8 rule, which torchdiffeq calls rk4. Only `ghbnode` trains its pull."""
    (h0, ours), step, times = states_as, float(given["step"]), np.asarray(given["times"])
    bin, ends = Bin(jnp.zeros(1), None, jnp.array(step)), np.round(times / step).astype(int)
    np.testing.assert_allclose(ends[[0, -1]] * step, times[[0, -1]], rtol=1e-12)

    def run(cell):
        one = jax.vmap(lambda h: moved(cell, h, bin, Solver("rk4"), three_eighths))
        return jnp.concatenate([h0[None], jax.lax.scan(lambda h, _: (one(h),) * 2, h0, length=ends[-1])[1]])

    found = jax.jit(run)(cell)
    for place in np.flatnonzero(np.isclose(ends * step, times)):
        np.testing.assert_allclose(found[ends[place]], ours(given[f"{kind}/rk4"][place]), rtol=1e-10, atol=1e-12)
    gradient = eqx.filter_jit(eqx.filter_grad(lambda cell: jnp.sum(run(cell)[-1] ** 2)))(cell)
    mine = {"gamma.param": jnp.atleast_1d(gradient.damping), "df.dense2.weight": gradient.F.W[1]}
    if kind == "ghbnode":
        mine["corr.param"] = jnp.atleast_1d(gradient.pull)
    stored_ones = {name.split("/")[-1] for name in given if name.startswith(f"{kind}/rk4/gradient/")}
    assert set(mine) == stored_ones
    for name, value in mine.items():
        np.testing.assert_allclose(value, given[f"{kind}/rk4/gradient/{name}"], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", ["full", "minimal", "full_autonomous", "minimal_autonomous"])
def test_gru_ode(kind, x64):
    """Their update gate is 1 - g, so that what leads to it has the other sign."""
    given = stored("gru_ode")
    weight = lambda name: given[f"{kind}/{name}.weight"]  # noqa: E731
    minimal = kind.startswith("minimal")
    rows = 8 if minimal else 12
    if minimal:
        W, U, b = jnp.concatenate([-weight("lin_hz"), weight("lin_hn")]), jnp.zeros((rows, 3)), jnp.zeros(rows)
        if "autonomous" not in kind:
            U = jnp.concatenate([-weight("lin_xz"), weight("lin_xn")])
            b = jnp.concatenate([-given[f"{kind}/lin_xz.bias"], given[f"{kind}/lin_xn.bias"]])
    else:
        W, U, b = (
            jnp.concatenate([weight("lin_hr"), -weight("lin_hz"), weight("lin_hh")]),
            jnp.zeros((rows, 3)),
            jnp.zeros(rows),
        )
        if "autonomous" not in kind:
            signs = jnp.repeat(jnp.array([1.0, -1.0, 1.0]), 4)
            U, b = signs[:, None] * weight("lin_x"), signs * given[f"{kind}/lin_x.bias"]
    cell = GRUODE(W, U, b, SECOND, minimal, 3, 4)
    how = given["xs"], given["h0"], given["delta_t"]
    speed = jax.vmap(cell.vector_field)(given["h0"], given["xs"][:, 0])
    np.testing.assert_allclose(speed, given[f"{kind}/dh"], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(states(cell, *how), given[f"{kind}/states"], rtol=1e-10, atol=1e-12)
    of_update_gate = -gradient(cell, *how).W[-8:-4]
    np.testing.assert_allclose(of_update_gate, given[f"{kind}/gradient/lin_hz.weight"], rtol=1e-8, atol=1e-10)


def test_undamped_oscillators_keep_their_energy_and_damped_ones_lose_it(x64):
    """Without coupling, y'' = -gamma y - epsilon y' has the energy (gamma y^2 + z^2) / 2."""
    for epsilon, kept in ((0.0, 1.0), (0.5, np.exp(-0.5 * 20))):
        cell = cells.cornn(1, 3, gamma=4.0, epsilon=epsilon, key=0)
        cell = eqx.tree_at(lambda c: (c.W, c.V, c.U), cell, replace_fn=jnp.zeros_like)
        h = jnp.concatenate([jnp.array([1.0, -0.5, 0.2]), jnp.zeros(3)])
        last = states(cell, jnp.zeros((1, 20_000, 1)), h[None], 1e-3, cell.default_method)[0, -1]
        energy = lambda h: jnp.sum(4.0 * h[:3] ** 2 + h[3:] ** 2) / 2  # noqa: E731
        assert energy(last) / energy(h) == pytest.approx(kept, rel=0.15 if epsilon else 5e-3)


def test_the_rule_of_pytorch():
    cell = cells.cornn(30, 100, key=0)
    bound = 1 / np.sqrt(30 + 200)
    A = np.concatenate([cell.U, cell.V, cell.W], 1)
    assert np.abs(A).max() == pytest.approx(bound, rel=1e-3)
    assert A.std() == pytest.approx(bound / np.sqrt(3), rel=0.02)
    assert np.abs(cells.hbnode(3, 4, widths=(50,), key=0).F.W[1]).max() <= 1 / np.sqrt(50)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: cells.cornn(1, 2, gamma=-1.0, key=0), "gamma is -1"),
        (lambda: cells.cornn(1, 2, epsilon=float("nan"), key=0), "epsilon is nan"),
        (lambda: cells.cornn(1, 2, init="critical", key=0), "init is critical"),
        (lambda: cells.hbnode(1, 2, init="critical", key=0), "init is critical"),
        (lambda: cells.ghbnode(1, 2, widths=(0,), key=0), "widths is 0"),
        (lambda: cells.gru_ode(1, 2, minimal="perhaps", key=0), "minimal is 'perhaps'"),
    ],
)
def test_bad_arguments_are_one_sentence(make, says):
    with pytest.raises(ArgumentError, match=says):
        make()
