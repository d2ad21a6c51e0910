"""gnode bench on a shape that takes a moment: who takes part, and that all of them compute the same gradient."""

import json

import pytest

from gnode import bench
from gnode.bench._shapes import Shape
from gnode.cli import bench as bench_cli
from gnode.cli import main


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(bench.SHAPES, "tiny", Shape(2, 2, 3, (8,), (), 6, 4))
    return "tiny"


@pytest.mark.slow
def test_rivals_agree_and_ratios_are_to_gnode(tiny):
    found = bench.bench([tiny], rounds=1)
    rows = {row["gradient by"]: row for row in found["rows"]}
    assert {"gnode", "plain scan"} <= rows.keys()
    assert any(name.startswith("diffrax") for name in rows)
    mine = rows["gnode"]["ms"]
    for row in rows.values():
        assert row["ms"] > 0
        assert row["times gnode"] == pytest.approx(row["ms"] / mine, rel=1e-6)
        assert row["gradient's error"] < 1e-4
    assert found["peak_gflops"] > 0


def test_the_command_saves_into_a_folder_that_is_not_there_yet(tiny, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(bench_cli, "use_cores", lambda count: None)  # jax has begun in this process
    with pytest.raises(SystemExit) as ended:
        main(["bench", tiny, "--rounds", "1", "--skip", "diffrax", "--out", str(tmp_path / "new" / "bench.json")])
    assert ended.value.code == 0, capsys.readouterr().err
    stored = json.loads((tmp_path / "new" / "bench.json").read_text())
    rows = {row["gradient by"]: row for row in stored["rows"]}
    assert {"gnode", "plain scan"} <= rows.keys()
    assert not any(name.startswith("diffrax") for name in rows)
    assert rows["gnode"]["times gnode"] == 1
