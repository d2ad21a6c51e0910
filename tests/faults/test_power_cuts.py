"""A power cut at any moment: what a disk that forgets unflushed writes could hold goes on to the same numbers."""

import json
import os
import warnings

import numpy as np
import pytest
from fault_tools import content
from forgetful_disk import Recorder, restore

from gnode import build, fit, load, resume, sweep, tasks
from gnode.errors import StoreError
from gnode.sweeps import _member_checkpoints, resume_sweep

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc to name an open file")


def make_run(folder):
    task = tasks.flip_flop("square", trials=8, validation=4, bins=4, key=0)
    net = build("rnn", 2, 2, state=2, tau=0.01, key=1)
    return fit(net, task, epochs=3, batch_size=8, lr=0.05, out=folder, checkpoint_seconds=0)


def go_on_with_run(folder):
    """What a user does after a power cut: resume, or, where nothing had begun, begin again."""
    try:
        return resume(folder, checkpoint_seconds=0)
    except StoreError as problem:
        if "holds no run" not in str(problem):
            raise
        return make_run(folder)


SMALL = {
    "trials": 8,
    "validation": 4,
    "bins": 4,
    "epochs": 2,
    "state": 2,
    "model": "rnn",
    "batch_size": 8,
    "lr": [0.01, 0.1],
}


def make_sweep(folder):
    return sweep("flipflop-square", folder, engine="threads", workers=1, **SMALL)


def go_on_with_sweep(folder):
    try:
        return resume_sweep(folder, engine="threads", workers=1)
    except StoreError as problem:
        if "holds no sweep" not in str(problem):
            raise
        return make_sweep(folder)


def every_state(recorder):
    """The different trees that a power cut could leave, each with the operation it came before and the policy."""
    seen = {}
    for operation, trees in zip(recorder.operations, recorder.trees):
        for policy, tree in trees.items():
            seen.setdefault(repr(tree), (operation, policy, tree))
    return list(seen.values())


def replay(tmp_path, make, go_on, every):
    with Recorder(tmp_path) as recorder:
        make(tmp_path / "work")
    wanted, states = content(tmp_path / "work"), every_state(recorder)
    assert len(states) > 20
    assert any("flush" in operation for operation, _, _ in states)
    for number, (operation, policy, tree) in enumerate(states[::every]):
        folder = tmp_path / f"cut{number}"
        restore(tree.get("work", {}), folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a damaged checkpoint, in place of which the one before is used
            go_on(folder)
        assert content(folder) == wanted, f"cut before {operation!r}, kept: {policy}"
    return len(states)


def test_some_cuts_of_a_run(tmp_path):
    replay(tmp_path, make_run, go_on_with_run, every=15)


@pytest.mark.slow
def test_every_cut_of_a_run(tmp_path):
    print(replay(tmp_path, make_run, go_on_with_run, every=1), "states of a run")


@pytest.mark.slow
def test_every_cut_of_a_sweep(tmp_path, monkeypatch):
    monkeypatch.setattr(_member_checkpoints, "SECONDS", 0.0)  # a checkpoint after every epoch
    monkeypatch.setattr(_member_checkpoints, "SHARE", 1e9)
    print(replay(tmp_path, make_sweep, go_on_with_sweep, every=1), "states of a sweep")


def test_the_disk_forgets(tmp_path):
    """The recorder itself: a file that is renamed but not flushed can be empty, one that is flushed cannot."""
    with Recorder(tmp_path) as recorder:
        for name, flushed in (("lazy", False), ("sure", True)):
            with open(tmp_path / "new", "w") as file:
                file.write("12345678")
                file.flush()
                if flushed:
                    os.fsync(file.fileno())
            os.replace(tmp_path / "new", tmp_path / name)
        number = os.open(tmp_path, os.O_RDONLY)
        os.fsync(number)
        os.close(number)
    left = recorder.trees[-1]
    assert left["nothing"] == {"lazy": b"", "sure": b"12345678"}
    assert left["names with half the content"]["lazy"] == b"1234"
    before_flush = recorder.trees[recorder.operations.index("flush ")]
    assert before_flush["nothing"] == {}
    assert before_flush["all but the name lazy"] == {"sure": b"12345678"}


def test_a_damaged_checkpoint_falls_back_on_the_one_before(tmp_path):
    wanted = make_run(tmp_path / "whole")
    make_run(tmp_path / "work")
    (tmp_path / "work" / "result.json").unlink()
    with Recorder(tmp_path) as recorder:  # a run that stops before its end, with two checkpoints
        make_run(tmp_path / "cut")
    last = max(k for k, name in enumerate(recorder.operations) if name.startswith("write cut/.result.json"))
    restore(recorder.trees[last]["all"]["cut"], tmp_path / "again")
    checkpoint = tmp_path / "again" / "checkpoint.npz"
    checkpoint.write_bytes(checkpoint.read_bytes()[:-50])
    with pytest.warns(UserWarning, match="checkpoint.npz is damaged; the one before it, of epoch 3, is used"):
        done = resume(tmp_path / "again")
    np.testing.assert_array_equal(done.curves["validation"], wanted.curves["validation"])
    assert not (tmp_path / "again" / "checkpoint.npz.before").exists()
    assert json.loads((tmp_path / "again" / "result.json").read_text())["status"] == "finished"
    assert load(tmp_path / "again").best_loss == wanted.best_loss
