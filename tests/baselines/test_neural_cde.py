"""The neural CDE against closed forms and scipy, and that it learns."""

import json

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from gnode import cells, errors, files, tasks, train
from gnode.baselines._baselines import resume_neural_cde, train_neural_cde
from gnode.baselines._neural_cde import last_outputs, neural_cde, solver_errors, with_method
from gnode.network import Network
from gnode.solve._path import bins_of, input_at, slope_at
from gnode.tasks import Task, Trials
from gnode.train.batch import to_device
from gnode.train.loss import losses


def smooth(bins, channels, seed=0):
    """A random path that moves by about 1 per bin."""
    return np.cumsum(np.random.default_rng(seed).normal(size=(bins, channels)), axis=0)


@eqx.filter_jit
def states(net, xs, dt=1.0):
    """The states at all samples, those at the ends of bins shifted by one. After the last sample nothing moves."""
    return jnp.concatenate([net.initial(xs[0])[None], net(xs, dt=dt).states[:-1]])


def with_weights(net, W, b, **solver):
    """The network with other weights in F."""
    made = eqx.tree_at(lambda net: (net.cell.F.W, net.cell.F.b), net, (W, b))
    return with_method(made, **solver) if solver else made


def order(net, xs, exact, counts):
    """The slope of log error against log step."""
    nets = [with_method(net, net.solver.method, substeps=count) for count in counts]
    miss = [np.abs(np.asarray(states(net, xs)) - exact).max() for net in nets]
    return np.polyfit(np.log(1 / np.array(counts)), np.log(miss), 1)[0]


@jax.jit
def path(values, times):
    """The path of the baseline through samples one second apart, and its derivative."""
    net = neural_cde(values.shape[1], 1, state=1, widths=(), key=0)
    bins = bins_of(net.cell, values, jnp.ones(len(values)), net.solver)
    index = jnp.minimum(times.astype(int), len(values) - 2)
    pieces = jax.tree.map(lambda leaf: leaf[index], bins)
    return jax.vmap(input_at)(pieces, times - index), jax.vmap(slope_at)(pieces, times - index)


def test_the_path_is_the_natural_spline_of_scipy(x64):
    values, times = smooth(12, 3), np.linspace(0, 11, 57)
    reference = CubicSpline(np.arange(12), values, bc_type="natural")
    ours, slopes = path(values, times)
    np.testing.assert_allclose(ours, reference(times), atol=1e-12)
    np.testing.assert_allclose(slopes, reference(times, 1), atol=1e-12)


def test_filled_bins_change_nothing_of_the_path(x64):
    """The spline through observations, filled at the missing bins, is the spline through the observations alone."""
    values, observed = smooth(30, 2), np.random.default_rng(1).random(30) > 0.4
    observed[[0, -1]] = True
    knots = np.flatnonzero(observed)
    alone = CubicSpline(knots, values[knots], bc_type="natural")
    filled = tasks.fill(np.where(observed[:, None], values, np.nan)[None], "natural")[0]
    times = np.linspace(0, 29, 113)
    np.testing.assert_allclose(path(filled, times)[0], alone(times), atol=1e-12)
    backward = diffrax.backward_hermite_coefficients(jnp.arange(30.0), jnp.asarray(filled))
    bent = jax.vmap(diffrax.CubicInterpolation(jnp.arange(30.0), backward).evaluate)(times)
    assert np.abs(bent - alone(times)).max() > 0.1  # another path: the choice matters


def test_every_weight_and_bias_is_uniform():
    """Between -1 / sqrt(N_in) and 1 / sqrt(N_in), of which the variance is 1 / (3 N_in)."""
    net = neural_cde(4, 20, state=40, widths=(30, 50), key=0)
    F, initial, readout = net.cell.F, net.initial, net.readout
    for W, b in [(initial.A, initial.a), *zip(F.W, F.b), (readout.C[0], readout.d[0])]:
        for drawn in (W, b):
            scaled = np.asarray(drawn) * W.shape[1] ** 0.5
            assert np.all(np.abs(scaled) <= 1)
            # The variance of n values has a standard deviation of sqrt(4 / 45 n): that of u^2 is 1/5 - 1/9.
            assert abs(np.mean(scaled**2) - 1 / 3) < 5 * np.sqrt(4 / 45 / scaled.size)
            assert abs(np.mean(scaled)) < 5 * np.sqrt(1 / 3 / scaled.size)


def test_a_constant_field_sums_up_the_path(x64):
    """F(h) = B gives h(t) = h(0) + B (X(t) - X(0)); Heun's steps of dX reach it with their order, 2."""
    net = neural_cde(3, 2, state=4, widths=(5,), key=0)
    F = net.cell.F
    net = with_weights(net, tuple(map(jnp.zeros_like, F.W)), F.b)
    xs = jnp.asarray(smooth(15, 3))
    B = np.tanh(np.asarray(F.b[-1])).reshape(4, 3)
    exact = np.asarray(net.initial(xs[0])) + np.asarray(xs - xs[0]) @ B.T
    np.testing.assert_allclose(states(with_method(net, "rk4"), xs), exact, atol=1e-12)
    assert order(net, xs, exact, (2, 4, 8, 16)) == pytest.approx(2, abs=0.05)


@pytest.mark.parametrize(("method", "expected"), [("euler", 1), ("heun", 2), ("midpoint", 2), ("rk4", 4), ("tsit5", 5)])
def test_order_of_each_method(x64, method, expected):
    """One channel, one unit, F(h) = tanh(w h): sinh(w h(t)) = sinh(w h(0)) exp(w (X(t) - X(0))), whatever the path."""
    w, net = 0.7, neural_cde(1, 1, state=1, widths=(), key=3)
    net = with_weights(net, (jnp.array([[w]]),), (jnp.zeros(1),), method=method)
    xs = jnp.asarray(smooth(10, 1))
    start = float(net.initial(xs[0])[0])
    exact = np.arcsinh(np.sinh(w * start) * np.exp(w * np.asarray(xs - xs[0]))) / w
    if method == "tsit5":  # it chooses its steps
        accurate = with_method(net, "tsit5", rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(states(accurate, xs), exact, atol=1e-7)
    else:
        counts = (4, 8, 16) if method == "rk4" else (8, 16, 32)
        assert order(net, xs, exact, counts) == pytest.approx(expected, abs=0.25)


def test_the_pace_does_not_matter(x64):
    """Two bins where there was one, on the same curve, and the end state stays."""
    # A relu bends the field.
    net = with_method(neural_cde(2, 3, state=4, widths=(8,), key=0), "tsit5", rtol=1e-10, atol=1e-10)
    xs = smooth(8, 2)
    slower, _ = path(xs, np.linspace(0, 7, 15))
    np.testing.assert_allclose(states(net, slower)[::2], states(net, jnp.asarray(xs)), atol=1e-6)


@pytest.mark.parametrize("interpolation", ["natural", "hermite", "linear", "hold"])
def test_the_length_of_bins_does_not_matter(x64, interpolation):
    """It does to a cell with a column for time. Lines and steps have no shape that bins of many lengths could change."""
    net = with_method(neural_cde(2, 3, state=4, widths=(8,), key=0), "heun", interpolation=interpolation)
    xs = jnp.asarray(smooth(8, 2))
    before, after = states(net, xs), states(net, xs, jnp.array(0.037))
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-12)
    assert float(jnp.abs(before[-1] - before[0]).max()) > 0.1
    mixed = states(net, xs, jnp.asarray(np.random.default_rng(0).uniform(0.1, 9.0, 8)))
    is_straight = interpolation in ("linear", "hold")
    assert is_straight == np.allclose(mixed, before, rtol=1e-12, atol=1e-12)
    timed = Network(cells.ncde(2, 4, widths=(8,), key=0), 3, method=net.solver, initial=net.initial, key=0)
    assert float(jnp.abs(states(timed, xs) - states(timed, xs, jnp.array(0.037))).max()) > 0.1


def test_a_constant_input_moves_nothing(x64):
    """Every state is a fixed point, so that one sample alone gives the readout of the initial state."""
    net = neural_cde(2, 3, state=4, widths=(8,), key=0)
    still = jnp.ones((5, 2))
    np.testing.assert_array_equal(net(still, dt=0.1).states, np.broadcast_to(net.initial(still[0]), (5, 4)))
    one = net(smooth(1, 2), dt=0.1)
    np.testing.assert_array_equal(one.outputs[0], net.readout(net.initial(jnp.asarray(smooth(1, 2)[0]))))
    hs = jnp.asarray(smooth(6, 4))
    np.testing.assert_array_equal(jax.vmap(net.cell.vector_field, (0, None))(hs, still[0]), np.zeros((6, 4)))


def test_gradient_is_that_of_finite_differences(x64):
    net = neural_cde(2, 3, state=4, widths=(8,), key=0)
    xs = jnp.asarray(smooth(9, 2))[None]

    @jax.jit
    @jax.value_and_grad
    def score(weight):
        F = net.cell.F
        return jnp.sum(with_weights(net, (weight, *F.W[1:]), F.b).batch(xs, jnp.ones((1, 9))).outputs[:, -1] ** 2)

    weight = net.cell.F.W[0]
    direction = jnp.asarray(np.random.default_rng(2).normal(size=weight.shape))
    slope = float(jnp.vdot(score(weight)[1], direction))
    numeric = float(score(weight + 1e-6 * direction)[0] - score(weight - 1e-6 * direction)[0]) / 2e-6
    assert slope == pytest.approx(numeric, rel=1e-5)
    assert np.isfinite(slope)


def turns(trials, seed):
    """Which way round a noisy circle was drawn: the first and the last point are the same for both classes."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(2, size=trials)
    angle = np.linspace(0, 2 * np.pi, 16) * np.where(classes, 1, -1)[:, None]
    circle = np.stack([np.broadcast_to(np.linspace(0, 1, 16), angle.shape), np.cos(angle), np.sin(angle)], axis=2)
    return Trials(circle + 0.05 * rng.normal(size=circle.shape), classes, 1.0)


@pytest.fixture(scope="module")
def circles():
    return Task("circles", turns(96, 0), turns(32, 1), 2, "cross_entropy", "last", test=turns(64, 2))


SMALL = {"state": 6, "widths": (12,), "epochs": 12, "lr": 1e-2, "batch_size": 16}


def test_training_takes_it_for_a_network(circles):
    """The loss that `train_neural_cde` makes small is that of any network: it asks all of them in the same way."""
    net = neural_cde(3, 2, state=4, widths=(8,), key=0)
    loss, activity, *_ = eqx.filter_jit(losses)(net, to_device(circles.validation), "cross_entropy", "last")
    outputs = last_outputs(net, circles.validation)
    expected = -jax.nn.log_softmax(outputs)[jnp.arange(len(outputs)), circles.validation.targets].mean()
    np.testing.assert_allclose(loss, expected, rtol=1e-5)
    assert activity > 0


@pytest.mark.slow
def test_learns_which_way_a_circle_was_drawn(circles, tmp_path):
    done = train_neural_cde(circles, tmp_path / "one", **SMALL)
    assert done.evaluation.accuracy >= 0.98
    stored = json.loads((tmp_path / "one" / "result.json").read_text())
    assert stored["test"]["accuracy"] == done.evaluation.accuracy
    assert (stored["settings"]["method"], stored["settings"]["steps_per_bin"]) == ("heun", 1)
    assert np.trace(stored["confusion"]) == round(64 * done.evaluation.accuracy)
    assert len(stored["curves"]["validation"]) == 12
    assert min(stored["curves"]["validation"]) == pytest.approx(stored["best_loss"])
    assert stored["versions"]["diffrax"]
    assert str(tmp_path) not in json.dumps(stored)
    assert (tmp_path / "one" / "confusion.png").stat().st_size > 3_000
    loaded = train.load(tmp_path / "one" / "training", task=circles).net  # an ordinary network, which a folder can name
    np.testing.assert_array_equal(last_outputs(loaded, circles.test), last_outputs(done.run.net, circles.test))


@pytest.mark.slow
def test_a_seed_fixes_everything_and_an_interrupted_one_goes_on_to_the_same_weights(circles, tmp_path, monkeypatch):
    whole = train_neural_cde(circles, tmp_path / "whole", **SMALL | {"epochs": 4}).run
    judged = train.program.run_epoch_compiled
    epochs = []

    def dies_in_the_third(*arguments):
        epochs.append(1)
        if len(epochs) == 3:
            raise KeyboardInterrupt
        return judged(*arguments)

    monkeypatch.setattr(train.program, "run_epoch_compiled", dies_in_the_third)
    with pytest.raises(KeyboardInterrupt):
        train_neural_cde(circles, tmp_path / "broken", **SMALL | {"epochs": 4})
    assert not (tmp_path / "broken" / "result.json").exists()
    monkeypatch.undo()
    again = resume_neural_cde(tmp_path / "broken", task=circles).run
    np.testing.assert_array_equal(again.curves["train"], whole.curves["train"])
    for ours, theirs in zip(jax.tree.leaves(again.net), jax.tree.leaves(whole.net)):
        np.testing.assert_array_equal(ours, theirs)
    other = train_neural_cde(circles, tmp_path / "other", **SMALL | {"epochs": 1, "seed": 1}).run
    assert other.curves["train"][0] != whole.curves["train"][0]
    with pytest.raises(errors.StoreError, match="already holds a baseline"):
        train_neural_cde(circles, tmp_path / "whole", **SMALL)


@pytest.mark.slow
def test_solver_errors_fall_with_the_order(circles):
    rows = solver_errors(neural_cde(3, 2, state=6, widths=(12,), key=0), circles.test)
    largest = {name: row["largest"] for name, row in rows.items()}
    assert largest["euler, 1 per bin"] > largest["heun, 1 per bin"] > largest["heun, 2 per bin"]
    assert largest["heun, 2 per bin"] > largest["rk4, 1 per bin"]
    assert largest["tsit5, tolerance 1e-07"] == 0


def test_only_classes_at_the_last_bin(tmp_path):
    with pytest.raises(errors.ArgumentError, match="a class at the last bin"):
        train_neural_cde(tasks.flip_flop("square", trials=4, validation=2, bins=5), tmp_path / "run")


def test_the_folder_of_an_earlier_class_is_refused(circles, tmp_path):
    """What an earlier version stored of its own class: the cell's weights under other names, and no solver."""
    (tmp_path / "training").mkdir()
    config = {
        "task": {"name": "circles", "options": None},
        "settings": {},
        "key": 0,
        "network": {"type": "NeuralCDE", "own": True, "fields": {"method": "heun", "substeps": 1}},
        "baseline": SMALL | {"widths": [12], "seed": 0},
        "versions": {"gnode": "0.9.1"},
    }
    files.write_json(tmp_path / "training" / "config.json", config)
    with pytest.raises(errors.StoreError, match=r"earlier version of gnode.* with that version \(0\.9\.1\)\.$"):
        resume_neural_cde(tmp_path, task=circles)
