"""The flip-flop family does what the paper says, pulse by pulse."""

import json
from functools import cache

import jax
import numpy as np
import pytest

from gnode import tasks
from gnode.errors import ArgumentError
from gnode.tasks import flip_flop


def replay(inputs, width, start):
    """Targets rebuilt from the inputs alone: hold the last non-zero value. Needs pulses that do not touch."""
    held, out = np.array(start, float), []
    for x in inputs:
        held = np.where(x != 0, x, held)
        out.append(held)
    return np.array(out)


@pytest.mark.parametrize(
    ("amplitude", "start"),
    [
        ("fixed", [1, 1, 1]),
        ("variable", [0, 0, 0]),
        ("square", [0, 0]),
        ("rectangle", [0, 0]),
        ("annulus", [0, 0]),
        ("ring", [0, 0]),
    ],
)
def test_the_target_is_the_last_pulse(amplitude, start):
    task = flip_flop(amplitude, trials=60, validation=1, key=3)
    for inputs, targets in zip(task.train.inputs, task.train.targets):
        np.testing.assert_allclose(replay(inputs, 2, start), targets, atol=1e-6)


def test_shapes_and_defaults():
    task = tasks.make("flipflop-variable")
    assert task.train.inputs.shape == (500, 100, 3)
    assert task.validation.targets.shape == (100, 100, 3)
    assert task.dt == pytest.approx(0.01)
    assert tasks.make("flipflop-disk").name == "flipflop-annulus"


def onsets(inputs):
    """Bins where an input becomes another non-zero value, for all trials."""
    before = np.concatenate([np.zeros_like(inputs[:, :1]), inputs[:, :-1]], axis=1)
    return (inputs != before) & (inputs != 0)


@cache
def many_trials(amplitude):
    """Inputs of 4000 trials, drawn once for all tests of their statistics."""
    return flip_flop(amplitude, trials=4000, validation=1, key=1).train.inputs


@pytest.mark.parametrize(("amplitude", "mean"), [("variable", 12), ("square", 12), ("annulus", 6), ("ring", 12)])
def test_the_number_of_pulses_is_poisson(amplitude, mean):
    counts = np.any(onsets(many_trials(amplitude)), axis=2).sum(axis=1)
    # Pulses of neighbouring onsets are still told apart by their value, so every one is seen.
    assert counts.mean() == pytest.approx(mean, abs=5 * np.sqrt(mean / 4000))
    assert counts.var() == pytest.approx(mean, rel=0.15)


def test_sizes():
    variable = many_trials("variable")
    values = variable[onsets(variable)]
    assert np.abs(values).max() <= 1
    np.testing.assert_allclose(np.quantile(values, [0.25, 0.5, 0.75]), [-0.5, 0, 0.5], atol=0.03)
    fixed = flip_flop("fixed", trials=200, validation=1).train
    assert set(np.unique(fixed.inputs)) == {-1.0, 0.0, 1.0}
    rectangle = flip_flop("rectangle", trials=2000, validation=1).train
    assert 1.9 < np.abs(rectangle.inputs[..., 0]).max() <= 2
    assert 0.95 < np.abs(rectangle.inputs[..., 1]).max() <= 1


def test_annulus_is_uniform_over_its_area_and_the_ring_is_a_ring():
    norm = np.linalg.norm(many_trials("annulus"), axis=-1)
    norm = norm[norm > 0]
    assert norm.min() >= 1 - 1e-6
    assert norm.max() <= 2 + 1e-6
    assert (norm**2).mean() == pytest.approx(2.5, abs=0.03)  # r^2 uniform on [1, 4]
    ring = np.linalg.norm(many_trials("ring"), axis=-1)
    np.testing.assert_allclose(ring[ring > 0], 2, atol=1e-5)


def test_both_channels_pulse_together_only_where_they_should():
    together = flip_flop("annulus", trials=200, validation=1).train.inputs != 0
    np.testing.assert_array_equal(together[..., 0], together[..., 1])
    apart = onsets(flip_flop("square", trials=200, validation=1).train.inputs)
    assert not np.any(apart[..., 0] & apart[..., 1])


def widths_of(task):
    found = []
    for trial in task.train.inputs:
        for channel in trial.T:
            starts = np.flatnonzero(np.diff(np.concatenate([[0.0], channel])) * (channel != 0))
            found += [int(np.argmax(np.append(channel[s:] != channel[s], True))) for s in starts]
    return np.array(found)


def test_pulse_width_by_the_text_and_by_the_code():
    """The text: 20 ms, two bins. The public code: an inclusive range, three bins. Shorter only where cut by the next."""
    for reading, width in (("text", 2), ("code", 3)):
        widths = widths_of(flip_flop("variable", trials=300, validation=1, reading=reading))
        assert widths.max() == width
        assert (widths == width).mean() > 0.85


def test_onsets_by_the_text_and_by_the_code():
    """Without replacement two pulses never begin together; with it they do. The code drops pulses that overrun the end."""
    text, code = (
        flip_flop("variable", bits=8, trials=400, validation=1, reading=r).train.inputs for r in ("text", "code")
    )
    assert onsets(text).sum(axis=-1).max() == 1
    assert onsets(code).sum(axis=-1).max() > 1
    assert onsets(text)[:, -1].any()
    assert not onsets(code)[:, -2:].any()


@pytest.mark.parametrize(
    ("amplitude", "code"),
    [("fixed", [1, 1, 1]), ("variable", [0, 0, 0]), ("annulus", [1.5, 0]), ("ring", [2, 0])],
)
def test_start_values_of_the_code(amplitude, code):
    task = flip_flop(amplitude, trials=50, validation=1, reading="code")
    quiet = ~np.any(task.train.inputs[:, :1] != 0, axis=(1, 2))
    np.testing.assert_allclose(task.train.targets[quiet, 0], np.tile(code, (quiet.sum(), 1)))


def test_start_can_be_set():
    task = flip_flop("ring", trials=50, validation=1, start=(2, 0))
    quiet = ~np.any(task.train.inputs[:, 0] != 0, axis=-1)
    np.testing.assert_allclose(task.train.targets[quiet, 0], np.tile([2, 0], (quiet.sum(), 1)))


def test_held_out_amplitudes():
    norm = np.linalg.norm(flip_flop("annulus", trials=100, validation=1, span=(2, 4)).train.inputs, axis=-1)
    norm = norm[norm > 0]
    assert norm.min() >= 2 - 1e-5
    assert 3.8 < norm.max() <= 4 + 1e-5


def test_the_same_key_gives_the_same_data_and_another_key_another():
    a, b, c = (flip_flop("square", trials=5, validation=1, key=key).train.inputs for key in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert np.any(a != c)


@pytest.mark.parametrize("key", [9, jax.random.key(4)])
def test_options_make_the_same_task_again(key):
    task = flip_flop("ring", trials=5, validation=2, start=(2, 0), span=(1.5, 2.5), key=key)
    json.dumps(task.options)
    again = tasks.make(task.name, **task.options)
    np.testing.assert_array_equal(task.train.inputs, again.train.inputs)
    np.testing.assert_array_equal(task.validation.targets, again.validation.targets)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"amplitude": "sqare"}, "Did you mean 'square'"),
        ({"bits": 0}, "bits is 0"),
        ({"dt": -0.01}, "dt is -0.01"),
        ({"span": (2, 1)}, "must not be above"),
        ({"start": (1, 2, 3)}, "one number per channel"),
        ({"reading": "julia"}, "reading is 'julia'"),
        ({"mean_pulses": -1}, "mean_pulses is -1"),
    ],
)
def test_bad_options(options, word):
    with pytest.raises(ArgumentError, match=word):
        flip_flop(**{"amplitude": "square", "trials": 2, "validation": 1} | options)


def test_unknown_names_are_answered_with_the_nearest():
    with pytest.raises(ArgumentError, match="Did you mean 'flipflop-ring'"):
        tasks.make("flipflop-rings")
    with pytest.raises(ArgumentError, match="Did you mean 'trials'"):
        tasks.make("flipflop-ring", trails=5)


@pytest.mark.parametrize("key", [0, 1])
def test_new_trials_are_new(key):
    task = tasks.make("flipflop-annulus", trials=30, validation=10, bins=40, key=key)
    fresh = tasks.new_trials(task, 20)
    own = np.concatenate([task.train.inputs, task.validation.inputs])
    assert fresh.inputs.shape == (20, 40, 2)
    assert not any(np.array_equal(one, other) for one in fresh.inputs for other in own)
    large = tasks.new_trials(task, 20, span=(3.0, 4.0))
    assert np.linalg.norm(large.inputs, axis=-1).max() > 3
    with pytest.raises(ArgumentError, match="no new trials"):
        tasks.new_trials(tasks.arrays(np.ones((4, 3, 1)), np.ones((4, 3, 1)), 0.1, validation=0.25), 5)
