"""The Ornstein-Uhlenbeck process: closed forms, the exact transition against a solved equation, and the task."""

import numpy as np
import pytest

from gnode import tasks
from gnode.errors import ArgumentError
from gnode.expressivity import along_path, solve_ou
from gnode.tasks import OrnsteinUhlenbeck

OTHER = OrnsteinUhlenbeck(tau=2.0, decay=-1.5, drive=0.7, noise=1.3)


@pytest.mark.parametrize("process", [OrnsteinUhlenbeck(), OTHER])
def test_mean_variance_and_autocorrelation_are_those_of_the_closed_form(process):
    """m = -x / lambda, v = sigma^2 / (2 tau |lambda|), c(s) = v exp(lambda s / tau); within five standard errors."""
    z = process.sample(40_000, 4, dt=0.5, key=0)
    expected_mean = -process.drive / process.decay
    expected_variance = process.noise**2 / (2 * process.tau * -process.decay)
    kept = np.exp(process.decay * 0.5 / process.tau)
    independent = z.size * (1 - kept) / (1 + kept)  # samples that count, given their correlation
    assert abs(z.mean() - expected_mean) < 5 * np.sqrt(expected_variance / independent)
    assert abs(z.var() / expected_variance - 1) < 5 * np.sqrt(2 / independent)
    deviation = z - expected_mean
    for lag in (1, 2, 5):
        correlation = np.mean(deviation[lag:] * deviation[:-lag]) / expected_variance
        assert abs(correlation - kept**lag) < 5 / np.sqrt(independent)


def test_from_a_given_start_mean_and_variance_relax_as_they_should():
    """E z(t) = m + (z0 - m) e^(-rt), var z(t) = v (1 - e^(-2rt)), over many channels."""
    z = OTHER.sample(4, 50_000, dt=0.5, key=3, start=4.0)
    t = 0.5 * np.arange(1, 5)
    variance = OTHER.variance * (1 - np.exp(-2 * OTHER.rate * t))
    mean = OTHER.mean + (4.0 - OTHER.mean) * np.exp(-OTHER.rate * t)
    assert np.all(np.abs(z.mean(axis=1) - mean) < 5 * np.sqrt(variance / 50_000))
    assert np.all(np.abs(z.var(axis=1) / variance - 1) < 5 * np.sqrt(2 / 50_000))


def path_error(steps):
    """The largest difference between the solved equation and the exact solution along the same Brownian path."""
    how = {"dt": 0.5, "key": 1, "start": 0.3, "steps": steps}
    return np.abs(solve_ou(OTHER, 4, 3, **how) - along_path(OTHER, 4, 3, **how)).max()


def test_the_solved_equation_is_the_exact_solution_along_the_same_path():
    assert path_error(256) < 2e-3


@pytest.mark.slow
def test_the_difference_falls_with_the_step():
    """It is the trapezoidal rule's."""
    assert path_error(256) < path_error(16) / 8  # first order would give 16


def test_the_solved_equation_and_the_exact_draws_have_one_distribution():
    """From a fixed start, moments of z(t) over many channels, at times before and after the correlation time."""
    channels, times = 4000, 4
    solved = solve_ou(OTHER, times, channels, dt=0.7, key=5, start=-1.0, steps=4)
    drawn = OTHER.sample(times, channels, dt=0.7, key=6, start=-1.0)
    spread = np.sqrt(OTHER.variance)
    assert np.all(np.abs(solved.mean(axis=1) - drawn.mean(axis=1)) < 5 * spread * np.sqrt(2 / channels))
    assert np.all(np.abs(solved.var(axis=1) / drawn.var(axis=1) - 1) < 5 * np.sqrt(4 / channels))


def test_the_task_is_the_papers():
    task = tasks.make("ou")
    assert task.train.inputs.shape == (1, 100, 30)
    assert np.all(task.train.inputs == 1)
    assert task.train.dt == 1.0
    assert task.outputs == 30
    assert task.train is task.validation  # judged by what it is trained on
    assert abs(task.train.targets.mean() - 1.0) < 0.1
    assert abs(task.train.targets.var() - 0.5) < 0.1


def test_a_shorter_task_is_the_beginning_of_a_longer_one_and_options_make_it_again():
    long, short = tasks.ou(bins=40, key=7), tasks.ou(bins=9, key=7)
    assert np.array_equal(long.train.targets[:, :9], short.train.targets)
    assert np.array_equal(tasks.make("ou", **short.options).train.targets, short.train.targets)
    assert not np.array_equal(tasks.ou(bins=9, key=8).train.targets, short.train.targets)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"lambda_ou": 1.0}, "lambda_ou is 1.0, but must be negative"),
        ({"tau_ou": 0.0}, "tau_ou is 0.0, but must be a positive number"),
        ({"bins": 0}, "bins is 0"),
        ({"start": (1.0, 2.0)}, "one per channel"),
    ],
)
def test_bad_input(options, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        tasks.ou(**options)
