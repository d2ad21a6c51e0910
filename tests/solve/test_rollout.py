"""Rollouts: time, memory and gradients."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gnode import cells, rollout
from gnode.errors import ArgumentError
from gnode.solve import METHODS, Solver

RNG = np.random.default_rng(0)
XS, H0 = RNG.normal(size=(7, 2)), RNG.normal(size=3)
SMOOTH = ("gnode", "node", "hbnode", "ghbnode", "ncde", "gated_ncde", "nsde", "gated_nsde")
STEPS = {"gru_ode_bayes": 1e-5, "s4d": 1e-4}
"""Steps of finite differences other than 1e-3: relu units have kinks, and fast modes large derivatives."""


def make(name="gnode"):
    options = {"widths": (6,), "hidden": "tanh"} if name in SMOOTH else {}
    if "bias_std" in cells.CELLS[name].options:
        options["bias_std"] = 0.2
    return cells.CELLS[name](2, 3, tau=0.5, key=1, **options)


def test_euler_written_out_in_numpy(x64):
    cell, h, expected = make(), jnp.asarray(H0), []
    for x in jnp.asarray(XS):
        h = h + 0.1 * cell.vector_field(h, x)
        expected.append(h)
    np.testing.assert_allclose(rollout(cell, XS, H0, dt=0.1), expected, atol=1e-13)


def test_unequal_steps_and_edges_and_starts_say_the_same(x64):
    cell = make()
    steps = RNG.uniform(0.05, 0.2, 7)
    edges = np.concatenate([[0.3], 0.3 + np.cumsum(steps)])
    by_steps = rollout(cell, XS, H0, dt=steps)
    np.testing.assert_allclose(rollout(cell, XS, H0, ts=edges), by_steps, atol=1e-13)
    steps[-1] = steps[-2]
    np.testing.assert_allclose(rollout(cell, XS, H0, ts=edges[:-1]), rollout(cell, XS, H0, dt=steps), atol=1e-13)


def test_times_per_trial_under_vmap(x64):
    cell = make()
    steps = RNG.uniform(0.05, 0.2, (4, 7))
    batch = np.stack([XS] * 4)
    many = jax.vmap(lambda xs, dt: rollout(cell, xs, jnp.asarray(H0), dt=dt))(batch, steps)
    for one, dt in zip(many, steps):
        np.testing.assert_allclose(one, rollout(cell, XS, H0, dt=dt), atol=1e-12)


@pytest.mark.parametrize("method", ["euler", "rk4", "tsit5"])
def test_a_bin_of_length_zero_leaves_the_state_alone(method, x64):
    steps = np.array([0.1, 0.1, 0.0, 0.0, 0.1, 0.1, 0.1])
    states = rollout(make(), XS, H0, dt=steps, method=method)
    np.testing.assert_allclose(states[2], states[1], atol=0)
    np.testing.assert_allclose(states[3], states[1], atol=0)


def test_a_held_input_does_not_leak_across_its_edge(x64):
    """The state at the end of bin t must not depend on x_(t+1), for any method; with a linear input it must."""
    other = XS.copy()
    other[3] += 1.0
    cell = make()
    for method in ("heun", "rk4", "tsit5", "kvaerno5"):
        a, b = (rollout(cell, xs, H0, dt=0.3, method=method) for xs in (XS, other))
        np.testing.assert_array_equal(a[:3], b[:3])
        assert float(jnp.max(jnp.abs(a[3] - b[3]))) > 1e-3
    a, b = (rollout(make(), xs, H0, dt=0.3, method="rk4", interpolation="linear") for xs in (XS, other))
    np.testing.assert_array_equal(a[:2], b[:2])
    assert float(jnp.max(jnp.abs(a[2] - b[2]))) > 1e-4


@pytest.mark.parametrize("time", [1, 2, 16, 23])
def test_checkpointing_changes_memory_not_numbers(time, x64):
    xs = jnp.asarray(RNG.normal(size=(time, 2)))

    def loss(cell, xs, h0, memory):
        return jnp.sum(rollout(cell, xs, h0, dt=0.1, memory=memory) ** 2)

    @eqx.filter_jit
    def both(*given):
        return [eqx.filter_value_and_grad(loss)(*given, memory) for memory in ("store", "checkpoint")]

    (stored, g_stored), (again, g_again) = both(make(), xs, jnp.asarray(H0))
    np.testing.assert_allclose(stored, again, rtol=1e-14)
    for a, b in zip(jax.tree.leaves(g_stored), jax.tree.leaves(g_again)):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


def test_checkpointing_saves_memory():
    """The backward pass keeps at least five times fewer bytes with T = 900."""
    cell, xs = cells.gnode(2, 4, widths=(32, 32), key=0), jnp.zeros((900, 2))

    def kept(memory):
        def run(cell):
            return jax.vjp(lambda c: rollout(c, xs, jnp.zeros(4), dt=0.1, memory=memory), cell)[1]

        shapes = jax.eval_shape(run, cell)
        return sum(np.prod(leaf.shape) * 4 for leaf in jax.tree.leaves(shapes))

    assert kept("checkpoint") * 5 < kept("store")


def gradients(name, solver, direction):
    """The analytic and the finite-difference derivative of a scalar of the rollout along a random direction of weights."""
    cell = make(name)
    h0 = jnp.linspace(-0.5, 0.5, cell.state_size)
    weights = jax.random.normal(jax.random.key(9), (cell.state_size,))

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def loss(cell):
        return jnp.sum(jnp.tanh(rollout(cell, XS[:4], h0, dt=0.3, method=solver)) @ weights)

    gradient = loss(cell)[1]
    tangent = jax.tree.map(lambda leaf: direction.normal(size=leaf.shape), eqx.filter(cell, eqx.is_inexact_array))
    analytic = sum(jnp.sum(g * t) for g, t in zip(jax.tree.leaves(gradient), jax.tree.leaves(tangent)))
    # Fourth-order central difference: error of order step^4.
    step = STEPS.get(name, 1e-3)
    f = [loss(jax.tree.map(lambda leaf, t, s=s: leaf + s * step * t, cell, tangent))[0] for s in (-2, -1, 1, 2)]
    return float(analytic), float((f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * step))


EXACT = [method for method in METHODS if method not in ("forward_backward_euler", "kvaerno5", "own")]
CASES = [(name, Solver("euler")) for name in cells.CELLS] + [("lem", Solver("forward_backward_euler"))]
CASES += [(name, Solver("own")) for name in cells.CELLS if make(name).has("own_step")]
CASES += [("gnode", Solver(method, substeps=1 if method == "tsit5" else 2)) for method in EXACT]
CASES += [(name, Solver("euler", memory="checkpoint", substeps=2)) for name in ("gnode", "lstm")]
CASES += [("gnode", Solver("rk4", interpolation="linear")), ("gru", Solver("kvaerno5", rtol=1e-9, atol=1e-9))]
IDS = [f"{name}-{s.method}-{s.memory}-{s.interpolation}" for name, s in CASES]


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        pytest.param(*case, marks=[pytest.mark.slow] * (case[1].method in ("kvaerno5", "midpoint", "rk4")))
        for case in CASES
    ],
    ids=IDS,
)
def test_discretise_then_optimise_is_the_derivative_of_the_steps(name, solver, x64):
    if solver.method == "tsit5":  # the number of steps jumps with the parameters; at a tight tolerance by very little
        solver = dataclasses.replace(solver, rtol=1e-10, atol=1e-11)
    analytic, measured = gradients(name, solver, np.random.default_rng(3))
    assert analytic == pytest.approx(measured, rel=1e-6)


QUICKEST = ("gnode", "gru")


@pytest.mark.parametrize(
    "name", [name if name in QUICKEST else pytest.param(name, marks=pytest.mark.slow) for name in cells.CELLS]
)
def test_optimise_then_discretise_agrees_when_the_flow_is_resolved(name, x64):
    solver = Solver("tsit5", rtol=1e-9, atol=1e-10, adjoint="optimise_then_discretise")
    analytic, measured = gradients(name, solver, np.random.default_rng(3))
    assert analytic == pytest.approx(measured, rel=1e-5)


def test_optimise_then_discretise_by_euler_is_close_but_not_exact(x64):
    """The two adjoints differ by the discretisation error, which decreases with the step."""
    misses = []
    for substeps in (4, 32):
        solver = Solver("euler", substeps=substeps, adjoint="optimise_then_discretise")
        analytic, measured = gradients("gnode", solver, np.random.default_rng(3))
        misses.append(abs(analytic - measured) / abs(measured))
    assert 1e-6 < misses[1] < misses[0] / 4


@pytest.mark.parametrize(
    ("xs", "h0", "time", "word"),
    [
        (np.zeros((7, 3)), H0, {"dt": 1.0}, r"xs has shape \(7, 3\)"),
        (np.zeros((4, 7, 2)), H0, {"dt": 1.0}, "use jax.vmap"),
        (XS, np.zeros(4), {"dt": 1.0}, r"h0 has shape \(4,\)"),
        (np.where(XS > 1, np.nan, XS), H0, {"dt": 1.0}, "xs holds nan at bin"),
        (XS, H0, {"dt": -0.1}, "dt is negative"),
        (XS, H0, {"dt": float("nan")}, "dt is negative or not a number"),
        (XS, H0, {"dt": np.ones(6)}, "dt has shape"),
        (XS, H0, {"ts": np.array([0, 1, 2, 3, 2, 5, 6, 7.0])}, "ts goes backwards"),
        (XS, H0, {"ts": np.ones(3)}, "ts has shape"),
        (XS, H0, {}, "either dt"),
        (XS, H0, {"dt": 1.0, "ts": np.arange(8.0)}, "either dt"),
        (XS, H0, {"dt": 1.0, "method": "forward_backward_euler"}, "two blocks"),
        (XS, H0, {"dt": 1.0, "method": "own"}, "no step of its own"),
    ],
)
def test_bad_input_is_one_sentence(xs, h0, time, word):
    with pytest.raises(ArgumentError, match=word):
        rollout(make(), jnp.asarray(xs), jnp.asarray(h0), **time)
