"""Own splits: parts that the data name, and groups that are held out."""

import csv

import numpy as np
import pytest

from gnode import tasks
from gnode.errors import ArgumentError
from gnode.sweeps._table import best_settings
from gnode.tasks import Series, arrays
from gnode.train.spec import RunSpec, read

X = np.arange(6 * 3, dtype=float).reshape(6, 3, 1)
SESSIONS = ["s1", "s1", "s2", "s2", "s3", "s3"]


def firsts(trials):
    return [] if trials is None else trials.inputs[:, 0, 0].tolist()


def parts(task):
    return [firsts(part) for part in (task.train, task.validation, task.test)]


def test_parts_by_name():
    split = ["train", "test", "train", "validation", "train", "validation"]
    assert parts(arrays(X, X, 0.1, split=split)) == [[0, 6, 12], [9, 15], [3]]
    assert parts(arrays(X, X, 0.1, split=np.array(split))) == [[0, 6, 12], [9, 15], [3]]


def test_groups_are_held_out():
    assert parts(arrays(X, X, 0.1, split=SESSIONS, validate_on="s2", test_on="s3")) == [[0, 3], [6, 9], [12, 15]]
    assert parts(arrays(X, X, 0.1, split=SESSIONS, validate_on=["s1", "s3"])) == [[6, 9], [0, 3, 12, 15], []]
    numbers = [1, 1, 2, 2, 3, 3]
    assert parts(arrays(X, X, 0.1, split=np.array(numbers, float), validate_on=2, test_on=("3",)))[1:] == [
        [6, 9],
        [12, 15],
    ]


def test_a_series_is_split_too():
    series = Series.of(list(X), targets=list(X))
    assert parts(arrays(series, split=SESSIONS, validate_on="s2"))[1] == [6, 9]


def test_a_random_split_is_as_before():
    """The default share has become None, which must be the same 15 percent."""
    many = np.arange(40.0).reshape(20, 2, 1)
    assert parts(arrays(many, many, 0.1, key=3)) == parts(arrays(many, many, 0.1, key=3, validation=0.15, test=0.0))


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"split": ["train"] * 6}, "split has no trial for validation"),
        ({"split": ["validation"] * 6}, "split has no trial for train"),
        ({"split": ["train", "valid"] * 3}, "split of trial 1 is 'valid'.*Did you mean 'validation'"),
        ({"split": SESSIONS}, "say which are held out"),
        ({"split": SESSIONS, "validate_on": "s9"}, "validate_on is 's9', but must be one of: s1, s2, s3"),
        ({"split": SESSIONS, "validate_on": "s1", "test_on": ["s3", "s1"]}, "'s1' is in validate_on too"),
        ({"split": SESSIONS, "validate_on": ["s1", "s2", "s3"]}, "split has no trial for train"),
        ({"split": SESSIONS, "test_on": "s1"}, "validate_on is missing"),
        ({"split": SESSIONS, "validate_on": []}, "must be names of groups"),
        ({"split": SESSIONS, "validate_on": {"s1": 1}}, "must be names of groups"),
        ({"split": SESSIONS, "validate_on": "s1", "validation": 0.2}, "validation is 0.2, a share"),
        ({"split": ["train", "test"]}, r"split has shape \(2,\)"),
        ({"split": ["train", None, *["validation"] * 4]}, "split of trial 1 is None"),
        ({"split": [1.0, np.nan, 1, 1, 2, 2], "validate_on": 2}, "split of trial 1 is nan"),
        ({"split": [["a"], ["b", "c"], "d"]}, "one name per trial"),
        ({"validate_on": "s1"}, "nothing says which trials these are"),
    ],
)
def test_wrong_splits_are_sentences(options, word):
    with pytest.raises(ArgumentError, match=word):
        arrays(X, X, 0.1, **options)


def write_table(path, heads, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([heads, *rows])
    return str(path)


def test_a_column_of_parts_or_groups(tmp_path):
    rows = [[trial, step, trial, session, trial] for trial, session in enumerate(SESSIONS) for step in range(2)]
    table = write_table(tmp_path / "a.csv", ["trial", "time", "x", "session", "y"], rows)
    options = {"target_columns": ("y",), "input_columns": ("x",), "split_column": "session"}
    task = tasks.make(table, **options, validate_on=("s2",), test_on=("s3",))
    assert parts(task) == [[0, 1], [2, 3], [4, 5]]
    assert parts(tasks.make(table, **task.options)) == parts(task)
    # The trial itself is a group, and a column of groups is no input.
    assert parts(tasks.make(table, **options | {"split_column": "trial"}, validate_on=("0", "5")))[1] == [0, 5]
    assert tasks.make(table, target_columns=("y",), split_column="session", validate_on="s1").inputs == 1


def test_a_column_called_split_is_taken(tmp_path):
    rows = [[trial, trial, part, "ab"[trial % 2]] for trial, part in enumerate(["train", "validation"] * 3)]
    table = write_table(tmp_path / "a.csv", ["trial", "x", "split", "label"], rows)
    task = tasks.make(table, dt=0.1)
    assert (parts(task), task.inputs, task.classes) == ([[0, 2, 4], [1, 3, 5], []], 1, ("a", "b"))


@pytest.mark.parametrize(
    ("cells", "word"),
    [
        (
            ["train", "test", "validation", "validation"],
            r"split 'test' in row 3, but trial '0' began as 'train'; a trial bel",
        ),
        (["train", "", "validation", "validation"], "has no split in row 3"),
        (["train", "train", "train", "train"], "no trial for validation"),
    ],
)
def test_wrong_columns_are_sentences(tmp_path, cells, word):
    rows = [[row // 2, row, cell, row] for row, cell in enumerate(cells)]
    table = write_table(tmp_path / "a.csv", ["trial", "x", "split", "y"], rows)
    with pytest.raises(ArgumentError, match=word):
        tasks.make(table, dt=0.1, target_columns=("y",))


def test_an_array_of_parts_or_groups_in_a_file(tmp_path):
    np.savez(tmp_path / "a.npz", inputs=X, targets=X, dt=0.1, split=np.array(SESSIONS))
    np.savez(tmp_path / "b.npz", inputs=X, targets=X, dt=0.1, split=np.array([1, 1, 2, 2, 3, 3]))
    assert parts(tasks.make(tmp_path / "a.npz", validate_on=("s2",)))[1] == [6, 9]
    assert parts(tasks.make(tmp_path / "b.npz", validate_on=("2",)))[1] == [6, 9]


def test_leave_one_session_out_is_an_axis_of_a_sweep():
    assert read("validate_on", "s07:s08") == ("s07", "s08")
    spec = RunSpec.of("mine.csv", {"split_column": "session", "validate_on": ("s07",)})
    assert spec.part("task")["validate_on"] == ("s07",)


def test_settings_that_are_called_like_outcomes_stay_settings_of_a_table():
    """The columns test_on and counts are settings, not a test score and not what a search says of its members."""
    cases = [("s2", "yes", 1.0), ("s3", "yes", 0.5), ("s3", "no", 2.0)]
    rows = [
        {
            "member": member,
            "task": "t",
            "test_on": group,
            "counts": counts,
            "seed": 0,
            "best_loss": loss,
            "test_loss": loss,
        }
        for member, (group, counts, loss) in enumerate(cases)
    ]
    best = best_settings(rows, by="counts")
    assert {value: entry["setting"] for value, entry in best.items()} == {
        "yes": {"test_on": "s3", "counts": "yes"},
        "no": {"test_on": "s3", "counts": "no"},
    }
    assert best["yes"]["test"]["loss"] == 0.5
