"""Wrong calls of the public functions: each is refused in a sentence of gnode's, and changes no file."""

import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import calls
import pytest
import valid_calls_science

import gnode
from gnode._lazy import _origins

HERE = Path(__file__).parent
TABLES = ["valid_calls_science", "valid_calls_training"]
SCIENCE = ["theory", "init", "cells", "solve", "network", "expressivity", "bench"]
"""The rooms whose functions `valid_calls_science` calls."""
SEED = 26


def judged(table, count, folder, names=()):
    """Judges wrong calls in a process of their own: the shape checks of the tests are not there, and it may abort."""
    command = [sys.executable, HERE / "calls.py", table, str(count), str(SEED), folder, ",".join(names)]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    under_way = folder / "under_way.txt"
    where = under_way.read_text() if under_way.exists() else "the start"
    assert ended.returncode == 0, f"ended with {ended.returncode} at {where}: {ended.stderr[-2000:]}"
    found = json.loads((folder / "found.json").read_text())
    print(table, found["counts"])
    return found


@pytest.mark.parametrize("table", TABLES)
def test_wrong_calls_are_refused_in_a_sentence(table, tmp_path):
    module = importlib.import_module(table)
    quick = [name for name in module.VALID if name not in getattr(module, "SLOW", ())]
    count = 300 if table == TABLES[0] else 150
    found = judged(table, count, tmp_path, quick)
    assert not found["wrong"], "\n".join(found["wrong"])
    assert found["counts"]["refused"] > count / 2


@pytest.mark.slow
@pytest.mark.parametrize(("table", "count"), [(TABLES[0], 12_000), (TABLES[1], 6_000)])
def test_thousands_of_wrong_calls(table, count, tmp_path):
    found = judged(table, count, tmp_path)
    assert sum(found["counts"].values()) == count
    assert not found["wrong"], "\n".join(found["wrong"])


def test_every_public_function_of_the_science_rooms_is_called():
    called = {name.split(",")[0].split(".")[-1] for name in valid_calls_science.VALID}
    missing = []
    for room in SCIENCE:
        for name, (origin, original) in _origins(Path(gnode.__file__).parent / room / "__init__.pyi").items():
            value = getattr(importlib.import_module(origin), original)
            is_called = name in called and name not in valid_calls_science.NOT_CALLED
            if (inspect.isfunction(value) or inspect.isclass(value)) and not is_called:
                missing += [] if name in valid_calls_science.NOT_CALLED else [f"{room}.{name}"]
    assert not missing


def refuses(value: float):
    raise gnode.GnodeError("value is wrong.")


def breaks(value: float):
    raise KeyError("value")


def takes_all(value: float):
    return value


def talks(value: float):
    raise gnode.GnodeError("one\ntwo\nthree")


def writes(value: float):
    Path("left.txt").write_text("x")
    raise gnode.GnodeError("value is wrong.")


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (refuses, "refused"),
        (breaks, "foreign"),
        (takes_all, "accepted"),
        (talks, "long message"),
        (writes, "changed files"),
    ],
)
def test_the_judge_tells_right_from_wrong(function, what, tmp_path):
    valid = {"it": lambda: (function, {"value": 1.0})}
    text = next(call for call in calls.wrong_calls_of("it", function, {"value": 1.0}) if call.label == "it(value=text)")
    assert calls.judge(text, valid, tmp_path).what == what


def test_the_calls_are_the_same_every_time():
    valid = {"it": lambda: (takes_all, {"value": 1.0}), "other": lambda: (breaks, {"value": 1.0})}
    drawn = [[call.label for call in calls.wrong_calls(valid, 100, seed=3)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 100
