"""The neural CDE against closed forms and scipy, and that it learns."""

import json

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from gnode import errors, tasks, train
from gnode.baselines._baselines import resume_neural_cde, train_neural_cde
from gnode.baselines._neural_cde import last_outputs, natural_spline, neural_cde, solver_errors, with_method
from gnode.tasks import Task, Trials
from gnode.train.batch import to_device
from gnode.train.loss import losses


def smooth(bins, channels, seed=0):
    """A random path that moves by about 1 per bin."""
    return np.cumsum(np.random.default_rng(seed).normal(size=(bins, channels)), axis=0)


states = eqx.filter_jit(lambda net, xs: net.states(xs))


def order(net, xs, exact, counts):
    """The slope of log error against log step."""
    miss = [np.abs(np.asarray(states(with_method(net, net.method, count), xs)) - exact).max() for count in counts]
    return np.polyfit(np.log(1 / np.array(counts)), np.log(miss), 1)[0]


def test_natural_spline_is_scipys(x64):
    values = smooth(12, 3)
    ours, reference = natural_spline(jnp.asarray(values)), CubicSpline(np.arange(12), values, bc_type="natural")
    times = np.linspace(0, 11, 57)
    np.testing.assert_allclose(jax.vmap(ours.evaluate)(times), reference(times), atol=1e-12)
    np.testing.assert_allclose(jax.vmap(ours.derivative)(times), reference(times, 1), atol=1e-12)


def test_filled_bins_change_nothing_of_the_path(x64):
    """The spline through observations, filled at the missing bins, is the spline through the observations alone."""
    values, observed = smooth(30, 2), np.random.default_rng(1).random(30) > 0.4
    observed[[0, -1]] = True
    knots = np.flatnonzero(observed)
    alone = CubicSpline(knots, values[knots], bc_type="natural")
    filled = tasks.fill(np.where(observed[:, None], values, np.nan)[None], "natural")[0]
    times = np.linspace(0, 29, 113)
    np.testing.assert_allclose(jax.vmap(natural_spline(jnp.asarray(filled)).evaluate)(times), alone(times), atol=1e-12)
    backward = diffrax.backward_hermite_coefficients(jnp.arange(30.0), jnp.asarray(filled))
    bent = jax.vmap(diffrax.CubicInterpolation(jnp.arange(30.0), backward).evaluate)(times)
    assert np.abs(bent - alone(times)).max() > 0.1  # another path: the choice matters


@pytest.mark.slow
def test_a_constant_field_sums_up_the_path(x64):
    """f(h) = B gives h(t) = h(0) + B (X(t) - X(0)); Heun's steps of dX/dt reach it with their order, 2."""
    net = neural_cde(3, 2, state=4, widths=(5,), key=0)
    cell = net.cell
    flat = type(cell)(W=tuple(map(jnp.zeros_like, cell.W)), b=cell.b, inputs=3, units=4)
    net = type(net)(flat, net.initial, net.readout)
    xs = jnp.asarray(smooth(15, 3))
    B = np.tanh(np.asarray(cell.b[-1])).reshape(4, 3)
    exact = np.asarray(net.initial(xs[0])) + np.asarray(xs - xs[0]) @ B.T
    np.testing.assert_allclose(states(with_method(net, "tsit5"), xs), exact, atol=1e-12)
    assert order(net, xs, exact, (2, 4, 8, 16)) == pytest.approx(2, abs=0.05)


@pytest.mark.parametrize(
    ("method", "expected"),
    [("euler", 1), ("heun", 2), ("midpoint", 2), pytest.param("tsit5", 5, marks=pytest.mark.slow)],
)
def test_order_of_each_method(x64, method, expected):
    """One channel, one unit, f(h) = tanh(w h): sinh(w h(t)) = sinh(w h(0)) exp(w (X(t) - X(0))), whatever the path."""
    w, net = 0.7, with_method(neural_cde(1, 1, state=1, widths=(), key=3), method)
    cell = type(net.cell)(W=(jnp.array([[w]]),), b=(jnp.zeros(1),), inputs=1, units=1)
    net = type(net)(cell, net.initial, net.readout, net.method)
    xs = jnp.asarray(smooth(10, 1))
    start = float(net.initial(xs[0])[0])
    exact = np.arcsinh(np.sinh(w * start) * np.exp(w * np.asarray(xs - xs[0]))) / w
    counts = (4, 8, 16) if method == "tsit5" else (8, 16, 32)
    assert order(net, xs, exact, counts) == pytest.approx(expected, abs=0.25)
    if method == "tsit5":
        adaptive = states(with_method(net, "tsit5", tolerance=1e-9), xs)
        np.testing.assert_allclose(adaptive, exact, atol=1e-7)


@pytest.mark.slow
def test_the_pace_does_not_matter(x64):
    """Two bins where there was one, on the same curve, and the end state stays."""
    net = with_method(neural_cde(2, 3, state=4, widths=(8,), key=0), "tsit5", tolerance=1e-10)  # a relu bends the field
    xs = jnp.asarray(smooth(8, 2))
    slower = jax.vmap(natural_spline(xs).evaluate)(jnp.linspace(0, 7, 15))
    np.testing.assert_allclose(states(net, slower)[::2], states(net, xs), atol=1e-6)


def test_gradient_is_that_of_finite_differences(x64):
    net = neural_cde(2, 3, state=4, widths=(8,), key=0)
    xs = jnp.asarray(smooth(9, 2))[None]

    @jax.jit
    @jax.value_and_grad
    def score(weight):
        cell = type(net.cell)(W=(weight, *net.cell.W[1:]), b=net.cell.b, inputs=2, units=4)
        return jnp.sum(type(net)(cell, net.initial, net.readout).batch(xs).outputs[:, -1] ** 2)

    weight = net.cell.W[0]
    direction = jnp.asarray(np.random.default_rng(2).normal(size=weight.shape))
    slope = float(jnp.vdot(score(weight)[1], direction))
    numeric = float(score(weight + 1e-6 * direction)[0] - score(weight - 1e-6 * direction)[0]) / 2e-6
    assert slope == pytest.approx(numeric, rel=1e-5)
    assert np.isfinite(slope)


def test_a_path_needs_two_bins():
    with pytest.raises(errors.ArgumentError, match="at least 2"):
        natural_spline(jnp.zeros((1, 2)))


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
    assert np.trace(stored["confusion"]) == round(64 * done.evaluation.accuracy)
    assert len(stored["curves"]["validation"]) == 12
    assert min(stored["curves"]["validation"]) == pytest.approx(stored["best_loss"])
    assert stored["versions"]["diffrax"]
    assert str(tmp_path) not in json.dumps(stored)
    assert (tmp_path / "one" / "confusion.png").stat().st_size > 3_000


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
    assert largest["heun, 2 per bin"] > largest["tsit5, 1 per bin"]
    assert largest["tsit5, tolerance 1e-07"] == 0


def test_only_classes_at_the_last_bin(tmp_path):
    with pytest.raises(errors.ArgumentError, match="a class at the last bin"):
        train_neural_cde(tasks.flip_flop("square", trials=4, validation=2, bins=5), tmp_path / "run")
