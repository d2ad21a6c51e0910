"""`gnode doctor`: what is wrong with a folder is found, what can be saved is saved, nothing else is touched."""

import json
import shutil

import numpy as np
import pytest

from gnode import doctor, load, sweep
from gnode.errors import StoreError
from gnode.sweeps import resume_sweep
from gnode.train import RunSpec, train_spec

SETTINGS = {"trials": 8, "validation": 4, "bins": 4, "epochs": 2, "state": 2, "model": "rnn", "batch_size": 8}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A run and a sweep that have ended."""
    folder = tmp_path_factory.mktemp("doctor")
    train_spec(RunSpec.of("flipflop-square", SETTINGS), folder / "run")
    sweep("flipflop-square", folder / "sweep", engine="threads", workers=1, lr=[0.01, 0.1], **SETTINGS)
    return folder


@pytest.fixture
def run(kept, tmp_path):
    return shutil.copytree(kept / "run", tmp_path / "run")


@pytest.fixture
def swept(kept, tmp_path):
    return shutil.copytree(kept / "sweep", tmp_path / "sweep")


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def test_what_is_sound_is_said_to_be_sound(run, swept):
    for folder, kind in ((run, "run"), (swept, "sweep")):
        found = doctor.examine(folder)
        assert (found.kind, found.problems) == (kind, [])


def test_weights_and_metrics_come_back_from_the_checkpoint(run):
    """The fixed tau is not in the checkpoint; the command draws it again."""
    before = load(run)
    metrics = (run / "metrics.csv").read_text()
    cut(run / "weights.npz")
    (run / "metrics.csv").write_text("epoch,train\n1,x\n")
    assert len(doctor.examine(run).problems) == 2
    after, done = doctor.mend(run)
    assert after.problems == []
    assert len(done) == 2
    again = load(run)
    np.testing.assert_array_equal(again.net.cell.F.W[0], before.net.cell.F.W[0])
    np.testing.assert_array_equal(again.net.cell.timescale.tau, before.net.cell.timescale.tau)
    assert (run / "metrics.csv").read_text() == metrics
    assert again.evaluate() == before.evaluate()


def test_a_damaged_result_is_made_again_by_resuming(run, gnode_command):
    wanted = json.loads((run / "result.json").read_text())
    (run / "result.json").write_text("")
    assert (
        "result.json is damaged (it is empty); gnode doctor" in gnode_command("train", "--resume", run).one_sentence()
    )
    doctor.mend(run)
    assert (run / "result.json.damaged").exists()
    gnode_command("train", "--resume", run).ok()
    assert json.loads((run / "result.json").read_text()) | {"seconds": 0} == wanted | {"seconds": 0}


def test_what_cannot_be_mended_is_said(run):
    (run / "config.json").write_text("[")
    found, done = doctor.mend(run)
    assert done == []
    assert "numpy.load reads the arrays" in found.problems[0].remedy


def test_a_damaged_member_is_set_aside_and_trained_again(swept):
    table = (swept / "results.csv").read_text()
    (swept / "members" / "0001" / "result.json").write_text("")
    (swept / "results.csv").write_text("nonsense")
    _, done = doctor.mend(swept)
    assert len(done) == 2
    assert (swept / "damaged" / "0001" / "metrics.csv").exists()
    resume_sweep(swept, engine="threads", workers=1)
    assert (swept / "results.csv").read_text() == table


def test_resuming_sets_a_damaged_member_aside_by_itself(swept):
    table = (swept / "results.csv").read_text()
    (swept / "members" / "0000" / "result.json").write_text("")
    cut(swept / "members" / "0001" / "weights.npz")
    with pytest.warns(UserWarning, match=r"Member \d is now in .*damaged/000\d, and is trained again"):
        resume_sweep(swept, engine="threads", workers=1)
    assert (swept / "results.csv").read_text() == table


def test_links_are_removed_and_what_they_lead_to_is_not(run, tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (run / ".lock").unlink(missing_ok=True)
    (run / ".lock").symlink_to(outside)
    assert "symbolic link" in doctor.examine(run).problems[0].what
    found, _ = doctor.mend(run)
    assert found.problems == []
    assert outside.read_text() == "mine"


def test_the_command(run, tmp_path, gnode_command):
    gnode_command("doctor", run).ok()
    cut(run / "weights.npz")
    said = gnode_command("doctor", run)
    assert said.status == 1
    assert "1 problem; gnode doctor" in said.out
    assert "mended:" in gnode_command("doctor", run, "--mend").ok()
    assert "is not a folder" in gnode_command("doctor", tmp_path / "nowhere").one_sentence()
    (tmp_path / "empty").mkdir()
    assert "holds no run, sweep, results or data" in gnode_command("doctor", tmp_path / "empty").one_sentence()


def test_results_and_data(tmp_path):
    (tmp_path / "fig1.json").write_text("{}")
    found, done = doctor.mend(tmp_path)
    assert found.kind == "results"
    assert "set aside" in done[0]
    assert (tmp_path / "fig1.json.damaged").exists()
    data = tmp_path / "data" / "walker2d"
    data.mkdir(parents=True)
    (data / "about.json").write_text('{"name": "walker2d", "licence": "", "made_from": {}}')
    np.savez(data / "walker2d.npz", values=np.zeros(3), lengths=np.zeros(1))
    (tmp_path / "data" / ".walker2d.12345678.tmp").mkdir()
    found, done = doctor.mend(tmp_path / "data")
    assert found.kind == "data"
    assert not (tmp_path / "data" / ".walker2d.12345678.tmp").exists()
    cut(data / "walker2d.npz")
    assert "gnode data get walker2d --replace" in doctor.examine(tmp_path / "data").problems[0].remedy
    with pytest.raises(StoreError, match="is not a folder"):
        doctor.examine(tmp_path / "fig1.json.damaged")
