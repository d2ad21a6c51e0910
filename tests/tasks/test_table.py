"""A user's own series: a CSV file, and arrays with times and gaps."""

import json

import numpy as np
import pytest

from gnode import tasks
from gnode.errors import ArgumentError
from gnode.tasks import arrays

NAN = np.nan


def all_trials(task):
    """Inputs, targets, mask, dt and lengths of all parts, in the order of the first input."""
    parts = [part for part in (task.train, task.validation, task.test) if part is not None]
    names = ("inputs", "targets", "mask", "lengths")
    found = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    found["dt"] = np.concatenate([np.broadcast_to(part.dt, part.inputs.shape[:2]) for part in parts])
    order = np.argsort(found["inputs"][:, 0, -1])
    return {name: values[order] for name, values in found.items()}


@pytest.fixture
def regression(tmp_path):
    """Two trials by hand (rows of the second interleaved), and a third."""
    rows = [
        "time,trial,x,y,note_free",
        "0.0,a,1,10,5",
        "5.0,b,2,20,6",
        "0.2,a,1.5,,7",
        "5.1,b,,21,",
        "0.3,a,1.75,13,9",
        "",
        "0.0,c,3,30,8",
    ]
    path = tmp_path / "mine.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_a_table_on_regular_bins(regression):
    task = tasks.make(str(regression), target_columns=("y",), dt=0.1, fill="hold", validation=0.34)
    assert (task.loss, task.when, task.inputs, task.outputs, task.dt) == ("mse", "every", 2, 1, pytest.approx(0.1))
    found = all_trials(task)
    np.testing.assert_allclose(found["inputs"][0], [[1, 5], [1, 5], [1.5, 7], [1.75, 9]])
    np.testing.assert_allclose(found["inputs"][1], [[2, 6], [2, 6], [0, 0], [0, 0]])
    np.testing.assert_array_equal(found["mask"], [[1, 0, 0, 1], [1, 1, 0, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(found["targets"][0, :, 0], [10, 0, 0, 13])
    np.testing.assert_array_equal(found["lengths"], [4, 2, 1])
    np.testing.assert_allclose(found["dt"], 0.1 * (np.arange(4) < found["lengths"][:, None]), rtol=1e-6)


def test_a_table_with_a_bin_per_sample(regression):
    task = tasks.make(str(regression), target_columns=("y",), fill="hold", validation=0.34)
    found = all_trials(task)
    # The gaps are 0.2, 0.1 and 0.1 s; a trial's first bin takes their median.
    np.testing.assert_allclose(found["dt"], [[0.1, 0.2, 0.1], [0.1, 0.1, 0], [0.1, 0, 0]], rtol=1e-5)
    np.testing.assert_allclose(found["inputs"][1], [[2, 6], [2, 6], [0, 0]])
    np.testing.assert_array_equal(found["mask"][0], [1, 0, 1])


def test_columns_by_name(regression):
    task = tasks.make(
        str(regression), target_columns=("y",), input_columns=("x",), dt=0.1, fill="linear", validation=0.34
    )
    np.testing.assert_allclose(all_trials(task)["inputs"][0, :, 0], [1, 1.25, 1.5, 1.75])


def test_a_table_can_be_made_again_from_its_options(regression):
    task = tasks.make(str(regression), target_columns=("y",), dt=0.1, fill="hold", validation=0.34, key=4)
    again = tasks.make(task.name, **json.loads(json.dumps(task.options)))
    np.testing.assert_array_equal(task.train.inputs, again.train.inputs)
    np.testing.assert_array_equal(task.validation.targets, again.validation.targets)


def test_classes_of_trials(tmp_path):
    lines = ["trial,label,x"] + [
        f"{trial},{'ten' if trial % 2 else 'one'},{trial + step}" for trial in range(20) for step in (0, 1)
    ]
    (tmp_path / "c.csv").write_text("\n".join(lines))
    task = tasks.make(str(tmp_path / "c.csv"), dt=0.5, validation=0.2, test=0.2)
    assert (task.loss, task.classes, task.outputs, task.dt) == ("cross_entropy", ("one", "ten"), 2, 0.5)
    for part, size in ((task.train, 12), (task.validation, 4), (task.test, 4)):
        assert np.bincount(part.targets).tolist() == [size // 2, size // 2]
        np.testing.assert_array_equal(part.inputs[:, 0, 0] % 2, part.targets)


def test_numbers_as_classes_are_in_the_order_of_numbers(tmp_path):
    lines = ["trial,label,x"] + [f"{trial},{trial % 11},1" for trial in range(44)]
    (tmp_path / "c.csv").write_text("\n".join(lines))
    assert tasks.make(str(tmp_path / "c.csv"), dt=1.0).classes == tuple(str(number) for number in range(11))


GOOD = ["trial,time,x,y", "a,0,1,2", "a,1,2,3", "b,0,1,2", "b,1,2,3"]


@pytest.mark.parametrize(
    ("row", "text", "options", "sentence"),
    [
        (2, "a,1,two,3", {}, "'two' in row 3, column 'x', which is not a number"),
        (2, "a,1,2", {}, "3 cells in row 3, but 4 columns"),
        (2, "a,-1,2,3", {}, "time -1 s in row 3 after 0 s in trial 'a'"),
        (4, "b,0,2,3", {}, "row 5 after 0 s in trial 'b'"),
        (4, "b,,2,3", {}, "no time in row 5, column 'time'"),
        (2, "a,1,,3", {}, "inputs holds nan at trial 0, bin 1, channel 0.*needs a fill: hold"),
        (0, "trial,time,x,x", {}, "names its columns, each once"),
        (0, "trial,time,x,z", {}, "column is 'y', but must be one of: trial, time, x, z"),
        (0, "nr,time,x,y", {}, "column is 'trial'"),
        (4, "b,1,inf,3", {}, "inf at trial 1, sample 1"),
        (1, GOOD[1], {"target_columns": None}, "what is to be learned from"),
        (1, GOOD[1], {"label_column": "y"}, "what is to be learned from"),
        (1, GOOD[1], {"target_columns": ("x", "y")}, "is left to be an input"),
        (1, GOOD[1], {"fill": "spline"}, "fill is 'spline'"),
        (1, GOOD[1], {"column": "x"}, "an option of task .* is 'column'"),
    ],
)
def test_bad_tables_are_one_sentence(tmp_path, row, text, options, sentence):
    lines = GOOD[:row] + [text] + GOOD[row + 1 :]
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(lines))
    with pytest.raises(ArgumentError, match=sentence):
        tasks.make(str(path), **{"target_columns": ("y",), "validation": 0.5} | options)


def test_a_trial_without_a_number_and_a_trial_with_two_classes(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("trial,label,x\na,1,1\nb,1,\nb,1,NaN\n")
    with pytest.raises(ArgumentError, match="no number at all in the inputs of trial 'b'"):
        tasks.make(str(path), dt=1.0, validation=0.5)
    path.write_text("trial,label,x\na,1,1\nb,1,2\nb,2,3\n")
    with pytest.raises(ArgumentError, match="label '2' in row 4, but trial 'b' began as '1'"):
        tasks.make(str(path), dt=1.0, validation=0.5)
    path.write_text("trial,label,x\na,1,1\nb,,2\n")
    with pytest.raises(ArgumentError, match="no label in row 3"):
        tasks.make(str(path), dt=1.0, validation=0.5)
    with pytest.raises(ArgumentError, match="no column of times"):
        tasks.make(str(path), validation=0.5)
    path.write_text("trial,label,x\n")
    with pytest.raises(ArgumentError, match="holds no rows"):
        tasks.make(str(path), dt=1.0)
    with pytest.raises(ArgumentError, match="does not exist"):
        tasks.make(str(tmp_path / "nowhere.csv"), dt=1.0)


def test_arrays_with_gaps_are_filled_and_standardised_on_training_trials():
    rng = np.random.default_rng(0)
    inputs = rng.normal(3, 2, size=(40, 9, 2))
    inputs[rng.random(inputs.shape) < 0.2] = NAN
    targets = rng.normal(size=(40, 9, 1))
    with pytest.raises(ArgumentError, match="inputs holds nan"):
        arrays(inputs, targets, 0.1)
    task = arrays(inputs, targets, 0.1, fill="hold", standardise=True, timestamp="relative")
    assert task.inputs == 3
    plain = arrays(np.nan_to_num(inputs, nan=99.0), targets, 0.1)
    gaps = plain.train.inputs == 99.0
    values = np.where(gaps, NAN, plain.train.inputs)
    scaled = (values - np.nanmean(values, axis=(0, 1))) / np.nanstd(values, axis=(0, 1))
    np.testing.assert_allclose(task.train.inputs[..., 1:], tasks.fill(scaled, "hold"), atol=1e-4)
    np.testing.assert_allclose(task.train.inputs[3, :, 0], np.arange(9) / 9, rtol=1e-6)


def test_padding_has_no_part_in_standardising():
    inputs = np.full((20, 6, 1), 1e6)
    inputs[:, :3] = np.random.default_rng(0).normal(size=(20, 3, 1))
    task = arrays(inputs, np.zeros((20, 6, 1)), 0.1, lengths=np.full(20, 3), standardise=True)
    np.testing.assert_allclose(task.train.inputs[:, :3].mean(), 0, atol=1e-5)
    np.testing.assert_array_equal(task.train.inputs[:, 3:], 0)


def test_arrays_with_times(tmp_path):
    times = np.array([[0.0, 0.1, 0.4], [1.0, 1.2, NAN], [0.0, 0.1, 0.2]])
    inputs = np.arange(9.0).reshape(3, 3, 1)
    np.savez(tmp_path / "mine.npz", inputs=inputs, targets=np.array([0, 1, 1]), times=times)
    on_bins = tasks.make(str(tmp_path / "mine.npz"), dt=0.1, fill="linear", validation=0.34, timestamp="seconds")
    found = all_trials(on_bins)
    np.testing.assert_allclose(found["inputs"][0, :, 1], [0, 1, 4 / 3, 5 / 3, 2], rtol=1e-5)
    np.testing.assert_allclose(found["inputs"][1, :, 1], [3, 3.5, 4, 0, 0], rtol=1e-5)
    np.testing.assert_allclose(found["inputs"][0, :, 0], 0.1 * np.arange(5), atol=1e-6)
    assert found["lengths"].tolist() == [5, 3, 3]
    with pytest.raises(ArgumentError, match=r"times has shape \(3, 2\)"):
        arrays(inputs, np.array([0, 1, 1]), times=times[:, :2])
    with pytest.raises(ArgumentError, match="backwards in trial 0 at sample 2"):
        arrays(inputs[:1], np.array([0]), times=times[:1, [0, 2, 1]])
    with pytest.raises(ArgumentError, match="dt is missing"):
        arrays(inputs, np.array([0, 1, 1]))


def test_the_names_of_classes_must_be_as_many_as_the_classes():
    with pytest.raises(ArgumentError, match="3 names of classes, but outputs is 2"):
        arrays(np.zeros((10, 2, 1)), np.arange(10) % 2, 0.1, outputs=2, classes=("a", "b", "c"))
