"""`gnode analyse`, from a run folder to its report."""

import json

import pytest

import gnode
from gnode.report import _write


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    task = gnode.tasks.flip_flop("square", trials=10, validation=5, bins=12)
    for seed, name in enumerate(("first", "second")):  # the sizes of test_write.py, which share its compilations
        net = gnode.Network(gnode.cells.gnode(2, 3, widths=(4,), tau=0.01, key=seed), outputs=2, key=1)
        gnode.fit(net, task, epochs=1, batch_size=5, out=folder / name)
    return folder


def test_one_run(runs, gnode_command):
    ended = gnode_command("analyse --starts 50", runs / "first").ok()
    folder = runs / "first" / "analysis"
    assert (folder / "report.html").stat().st_size > 10_000
    assert (folder / "flow.png").exists()
    assert (folder / "flow.pdf").exists()
    stored = json.loads((folder / "analysis.json").read_text())
    assert f"first: {stored['verdict']}" in ended
    assert stored["fixed_points"]["starts"] == 50
    assert [error["low"] for error in stored["errors_by_amplitude"]] == [0, 0.5, 1, 2]


def test_several_runs_side_by_side(runs, tmp_path, gnode_command, monkeypatch):
    monkeypatch.setattr(_write, "FORMATS", ("png",))  # test_one_run checks both formats
    gnode_command("analyse --starts 20 --input 0.5,0", runs, "--out", tmp_path).ok()
    text = (tmp_path / "report.html").read_text()
    assert "first" in text
    assert "second" in text
    assert "flow.png shows the flow at the constant input (0.5, 0)" in (tmp_path / "second" / "report.html").read_text()
    stored = json.loads((tmp_path / "second" / "analysis.json").read_text())
    assert stored["input"] == [0.5, 0.0]
    assert stored["verdict"].startswith("At the constant input (0.5, 0): ")
    assert set(json.loads((tmp_path / "analysis.json").read_text())) == {"first", "second"}


def test_bad_folders_are_one_sentence(runs, tmp_path, gnode_command):
    assert "is not a folder" in gnode_command("analyse", tmp_path / "nowhere").one_sentence()
    assert "holds no run" in gnode_command("analyse", tmp_path).one_sentence()
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "config.json").write_text((runs / "first" / "config.json").read_text())
    assert "weights.npz does not exist" in gnode_command("analyse", bare).one_sentence()
    assert (
        "input is '0.5;0', but must be numbers" in gnode_command("analyse --input 0.5;0", runs / "first").one_sentence()
    )
    assert "x has shape (3,), but" in gnode_command("analyse --input 1,2,3 --starts 2", runs / "first").one_sentence()
    assert "starts is 0" in gnode_command("analyse --starts 0", runs / "first").one_sentence()
