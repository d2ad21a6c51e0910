"""Neural CDEs, plain and gated: against torchcde and diffrax, and what driving by a path promises."""

from functools import cache
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from relatives_in_numpy import torchdiffeq
from three_eighths import three_eighths

from gnode import cells, rollout
from gnode.cells import FixedTimescale, Gated, GatedNeuralCDE, NeuralCDE, Stack
from gnode.solve import Solver, advance, rollout_batch
from gnode.solve._bin import moved, rate
from gnode.solve._path import bins_of, input_at, slope_at

FIXTURE = Path(__file__).parent.parent / "fixtures" / "relatives" / "ncde.npz"
CUBICS = ("hermite", "natural")
PATHS = ("linear", *CUBICS)
ALL = ("hold", *PATHS)


@pytest.fixture(scope="module")
def given():
    return dict(np.load(FIXTURE))


def theirs(given):
    """Their FinalTanh. Time is their first channel and no input here."""
    names = "linear_in", "linears.0", "linear_out"
    W, b = ([jnp.asarray(given[f"{name}.{part}"]) for name in names] for part in ("weight", "bias"))
    F = Stack(tuple(W), jnp.zeros((4, 0)), tuple(b), "relu", "tanh")
    return NeuralCDE(F, FixedTimescale(jnp.array(1.0)), 2, 3)


def knots_of(given, prefix=""):
    """Samples and lengths of bins. That of the last one is any: after the last sample the path is constant."""
    ts, ys = given[f"{prefix}ts"], given[f"{prefix}ys"]
    np.testing.assert_array_equal(ts, ys[:, 0])
    return jnp.asarray(ys[:, 1:]), jnp.asarray(np.append(np.diff(ts), 1.0))


def bin_at(bins, index):
    return jax.tree.map(lambda leaf: leaf[index], bins)


@pytest.mark.parametrize("name", PATHS)
def test_paths_are_those_of_torchcde(name, given, x64):
    """Values and derivatives; at a knot theirs is the derivative of the piece before it."""
    xs, dt = knots_of(given)
    bins = bins_of(theirs(given), xs, dt, Solver(interpolation=name))
    for place, time in enumerate(given["queries"]):
        index = max(np.searchsorted(given["ts"], time) - 1, 0)
        share = (time - given["ts"][index]) / dt[index]
        bin = bin_at(bins, index)
        found = np.append(time, input_at(bin, share)), np.append(1.0, slope_at(bin, share) / dt[index])
        expected = given[f"{name}/at_queries"][place], given[f"{name}/derivative_at_queries"][place]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


KEYS = {
    # Their linear path by the derivative takes, at a knot, that of the piece before it, which is of order 1 (README.md);
    # by its increments diffrax takes the piece of the step.
    ("natural", "euler"): ("torchcde", "diffrax_to_ode"),
    ("natural", "midpoint"): ("torchcde", "diffrax_to_ode"),
    ("linear", "euler"): ("diffrax_increments",),
    ("linear", "midpoint"): ("diffrax_increments",),
}


@pytest.mark.parametrize(("name", "method"), KEYS)
def test_states_by_the_methods_of_both(name, method, given, x64):
    """Bins of 2, 1, 3, 2 and 1 steps of theirs."""
    cell, (xs, dt) = theirs(given), knots_of(given)
    bins, h = bins_of(cell, xs, dt, Solver(interpolation=name)), jnp.asarray(given["z0"])
    found = [h]
    for index in range(len(xs) - 1):
        solver = Solver(method, interpolation=name, substeps=round(float(dt[index] / given["step"])))
        found.append(advance(cell, found[-1], tuple(bin_at(bins, index)), solver))
    for library in KEYS[name, method]:
        np.testing.assert_allclose(found, given[f"{name}/{library}/{method}"], rtol=1e-10, atol=1e-12)


def by_their_rule(cell, given, name):
    """The states at the ends of bins, and after the arrival of each sample, by the 3/8 rule with steps of theirs."""
    xs, dt = knots_of(given)
    bins, h = bins_of(cell, xs, dt, Solver(interpolation=name)), jnp.asarray(given["z0"])
    ends, arrived = [h], []
    for index in range(len(xs)):
        bin = bin_at(bins, index)
        if name == "hold":  # their knots are one apart, four steps from each other
            arrived.append(moved(cell, h, bin._replace(length=jnp.array(0.0)), Solver(substeps=4), three_eighths))
        steps = 4 if name == "hold" else round(float(dt[index] / given["step"]))
        if index < len(xs) - 1:
            h = moved(cell, h, bin, Solver(interpolation=name, substeps=steps), three_eighths)
            ends.append(h)
    return jnp.stack(ends), arrived


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("natural", ("torchcde/rk4", "diffrax_to_ode/rk4")),
        ("hermite", ("torchcde/rk4", "diffrax_to_ode/rk4")),
        ("linear", ("torchcde/rk4_perturbed", "diffrax_increments/rk4")),
    ],
)
def test_states_by_their_rule_of_order_4(name, keys, given, x64):
    found, _ = by_their_rule(theirs(given), given, name)
    for key in keys:
        np.testing.assert_allclose(found, given[f"{name}/{key}"], rtol=1e-10, atol=1e-12)


def test_hold_is_their_rectilinear_path(given, x64):
    """Their knots: (t_0, x_0), (t_1, x_0), (t_1, x_1), ... A bin ends before the next sample arrives."""
    ends, arrived = by_their_rule(theirs(given), given, "hold")
    expected = given["rectilinear/torchcde/rk4_perturbed"]
    np.testing.assert_allclose(ends[1:], expected[1::2], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(arrived, expected[::2], rtol=1e-10, atol=1e-12)
    values = given["rectilinear/values"]
    np.testing.assert_array_equal(values[:, 1:], given["diffrax_rectilinear/ys"])
    np.testing.assert_array_equal(values[:-1:2, 1:], values[1::2, 1:])  # time moves first, as within a bin


def test_gradients_are_theirs(given, x64):
    cell = theirs(given)
    last = lambda cell: jnp.sum(by_their_rule(cell, given, "natural")[0][-1] ** 2)  # noqa: E731
    found = eqx.filter_grad(last)(cell).F
    stored = [given[f"natural/torchcde/rk4/gradient/{name}.weight"] for name in ("linear_in", "linear_out")]
    np.testing.assert_allclose(found.W[0], stored[0], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.W[2], stored[1], rtol=1e-8, atol=1e-10)


def states_on_a_grid(cell, given, prefix, z0, step):
    """As torchdiffeq goes through time, on a grid that does not meet the knots, with the natural path of this package."""
    xs, dt = knots_of(given, prefix)
    ts, bins = given[f"{prefix}ts"], bins_of(cell, xs, dt, Solver(interpolation="natural"))
    field = jax.jit(lambda h, bin, share: rate(cell, h, bin, share) / bin.length)

    def f(t, h, _):
        index = min(max(np.searchsorted(ts, t) - 1, 0), len(ts) - 2)
        return np.asarray(field(h, bin_at(bins, index), (t - ts[index]) / dt[index]))

    return torchdiffeq(f, "rk4", z0, ts, step)


def test_steps_that_do_not_meet_the_knots_and_the_model_of_the_authors(given, x64):
    cell = theirs(given)
    found = states_on_a_grid(cell, given, "", given["z0"], 0.2)
    np.testing.assert_allclose(found, given["natural/torchcde/rk4_step_0.2"], rtol=1e-10, atol=1e-12)
    affine = lambda name, x: given[f"model/{name}.weight"] @ x + given[f"model/{name}.bias"]  # noqa: E731
    z0 = affine("initial_network", given["model/ys"][0])
    states = states_on_a_grid(cell, given, "model/", z0, np.diff(given["model/ts"]).min())
    outputs = [affine("linear", state) for state in states]
    np.testing.assert_allclose(outputs, given["model/outputs"], rtol=1e-10, atol=1e-12)


XS = 0.5 * np.cumsum(np.random.default_rng(3).normal(size=(7, 2)), axis=0)
DT = np.array([0.3, 0.1, 0.5, 0.2, 0.4, 0.15, 0.3])
H0 = np.array([0.4, -0.7, 0.1])


def smooth(name="ncde", **options):
    return cells.CELLS[name](
        2, 3, widths=(6,), hidden="tanh", tau=0.7, bias_std=0.3, init="glorot_normal", key=1, **options
    )


def without_time(cell):
    """The cell whose F has a first column of zeros; a gated one has a leak too, so that its tau is endless instead."""
    if isinstance(cell, GatedNeuralCDE):
        return eqx.tree_at(lambda cell: cell.timescale.tau, cell, jnp.array(1e15))
    is_time = (np.arange(cell.F.W[-1].shape[0]) % (1 + cell.inputs) == 0)[:, None]
    last = jnp.where(is_time, 0.0, cell.F.W[-1]), jnp.where(is_time[:, 0], 0.0, cell.F.b[-1])
    return eqx.tree_at(lambda cell: (cell.F.W[-1], cell.F.b[-1]), cell, last)


def split(xs, dt, shares, pace):
    """The same broken line with a knot more in every bin but the last, run through at another pace.

    With it, where the states of the bins are.
    """
    ends = np.concatenate([xs[1:], xs[-1:]])
    middle = xs + shares[:, None] * (ends - xs)
    knots = np.stack([xs, middle], 1).reshape(-1, xs.shape[1])[:-1]
    lengths = np.append(np.stack([shares * dt, (1 - shares) * dt], 1).ravel()[:-2], dt[-1])
    return knots, lengths * pace, np.append(np.arange(1, len(knots), 2), len(knots) - 1)


@pytest.mark.parametrize("name", ["ncde", "gated_ncde"])
def test_the_pace_of_the_path_does_not_matter(name, x64):
    """Without the column of time: the states at common knots agree to the order of the solver, here 4."""
    cell, rng = without_time(smooth(name)), np.random.default_rng(0)
    knots, lengths, at = split(XS, DT, np.full(len(XS), 0.37), rng.uniform(0.2, 5.0, 2 * len(XS) - 1))
    by = lambda xs, dt, n: rollout(cell, xs, H0, dt=dt, method="rk4", substeps=n, interpolation="linear")  # noqa: E731
    differences = [float(jnp.abs(by(knots, lengths, n)[at] - by(XS, DT, n)).max()) for n in (8, 16)]
    assert 2**3.5 < differences[0] / differences[1] < 2**4.5
    assert differences[1] < 1e-5  # well below the states, of order 1
    # The column of time feels the pace: the same bins at another pace end elsewhere.
    ends = [rollout(smooth(name), XS, H0, dt=dt, interpolation="linear") for dt in (DT, 2 * DT)]
    assert float(jnp.abs(ends[0] - ends[1]).max()) > 0.01


@pytest.mark.parametrize("interpolation", ["hold", "linear"])
def test_time_as_a_channel_is_the_column_of_time(interpolation, x64):
    """dh = F(h) d(t / tau, X) at any pace, with t / tau as the first input of a cell without a column of time."""
    cell = smooth()
    driven = NeuralCDE(cell.F, cell.timescale, 3, 3, time_channel=False)
    starts = np.append(0.0, np.cumsum(DT))
    if interpolation == "hold":  # a rectilinear path: time moves, then the sample arrives, on straight lines
        knots = np.column_stack([np.repeat(starts, 2)[1:-1] / 0.7, np.repeat(XS, 2, axis=0)])
        every = slice(None, None, 2)
    else:
        knots, every = np.column_stack([starts[:-1] / 0.7, XS]), slice(None, -1)
    pace = np.random.default_rng(1).uniform(0.2, 5.0, len(knots))
    found = rollout(driven, knots, H0, dt=pace, substeps=3, interpolation="linear")[every]
    expected = rollout(cell, XS, H0, dt=DT, substeps=3, interpolation=interpolation)
    np.testing.assert_allclose(found, expected[: len(found)], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", ["ncde", "gated_ncde"])
@pytest.mark.parametrize(("interpolation", "first"), [("hold", 4), ("linear", 3), ("hermite", 3), ("natural", 0)])
def test_a_later_sample_changes_no_state_before(name, interpolation, first, x64):
    """Sample 4 is felt from the end of bin 4 on, or of bin 3, where the line to it leads; a spline feels it everywhere."""
    cell, changed = smooth(name), XS.copy()
    changed[4] += 0.5
    how = {"dt": DT, "substeps": 2, "interpolation": interpolation}
    before, after = (np.asarray(rollout(cell, xs, H0, **how)) for xs in (XS, changed))
    np.testing.assert_array_equal(before[:first], after[:first])
    assert np.all(np.abs(before[first:] - after[first:]).max(1) > 1e-4)


@pytest.mark.parametrize("name", ["ncde", "gated_ncde"])
@pytest.mark.parametrize("interpolation", ["linear", "natural"])
def test_a_sample_that_lies_on_the_path_changes_nothing(name, interpolation, x64):
    """Bins of irregular lengths. A natural spline through more of its own points is itself."""
    cell, shares, solver = smooth(name), np.linspace(0.2, 0.8, len(XS)), Solver("rk4", 8, interpolation)
    bins = bins_of(cell, jnp.asarray(XS), jnp.asarray(DT), solver)
    between = np.asarray(jax.vmap(input_at)(bins, jnp.asarray(shares)))
    knots, lengths, at = split(XS, DT, shares, 1.0)
    knots[1::2] = between[:-1]
    again = bins_of(cell, jnp.asarray(knots), jnp.asarray(lengths), solver)
    here = jax.vmap(slope_at, (0, None))(bins, 0.1)[:-1] / DT[:-1, None]
    there = jax.vmap(slope_at)(bin_at(again, slice(0, -1, 2)), jnp.asarray(0.1 / shares[:-1]))
    np.testing.assert_allclose(there / lengths[:-1:2, None], here, rtol=1e-10, atol=1e-11)
    found = rollout(cell, knots, H0, dt=lengths, method=solver)[at]
    expected, coarse = (rollout(cell, XS, H0, dt=DT, method=one) for one in (solver, Solver("rk4", 4, interpolation)))
    # The error of 8 steps is about 1/16 of that of 4, and twice as many are better.
    assert float(jnp.abs(found - expected).max()) < float(jnp.abs(coarse - expected).max()) / 10 < 1e-3


@pytest.mark.parametrize("interpolation", ALL)
@pytest.mark.parametrize("name", ["ncde", "gated_ncde"])
def test_padding_leaves_the_state(name, interpolation, x64):
    cell = smooth(name)
    junk = np.concatenate([XS, 1e3 * np.ones((3, 2))])
    solver = Solver(substeps=2, interpolation=interpolation)

    def run(cell, xs, dt):
        return rollout_batch(cell, jnp.asarray(xs)[None], jnp.asarray(H0)[None], jnp.asarray(dt)[None], solver)[0]

    padded = lambda cell: run(cell, junk, np.append(DT, np.zeros(3)))  # noqa: E731
    plain, found = run(cell, XS, DT), padded(cell)
    np.testing.assert_allclose(found[:7], plain, rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(found[7:], np.broadcast_to(found[6], (3, 3)))
    last = lambda run: eqx.filter_grad(lambda cell: jnp.sum(run(cell)[-1] ** 2))(cell)  # noqa: E731
    gradients = last(padded), last(lambda cell: run(cell, XS, DT))
    for mine, other in zip(*map(jax.tree.leaves, gradients)):
        np.testing.assert_allclose(mine, other, rtol=1e-11, atol=1e-13)


def with_gate(cell, logits):
    """The gate is constant, sigmoid(logits): exactly 0 for -1e4 and 1 for 1e4."""
    G = eqx.tree_at(lambda G: (G.W[0], G.U, G.b[0]), cell.G, (0 * cell.G.W[0], 0 * cell.G.U, jnp.asarray(logits)))
    return eqx.tree_at(lambda cell: cell.G, cell, G)


@pytest.mark.parametrize("interpolation", ALL)
def test_a_shut_gate_holds_its_unit_whatever_the_input_does(interpolation, x64):
    cell = with_gate(smooth("gated_ncde"), [-1e4, 1e4, -1e4])
    states = rollout(cell, 100 * XS, H0, dt=DT, substeps=2, interpolation=interpolation)
    np.testing.assert_array_equal(states[:, [0, 2]], np.broadcast_to(H0[[0, 2]], (7, 2)))
    assert np.all(np.abs(np.diff(states[:, 1])) > 1e-3)


def test_an_open_gate_adds_a_leak_and_nothing_else(x64):
    """dh = (-h + F_0) dt / tau + F_1 dX: to undo the leak, the same F with h added to its column of time."""
    gated = with_gate(smooth("gated_ncde"), [1e4, 1e4, 1e4])
    plain = NeuralCDE(gated.F, gated.timescale, 2, 3)
    h, x = jnp.asarray(H0), jnp.asarray(XS[0])
    np.testing.assert_allclose(gated.vector_field(h, x) + h / 0.7, plain.vector_field(h, x), rtol=1e-13)
    np.testing.assert_array_equal(gated.control(h, x), plain.control(h, x))


def test_at_a_constant_input_a_gated_ncde_is_a_gnode(x64):
    cell = smooth("gated_ncde", gate_widths=(5,))
    W, b = cell.F.W[-1].reshape(3, 3, -1)[:, 0], cell.F.b[-1].reshape(3, 3)[:, 0]
    F = Stack((cell.F.W[0], W), jnp.zeros((6, 2)), (cell.F.b[0], b), "tanh", "tanh")
    peer = Gated(F, cell.G, cell.timescale, 2, 3)
    hs = jnp.asarray(np.random.default_rng(0).normal(size=(20, 3)))
    for part in ("vector_field", "drift", "gate"):
        found, expected = (jax.vmap(getattr(one, part), (0, None))(hs, jnp.asarray(XS[2])) for one in (cell, peer))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    xs = np.broadcast_to(XS[2], XS.shape)
    for interpolation in ALL:
        found, expected = (rollout(one, xs, H0, dt=DT, substeps=2, interpolation=interpolation) for one in (cell, peer))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def end(name, method, **options):
    return rollout(smooth(name), XS, H0, dt=DT, method=method, interpolation="natural", **options)[-1]


@cache
def exact_end(name):
    return end(name, "tsit5", rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", ["ncde", "gated_ncde"])
@pytest.mark.parametrize(("method", "order", "coarse"), [("euler", 1, 64), ("heun", 2, 16), ("rk4", 4, 8)])
def test_order_along_a_natural_path(name, method, order, coarse, x64):
    errors = [float(jnp.abs(end(name, method, substeps=n) - exact_end(name)).max()) for n in (coarse, 2 * coarse)]
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.15
    assert errors[1] < 0.02


@pytest.mark.parametrize("interpolation", ["hold", "hermite"])
@pytest.mark.parametrize("name", ["ncde", "gated_ncde"])
def test_gradients_against_central_differences(name, interpolation, x64):
    """By the weights, the initial state, the samples and the lengths of bins, along one random direction of all of them."""
    solver = Solver(substeps=2, interpolation=interpolation)

    def loss(values):
        cell, xs, h0, dt = values
        states = rollout_batch(cell, xs[None], h0[None], dt[None], solver)
        return jnp.sum(jnp.sin(states))

    values, rest = eqx.partition((smooth(name, learn_tau="shared"), *map(jnp.asarray, (XS, H0, DT))), eqx.is_array)
    run = jax.jit(lambda values: loss(eqx.combine(values, rest)))
    rng = np.random.default_rng(5)
    direction = jax.tree.map(lambda leaf: jnp.asarray(0.1 * rng.normal(size=leaf.shape)), values)
    shifted = lambda by: run(jax.tree.map(lambda leaf, way: leaf + by * way, values, direction))  # noqa: E731
    gradient = jax.grad(run)(values)
    found = sum(jnp.vdot(g, d) for g, d in zip(jax.tree.leaves(gradient), jax.tree.leaves(direction)))
    step = 1e-3  # the error of the formula is of its fourth power, that of rounding 1e-16 / 1e-3
    central = (8 * (shifted(step) - shifted(-step)) - (shifted(2 * step) - shifted(-2 * step))) / (12 * step)
    assert float(found) == pytest.approx(float(central), rel=1e-9)
