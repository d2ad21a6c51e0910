"""Forecasts: in closed form for a linear system, and as a loop of steps."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import gnode
from gnode import cells, errors, plots, tasks, train

TRIALS, BINS, WARM_UP = 12, 9, 4
ANGLE = 0.5
TRUE = 0.9 * np.array([[np.cos(ANGLE), -np.sin(ANGLE)], [np.sin(ANGLE), np.cos(ANGLE)]])
WRONG = TRUE + 0.05


class Linear(cells.Cell):
    """One Euler step of one second leads from any state to M x, the next sample."""

    M: jnp.ndarray
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    def vector_field(self, h, x):
        return self.M @ x - h


def linear_network(M):
    net = gnode.Network(Linear(jnp.asarray(M, jnp.float32), 2, 2), outputs=2, key=0)
    readout = (net.readout.C, net.readout.d)
    assert [part[0].shape for part in readout] == [(2, 2), (2,)]
    return eqx.tree_at(lambda n: (n.readout.C, n.readout.d), net, ((jnp.eye(2),), (jnp.zeros(2),)))


@pytest.fixture(scope="module")
def series():
    """x(t + 1) = M x(t) from random starts."""
    states = [np.random.default_rng(0).normal(size=(TRIALS, 2))]
    for _ in range(BINS):
        states.append(states[-1] @ TRUE.T)
    states = np.stack(states, axis=1)
    return tasks.arrays(states[:, :-1], states[:, 1:], 1.0)


def powers(M, count):
    return [np.linalg.matrix_power(M, k) for k in range(1, count + 1)]


def test_a_linear_system_in_closed_form(series):
    trials = series.train
    right = train.forecast(linear_network(TRUE), trials, warm_up=WARM_UP)
    np.testing.assert_allclose(right.closed_loop, right.truth, atol=1e-5)
    assert right.error.max() < 1e-10
    assert right.useful_bins == right.horizon == BINS - WARM_UP + 1

    found = train.forecast(linear_network(WRONG), trials, warm_up=WARM_UP)
    last = trials.inputs[:, WARM_UP - 1]
    expected = np.stack([last @ step.T for step in powers(WRONG, found.horizon)], axis=1)
    truth = np.stack([last @ step.T for step in powers(TRUE, found.horizon)], axis=1)
    np.testing.assert_allclose(found.closed_loop, expected, atol=1e-5)
    np.testing.assert_allclose(found.truth, truth, atol=1e-5)
    np.testing.assert_allclose(found.error, np.mean((expected - truth) ** 2, axis=(0, 2)), rtol=1e-4)
    np.testing.assert_allclose(found.last_value_error, np.mean((last[:, None] - truth) ** 2, axis=(0, 2)), rtol=1e-4)
    one_ahead = trials.inputs[:, WARM_UP - 1 :] @ WRONG.T
    np.testing.assert_allclose(found.teacher_forced, one_ahead, atol=1e-5)
    assert found.teacher_forced_error[-1] == pytest.approx(np.mean((one_ahead[:, -1] - truth[:, -1]) ** 2), rel=1e-3)


def test_closed_loop_is_a_loop_of_steps(series):
    """With a time stamp before the observed channels, bins of different length, and samples that do not count."""
    generator = np.random.default_rng(1)
    plain = series.train
    stamps = np.broadcast_to(np.arange(BINS)[:, None] / BINS, (len(plain), BINS, 1))
    mask = generator.integers(0, 2, (len(plain), BINS)).astype(float)
    mask[0] = 1
    trials = tasks.Trials(
        np.concatenate([stamps, plain.inputs], axis=-1),
        plain.targets,
        generator.uniform(0.5, 1.5, (len(plain), BINS)),
        mask,
    )
    net = gnode.build("gru", 3, 2, state=4, tau=1.0, key=2)
    found = train.forecast(net, trials, warm_up=WARM_UP)
    for trial in (0, 3):
        h, y = net.initial(jnp.asarray(trials.inputs[trial, 0])), None
        for bin in range(BINS):
            x = trials.inputs[trial, bin]
            if bin >= WARM_UP:
                x = np.concatenate([x[:1], y])
            h = net.step(h, jnp.asarray(x), trials.dt[trial, bin])
            y = np.asarray(net.read(h))
            if bin >= WARM_UP - 1:
                np.testing.assert_allclose(found.closed_loop[trial, bin - WARM_UP + 1], y, atol=1e-6)
    np.testing.assert_array_equal(np.isnan(found.truth[..., 0]), mask[:, WARM_UP - 1 :] == 0)
    np.testing.assert_array_equal(found.error, train.error_by_horizon(net, trials, warm_up=WARM_UP).network)
    np.testing.assert_allclose(found.teacher_forced[:, 0], found.closed_loop[:, 0], atol=1e-6)


def test_a_run_forecasts_what_was_held_out(series, tmp_path):
    held = tasks.Task("mine", series.train, series.validation, outputs=2, test=series.train.take(slice(0, 3)))
    run = train.Run(linear_network(WRONG), train.Settings(), {}, 0.0, 0, "finished", None, 0.0, 0, _task=held)
    found = run.forecast()
    assert (len(found.truth), found.warm_up) == (3, BINS // 2)
    assert len(run.forecast(series.validation, warm_up=2).truth) == len(series.validation)
    figure = plots.forecast(found, trial=2)
    assert len(figure.axes) == 3
    drawn = figure.axes[0].lines[2]
    np.testing.assert_array_equal(drawn.get_ydata(), found.closed_loop[2, :, 0])
    np.testing.assert_array_equal(figure.axes[-1].lines[0].get_ydata(), found.error)
    plots.save(figure, tmp_path / "forecast")
    assert repr(found).startswith("Forecast(3 trials, 6 bins after 4, better than the last value for")


def test_what_cannot_be_fed_back_is_refused(series):
    net = linear_network(TRUE)
    with pytest.raises(errors.ArgumentError, match="warm_up is 9, but must be from 1 to 8"):
        train.forecast(net, series.train, warm_up=BINS)
    with pytest.raises(errors.ArgumentError, match="trial is 99"):
        plots.forecast(train.forecast(net, series.train), trial=99)
    square = tasks.flip_flop("square", trials=10, validation=5, bins=12)
    with pytest.raises(errors.ArgumentError, match="not the next samples of its inputs"):
        train.forecast(gnode.build("rnn", 2, 2, state=2, key=0), square.train)
