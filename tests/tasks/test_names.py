"""Names of channels and classes, from the file to the figures; counts of observations; a class at every bin."""

import jax
import numpy as np
import pytest

from gnode import build, fit, plots, tasks
from gnode.errors import ArgumentError
from gnode.tasks import Task, Trials, arrays, generated
from gnode.train import evaluate
from gnode.train.spec import RunSpec, read

X = np.arange(6 * 4 * 2, dtype=float).reshape(6, 4, 2)


def test_names_of_a_table(tmp_path):
    rows = [f"{trial},{step},{trial + step},{step},{trial}" for trial in range(4) for step in range(2)]
    table = tmp_path / "a.csv"
    table.write_text("\n".join(["trial,time,lever $x$,lick_{,reward", *rows]))
    task = tasks.make(table, target_columns=("reward",), timestamp="relative", counts=True)
    assert task.input_names == ("time", "lever $x$", "lick_{", "count of lever $x$", "count of lick_{")
    assert (task.output_names, task.classes) == (("reward",), None)


def test_names_of_a_file_of_arrays(tmp_path):
    names = {"input_names": np.array(["a", "b"]), "label_names": np.array(["left", "right"])}
    np.savez(tmp_path / "a.npz", inputs=X, targets=np.arange(6) % 2, dt=0.1, **names)
    task = tasks.make(tmp_path / "a.npz")
    assert (task.input_names, task.classes, task.outputs) == (("a", "b"), ("left", "right"), 2)
    np.savez(tmp_path / "b.npz", inputs=X, targets=X[..., :1], dt=0.1, target_names=np.array(["y"]))
    assert tasks.make(tmp_path / "b.npz").output_names == ("y",)
    np.savez(tmp_path / "c.npz", inputs=X, targets=X, dt=0.1, input_names=np.array([["a", "b"]]))
    with pytest.raises(ArgumentError, match=r"input_names has shape \(1, 2\)"):
        tasks.make(tmp_path / "c.npz")


def test_wrong_numbers_of_names_are_sentences():
    with pytest.raises(ArgumentError, match="input_names holds 1 names, but inputs has 2"):
        arrays(X, X, 0.1, input_names=["a"])
    with pytest.raises(ArgumentError, match="output_names holds 3 names, but the task has 2 outputs"):
        arrays(X, X, 0.1, target_names=["a", "b", "c"])
    trials = Trials(X, X, 0.1)
    with pytest.raises(ArgumentError, match="input_names holds 1 names, but the task has 2 inputs"):
        Task("mine", trials, trials, outputs=2, input_names=("a",))


def test_figures_write_names_as_they_are():
    figure = plots.example_trial(X[0], X[0], X[0], input_names=["$a_{", "same"], output_names=["y", "same"])
    labels = [axis.yaxis.label for axis in figure.axes]
    assert [label.get_text() for label in labels] == ["y\n(in: $a_{)", "same"]
    figure.draw_without_rendering()  # a name with an open brace would be an error in mathematics
    assert plots.example_trial(X[0], X[0]).axes[1].get_ylabel() == "Channel 2"
    series = plots.example_series(X, X, names=["$a_{"])
    assert [text.get_text() for text in series.legends[0].get_texts()][-2:] == ["$a_{", "channel 2"]
    series.draw_without_rendering()


def test_counts_of_observations():
    values = np.ones((4, 4, 1))
    values[0, :, 0] = [1, np.nan, 1, np.nan]
    split = ["train", "train", "train", "validation"]
    task = arrays(values, values[..., :1] * 0 + 1, 0.1, fill="hold", counts=True, lengths=[4, 4, 2, 4], split=split,
                  mask=~np.isnan(values[..., 0]))  # fmt: skip
    assert task.train.inputs.shape == (3, 4, 2)
    np.testing.assert_array_equal(task.train.inputs[0, :, 1], [0.25, 0.25, 0.5, 0.5])
    np.testing.assert_array_equal(task.train.inputs[2, :, 1], [0.25, 0.5, 0, 0])  # nothing after the end
    np.testing.assert_array_equal(task.train.inputs[0, :, 0], 1)


def test_counts_of_a_table_as_a_command_makes_it(tmp_path):
    rows = [f"{trial},{0.1 * step},{'' if step == 1 else trial},{step}" for trial in range(8) for step in range(3)]
    (tmp_path / "a.csv").write_text("\n".join(["trial,time,x,y", *rows]))
    texts = {"target_columns": "y", "fill": "hold", "counts": "yes"}
    spec = RunSpec.of(str(tmp_path / "a.csv"), {name: read(name, text) for name, text in texts.items()})
    task = spec.make_task()
    assert task.input_names == ("x", "count of x")
    np.testing.assert_allclose(task.train.inputs[0, :, 1], [1 / 3, 1 / 3, 2 / 3])


def test_masks_of_arrays_come_before_the_inputs():
    values = np.ones((4, 4, 2))
    values[0, :, 0] = [1, np.nan, 1, np.nan]
    values[0, 3, 1] = np.nan
    split = ["train", "train", "train", "validation"]
    task = arrays(values, np.zeros((4, 4, 1)), 0.1, fill="hold", masks=True, timestamp="seconds",
                  lengths=[4, 4, 2, 4], split=split, input_names=("x", "y"))  # fmt: skip
    assert task.input_names == ("mask of time", "mask of x", "mask of y", "time", "x", "y")
    np.testing.assert_array_equal(task.train.inputs[0, :, :3].T, [[1, 1, 1, 0], [1, 0, 1, 0], [1, 1, 1, 0]])
    np.testing.assert_array_equal(task.train.inputs[2, :, 0], [1, 1, 0, 0])  # nothing after the end
    np.testing.assert_allclose(task.train.inputs[0, :, 3], [0, 0.1, 0.2, 0.3], atol=1e-7)


def per_bin_task():
    """The class of a bin is whether its input is positive."""
    values = np.random.default_rng(0).normal(size=(40, 6, 1))
    return arrays(values, (values[..., 0] > 0).astype(int), 0.1, classes=("low", "high"), validation=0.25)


def test_a_class_at_every_bin_is_learned():
    task = per_bin_task()
    assert (repr(task.train), task.when, task.loss) == (
        "Trials(30 trials, 6 bins, 1 input, 1 class per bin)", "every", "cross_entropy",
    )  # fmt: skip
    net = build("rnn", 1, 2, state=4, tau=0.1, key=0)
    run = fit(net, task, key=0, epochs=60, lr=0.05, batch_size=10, label_smoothing=0.01)
    scores = evaluate(run.net, task)
    assert scores.confusion.sum() == 10 * 6  # bins
    # The same numbers by hand, from the outputs of the network.
    outputs = np.asarray(run.net.run(task.validation.inputs, dt=0.1).outputs, float)
    log_share = outputs - np.log(np.exp(outputs).sum(-1, keepdims=True))
    by_hand = -np.take_along_axis(log_share, task.validation.targets[..., None], -1).mean()
    assert scores.loss == pytest.approx(by_hand, rel=1e-4)
    assert scores.accuracy == pytest.approx(np.mean(outputs.argmax(-1) == task.validation.targets))
    assert scores.accuracy > 0.9
    assert run.curves["accuracy"][run.best_epoch - 1] == pytest.approx(scores.accuracy, abs=1e-6)


def test_a_generator_may_draw_a_class_at_every_bin():
    def sign(key):
        inputs = jax.random.normal(key, (4, 1))
        return inputs, (inputs[:, 0] > 0).astype(int)

    task = generated(sign, dt=0.1, trials=3, validation=2, outputs=2)
    assert (task.train.targets.shape, task.loss) == ((3, 4), "cross_entropy")
    np.testing.assert_array_equal(task.train.targets, task.train.inputs[..., 0] > 0)


def test_classes_that_do_not_count_may_be_anything():
    labels = np.array([[0, 1, -1], [1, 0, 7]])
    mask = np.array([[1, 1, 0], [1, 1, 0]])
    trials = Trials(np.zeros((2, 3, 1)), labels, 0.1, mask=mask, lengths=[3, 2])
    assert trials.targets.tolist() == [[0, 1, 0], [1, 0, 0]]
    assert trials.end_classes().tolist() == [0, 0]
    with pytest.raises(ArgumentError, match="a label is 7"):
        Task("mine", *[Trials(np.zeros((2, 3, 1)), np.abs(labels), 0.1)] * 2, outputs=2, loss="cross_entropy")
    with pytest.raises(ArgumentError, match=r"must be \(2,\), one per trial, or \(2, 3\), one per bin"):
        Trials(np.zeros((2, 3, 1)), labels[:, :2], 0.1)
