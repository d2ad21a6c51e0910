"""`gnode bench` on a small shape: the implementations that are compared, and that their gradients agree."""

import json

import numpy as np
import pytest

from gnode import bench, devices, errors
from gnode.bench._rivals import AT_ONCE, COARSE, FUSED, LOOP, RIVALS, STREAMED, rivals
from gnode.bench._shapes import BenchShape


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(bench.SHAPES, "tiny", BenchShape(2, 2, 3, (8,), (), 6, 4))
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


def test_shapes_of_other_cells():
    """Their operations are counted from the matrices that are drawn; diffrax has no forward-backward Euler."""
    lstm = BenchShape(2, 1, 3, (), (), bins=6, trials=4, model="lstm")
    assert lstm.operations == 6 * (4 * 3 * (3 + 2) + 3) * 6 * 4
    gnode = BenchShape(2, 1, 3, (8,), (5,), bins=6, trials=4)
    assert gnode.operations == 6 * ((5 * 8 + 8 * 3) + (5 * 5 + 5 * 3) + 3) * 6 * 4
    named = {
        name: "diffrax" in " ".join(rivals(bench.SHAPES[f"{name} N=6 B=100"].network())) for name in ("GRU", "LEM")
    }
    assert named == {"GRU": True, "LEM": False}
    with pytest.raises(errors.ArgumentError, match="Did you mean 'lstm'"):
        BenchShape(2, 1, 3, (), (), bins=6, trials=4, model="lstn")


def test_on_a_gpu_every_way_is_a_row_where_it_applies(monkeypatch):
    monkeypatch.setattr("gnode.bench._rivals.fused.is_chosen_here", lambda: True)
    monkeypatch.setattr("gnode.bench._rivals.jax.default_backend", lambda: "gpu")
    shapes = {
        "small": BenchShape(2, 1, 3, (8,), (5,), bins=6, trials=4),
        "wide": BenchShape(2, 1, 70, (200,), (5,), bins=6, trials=4),
        "lem": BenchShape(2, 1, 3, (), (), bins=6, trials=4, model="lem"),
    }
    found = {name: rivals(shape.network()).keys() - RIVALS.keys() for name, shape in shapes.items()}
    assert found == {
        "small": {LOOP, FUSED, COARSE, STREAMED, AT_ONCE},
        "wide": {LOOP, STREAMED, AT_ONCE},  # too wide for the fused kernel; all at once with diagonal Jacobians
        "lem": {LOOP, STREAMED, AT_ONCE},
    }
    for shape in shapes.values():
        net, data = shape.network(), shape.data()
        expected = RIVALS["plain scan"](net, data)
        for name in (LOOP, AT_ONCE):  # the kernels have their own tests
            np.testing.assert_allclose(rivals(net)[name](net, data), expected, atol=1e-5)


def test_all_bins_at_once_is_no_row_where_the_jacobians_do_not_fit(monkeypatch):
    monkeypatch.setattr("gnode.bench._rivals.fused.is_chosen_here", lambda: True)
    monkeypatch.setattr("gnode.bench._rivals.jax.default_backend", lambda: "gpu")
    has = {
        name: AT_ONCE in rivals(shape.network(), shape.networks * shape.trials * shape.bins)
        for name, shape in bench.SHAPES.items()
    }
    assert has["LEM N=100 B=50"]
    assert has["walker2d N=32 H=316"]
    assert not has["27 networks walker2d N=316 H=316"]


def test_the_command_saves_into_a_folder_that_is_not_there_yet(tiny, tmp_path, gnode_command, monkeypatch):
    monkeypatch.setattr(devices, "use_cores", lambda count: None)  # jax has begun in this process
    gnode_command(f"bench {tiny} --rounds 1 --skip diffrax --out", tmp_path / "new" / "bench.json").ok()
    stored = json.loads((tmp_path / "new" / "bench.json").read_text())
    rows = {row["gradient by"]: row for row in stored["rows"]}
    assert {"gnode", "plain scan"} <= rows.keys()
    assert not any(name.startswith("diffrax") for name in rows)
    assert rows["gnode"]["times gnode"] == 1
