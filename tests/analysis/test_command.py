"""gnode analyse: a run folder in, a report out."""

import json

import pytest

import gnode
from gnode import errors
from gnode.cli.analyse import analyse


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    task = gnode.tasks.flip_flop("square", trials=20, validation=10, bins=20)
    for seed, name in enumerate(("first", "second")):
        net = gnode.Network(gnode.cells.gnode(2, 2, widths=(8,), tau=0.01, key=seed), outputs=2, key=1)
        gnode.fit(net, task, epochs=1, batch_size=10, out=folder / name)
    return folder


def test_one_run(runs):
    analyse(runs / "first", None, starts=50, seed=0)
    folder = runs / "first" / "analysis"
    assert (folder / "report.html").stat().st_size > 10_000
    assert (folder / "flow.png").exists()
    assert (folder / "flow.pdf").exists()
    stored = json.loads((folder / "analysis.json").read_text())
    assert stored["fixed_points"]["starts"] == 50
    assert [error["low"] for error in stored["errors_by_amplitude"]] == [0, 0.5, 1, 2]


def test_several_runs_side_by_side(runs, tmp_path):
    analyse(runs, tmp_path, starts=20, seed=0)
    text = (tmp_path / "report.html").read_text()
    assert "first" in text
    assert "second" in text
    assert (tmp_path / "second" / "report.html").exists()
    assert set(json.loads((tmp_path / "analysis.json").read_text())) == {"first", "second"}


def test_bad_folders_are_one_sentence(runs, tmp_path):
    with pytest.raises(errors.StoreError, match="is not a folder"):
        analyse(tmp_path / "nowhere", None, starts=10, seed=0)
    with pytest.raises(errors.StoreError, match="holds no run"):
        analyse(tmp_path, None, starts=10, seed=0)
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "config.json").write_text((runs / "first" / "config.json").read_text())
    with pytest.raises(errors.StoreError):
        analyse(bare, None, starts=10, seed=0)
    with pytest.raises(errors.ArgumentError, match="starts is 0"):
        analyse(runs / "first", None, starts=0, seed=0)
