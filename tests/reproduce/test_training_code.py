"""The hash of the training code: it sees every file that decides numbers, and a result is made of one version only."""

import json
import shutil
from pathlib import Path

import pytest

import gnode
from gnode import files, resume_sweep, sweep, training_code
from gnode.errors import StoreError
from gnode.reproduce.request import Request
from gnode.reproduce.runner import prepare_artefact, run_artefact
from gnode.reproduce.same_code import common_code, refuse_another

SMALL = {"trials": 4, "bins": 3, "widths": (4,), "epochs": 1, "validation": 2}


def test_the_hash_sees_what_decides_numbers_and_nothing_else(tmp_path):
    package = Path(gnode.__file__).parent
    copy = tmp_path / "gnode"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = training_code.hash_of(copy)
    assert before == training_code.training_code() == training_code.hash_of(package)
    assert len(before) == training_code.DIGITS
    with (copy / "plots" / "_style.py").open("a") as file:
        file.write("# another picture\n")
    assert training_code.hash_of(copy) == before
    for name in ("train/loss.py", "cells/_gated.py", "models.py"):
        text = (copy / name).read_text()
        (copy / name).write_text(
            '"""Another docstring."""  # and\n\n' + text.split('"""', 2)[2].lstrip() + "# a comment\n"
        )
        assert training_code.hash_of(copy) == before, name
        (copy / name).write_text(text + "CHANGED = True  # a comment\n")
        assert training_code.hash_of(copy) != before, name
        (copy / name).write_text(text)
    (copy / "init" / "_rules.py").rename(copy / "init" / "_rule.py")
    assert training_code.hash_of(copy) != before


def test_a_sweep_says_which_code_prepared_or_trained_it(tmp_path):
    made = sweep("flipflop-square", tmp_path / "sweep", prepare=True, **SMALL)
    assert training_code.recorded(made.folder) == []
    assert common_code([made]) is None
    for _ in range(2):  # once is enough
        training_code.record_code(made.folder, begun=False)
    assert training_code.recorded(made.folder) == [training_code.training_code()]
    assert common_code([made]) == training_code.training_code()
    assert common_code([]) is None


def test_whoever_resumes_a_sweep_with_a_record_adds_to_it(tmp_path, monkeypatch):
    made = sweep("flipflop-square", tmp_path / "sweep", prepare=True, **SMALL)
    training_code.record_code(made.folder, begun=False)
    monkeypatch.setattr(training_code, "training_code", lambda: "another")
    resume_sweep(made.folder)
    hashes = training_code.recorded(made.folder)
    assert hashes[1:] == ["another"]
    with pytest.raises(StoreError, match="different versions of the training code"):
        common_code([made])
    resume_sweep(made.folder)  # nothing is left to train
    assert training_code.recorded(made.folder) == hashes


def test_members_without_a_record_are_of_an_unknown_version(tmp_path):
    old = sweep("flipflop-square", tmp_path / "old", **SMALL)
    new = sweep("flipflop-square", tmp_path / "new", prepare=True, **SMALL)
    assert common_code([old]) is None
    with pytest.raises(StoreError, match="would be trained by another version"):
        refuse_another([old, new])
    training_code.record_code(new.folder, begun=False)
    with pytest.raises(StoreError, match=r"different versions of the training code \(unknown in .*old"):
        common_code([old, new])
    training_code.record_code(old.folder, begun=True)
    assert training_code.recorded(old.folder) == [training_code.UNKNOWN, training_code.training_code()]


def test_a_table_is_made_of_one_version_of_the_code(tmp_path, monkeypatch):
    request = Request("annulus-generalisation")
    (prepared,) = prepare_artefact(request, tmp_path)
    assert training_code.recorded(prepared.folder) == [training_code.training_code()]
    for module in ("gnode.training_code", "gnode.reproduce.same_code"):
        monkeypatch.setattr(f"{module}.training_code", lambda: "another")
    with pytest.raises(StoreError, match="would be trained by another version of the training code"):
        run_artefact(request, tmp_path)
    assert training_code.recorded(prepared.folder) == [training_code.hash_of(Path(gnode.__file__).parent)]
    assert len(prepared.todo()) == prepared.number()  # refused before anything was trained
    record = prepared.folder / training_code.RECORD
    files.write_json(record, {"hashes": ["another"], "commits": [None]})
    content = json.loads(run_artefact(request, tmp_path).read_text())  # all of one version
    assert content["run"]["training_code"] == "another"
