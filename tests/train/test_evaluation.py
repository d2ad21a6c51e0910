"""Scores on unseen trials, against numpy and against the loss that training uses."""

import dataclasses

import numpy as np
import pytest

from gnode import build, errors, fit, load, tasks
from gnode.sweeps import sweep
from gnode.train import RunSpec, _evaluation, error_by_horizon, evaluate
from gnode.train.batch import to_device
from gnode.train.loss import losses

RNG = np.random.default_rng(0)


def series_task(test=0.2, trials=40, bins=12):
    """Predict the next value of a decaying oscillation with a gap, from a time stamp and two channels."""
    phase = RNG.uniform(0, 6, (trials, 1))
    angle = phase + 0.4 * np.arange(bins + 1)
    states = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    stamps = np.broadcast_to(np.arange(bins)[None, :, None] / bins, (trials, bins, 1))
    mask = (RNG.uniform(size=(trials, bins)) < 0.8).astype(float)
    inputs = np.concatenate([stamps, states[:, :-1]], axis=-1)
    return tasks.arrays(inputs, states[:, 1:], 1.0, mask=mask, test=test)


def class_task(when="last", trials=60):
    labels = RNG.integers(0, 3, trials)
    inputs = RNG.normal(size=(trials, 7, 2)) + labels[:, None, None]
    return tasks.arrays(inputs, labels, 0.5, lengths=RNG.integers(3, 8, trials), test=0.3, when=when)


@pytest.mark.parametrize("at_a_time", [3, 7, 512])
@pytest.mark.parametrize("make", [series_task, class_task, lambda: class_task("every")], ids=["mse", "last", "every"])
def test_loss_is_that_of_training_however_it_is_cut(make, at_a_time, monkeypatch):
    monkeypatch.setattr(_evaluation, "TRIALS_AT_A_TIME", at_a_time)
    task = make()
    net = build("gru", task.inputs, task.outputs, state=4, tau=1.0, key=0)
    expected = float(losses(net, to_device(task.test), task.loss, task.when).loss)
    assert evaluate(net, task, task.test).loss == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("when", ["last", "every"])
def test_accuracy_and_confusion_by_counting(when):
    task = class_task(when)
    net = build("gru", 2, 3, state=5, tau=1.0, key=0)
    outputs = np.asarray(net.run(task.test.inputs, dt=0.5).outputs)
    confusion = np.zeros((3, 3), int)
    for trial, (label, length) in enumerate(zip(task.test.targets, task.test.lengths)):
        for bin in range(length) if when == "every" else [length - 1]:
            confusion[label, np.argmax(outputs[trial, bin])] += 1
    found = evaluate(net, task, task.test)
    np.testing.assert_array_equal(found.confusion, confusion)
    assert found.accuracy == pytest.approx(np.trace(confusion) / confusion.sum())


def test_error_by_bin_by_numpy():
    task = series_task()
    net = build("gru", 3, 2, state=5, tau=1.0, key=0)
    outputs = np.asarray(net.run(task.test.inputs, dt=1.0).outputs)
    error = np.mean((outputs - task.test.targets) ** 2, axis=-1)
    expected = np.sum(error * task.test.mask, axis=0) / task.test.mask.sum(axis=0)
    np.testing.assert_allclose(evaluate(net, task, task.test).by_bin, expected, rtol=1e-4)


def test_a_run_is_tested_with_its_best_weights_and_keeps_the_scores(tmp_path):
    task = class_task()
    net = build("gru", 2, 3, state=5, tau=0.5, key=0)
    run = fit(net, task, epochs=3, batch_size=10, lr=1e-2, out=tmp_path / "run")
    assert run.test == run.evaluate(task.test)
    assert set(run.test) == {"loss", "accuracy"}
    assert f"test accuracy {run.test['accuracy']:.4g}" in run.summary()
    assert load(tmp_path / "run", task=task).test == run.test


def test_without_test_trials_there_is_no_score():
    task = tasks.flip_flop("square", trials=10, validation=5, bins=10)
    run = fit(build("rnn", 2, 2, state=3, tau=0.01, key=0), task, epochs=1, batch_size=10)
    assert run.test is None
    assert "test" not in run.summary()


def test_a_sweep_tabulates_test_scores(tmp_path):
    everything = class_task()
    file = tmp_path / "mine.npz"
    np.savez(file, inputs=everything.train.inputs, targets=everything.train.targets, dt=0.5)
    found = sweep(
        str(file), tmp_path / "sweep", model=["rnn", "gru"], seed=[0, 1], state=3, epochs=2, test=0.2, progress=False
    )
    table = found.table()
    assert all(0 <= accuracy <= 1 for accuracy in table["test_accuracy"])
    best = found.best()["gru"]
    chosen = [value for value, model in zip(table["test_loss"], table["model"]) if model == "gru"]
    assert best["test"]["loss"] == pytest.approx(np.mean(chosen))
    assert "test accuracy" in found.markdown()


def test_horizon_by_a_loop():
    task = series_task(trials=30)
    trials = task.test
    net = build("gru", 3, 2, state=4, tau=1.0, key=2)
    found = error_by_horizon(net, trials, warm_up=5)
    expected = []
    inputs = np.array(trials.inputs)
    for bin in range(4, trials.bins):
        outputs = np.asarray(net.run(inputs, dt=1.0).outputs)
        error = np.mean((outputs[:, bin] - trials.targets[:, bin]) ** 2, axis=-1)
        expected.append(np.sum(error * trials.mask[:, bin]) / trials.mask[:, bin].sum())
        if bin + 1 < trials.bins:
            inputs[:, bin + 1, 1:] = outputs[:, bin]
    np.testing.assert_allclose(found.network, expected, rtol=1e-4)
    still = np.mean((trials.inputs[:, 4, 1:] - trials.targets[:, 6]) ** 2, axis=-1)
    assert found.last_value[2] == pytest.approx(np.sum(still * trials.mask[:, 6]) / trials.mask[:, 6].sum(), rel=1e-5)


def test_horizon_says_what_it_needs():
    task = series_task()
    net = build("gru", 3, 2, state=4, tau=1.0, key=2)
    with pytest.raises(errors.ArgumentError, match="warm_up is 12, but must be from 1 to 11"):
        error_by_horizon(net, task.test, warm_up=12)
    wide = dataclasses.replace(task.test, inputs=task.test.inputs[..., :1])
    with pytest.raises(errors.ArgumentError, match="must predict its own inputs"):
        error_by_horizon(build("gru", 1, 2, state=4, tau=1.0, key=2), wide, warm_up=3)


def test_a_task_brings_its_growing_schedule_unless_epochs_are_given():
    walker = RunSpec.of("walker2d", {}).settings
    assert walker["epochs"] == 700
    assert walker["spans"][0] == (14, 100)
    assert walker["spans"][-1] == (84, 200)
    assert RunSpec.of("characters", {}).settings["epochs"] == 1300
    assert "spans" not in RunSpec.of("walker2d", {"epochs": 5}).settings
    own = RunSpec.of("walker2d", {"schedule": ((10, 2), (84, 3))}).settings
    assert own["epochs"] == 5
