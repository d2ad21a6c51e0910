"""Weights that are kept with a result: restored sweeps are trained, load, and give the same numbers."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from gnode import Sweep, files, sweep
from gnode.errors import ArgumentError, StoreError
from gnode.reproduce import kept_weights, request
from gnode.reproduce.artefact import Artefact, Outcome, SweepPlan
from gnode.reproduce.kept_weights import restore_weights
from gnode.reproduce.request import Request
from gnode.reproduce.runner import run_artefact
from gnode.training_code import RECORD, record_code

DOCUMENTED = Path(__file__).parents[2] / "docs" / "results" / "reproduce"
SMALL = {"trials": 4, "bins": 3, "widths": (4,), "epochs": 1, "validation": 2, "lr": [1e-3, 1e-2], "seed": [0, 1]}


@pytest.fixture
def tiny(monkeypatch):
    """An artefact of one sweep that keeps the first two of four members."""
    artefact = Artefact(
        "tiny",
        "claim",
        "Tiny",
        "nowhere",
        {"smoke": "a second"},
        lambda trained: Outcome(),
        plans=lambda scale: [SweepPlan("tiny", "flipflop-square", SMALL)],
        keeps=lambda trained: {"tiny": [0, 1]},
    )
    monkeypatch.setattr(request, "find_artefact", lambda name: artefact)
    return artefact


def test_restored_sweeps_are_the_trained_ones(tiny, tmp_path):
    trained = sweep("flipflop-square", tmp_path / "sweeps" / "tiny-smoke", **SMALL)
    record_code(trained.folder, begun=False)
    (path,) = kept_weights.keep_weights(Request("tiny"), tmp_path / "sweeps", tmp_path / "weights")
    assert path == tmp_path / "weights" / "tiny" / "tiny-smoke.npz"
    (restored,) = kept_weights.restore_weights("tiny", tmp_path / "again", tmp_path / "weights")
    assert restored.folder == tmp_path / "again" / "tiny-smoke"
    assert restored.members == trained.members
    assert restored.todo() == []
    assert files.read_json(restored.folder / RECORD) == files.read_json(trained.folder / RECORD)
    assert restored.table_text() == trained.table_text()
    for member in range(4):
        assert restored.result(member) == trained.result(member)
        assert (restored.member_folder(member) / "weights.npz").exists() == (member < 2)
    for member in (0, 1):
        ours, theirs = restored.load(member), trained.load(member)
        assert np.array_equal(np.asarray(ours.states), np.asarray(theirs.states))
        assert ours.evaluate() == theirs.evaluate()


def test_what_cannot_be_kept_or_restored_is_said(tiny, tmp_path, monkeypatch):
    sweep("flipflop-square", tmp_path / "sweeps" / "tiny-smoke", prepare=True, **SMALL)
    with pytest.raises(StoreError, match="not trained to the end"):
        kept_weights.keep_weights(Request("tiny"), tmp_path / "sweeps", tmp_path / "weights")
    with pytest.raises(StoreError, match="holds no kept weights"):
        kept_weights.restore_weights("tiny", tmp_path / "again", tmp_path / "weights")
    without = dataclasses.replace(tiny, keeps=None)
    monkeypatch.setattr(request, "find_artefact", lambda name: without)
    with pytest.raises(ArgumentError, match="tiny keeps no weights"):
        kept_weights.keep_weights(Request("tiny"), tmp_path / "sweeps", tmp_path / "weights")


def test_a_sweep_that_is_there_is_not_overwritten_and_no_file_leads_outside(tiny, tmp_path):
    sweep("flipflop-square", tmp_path / "sweeps" / "tiny-smoke", **SMALL)
    (path,) = kept_weights.keep_weights(Request("tiny"), tmp_path / "sweeps", tmp_path / "weights")
    with pytest.raises(StoreError, match="is there already"):
        kept_weights.restore_weights("tiny", tmp_path / "sweeps", tmp_path / "weights")
    texts = np.frombuffer(b'{"../outside.json": "{}"}', np.uint8)
    files.write_arrays(path, {kept_weights.TEXTS: texts})
    with pytest.raises(StoreError, match="damaged"):
        kept_weights.restore_weights("tiny", tmp_path / "again", tmp_path / "weights")
    assert not (tmp_path / "outside.json").exists()
    assert not (tmp_path / "again" / "tiny-smoke").exists()
    files.write_arrays(path, {"nothing": texts})
    with pytest.raises(StoreError, match="it has no texts"):
        kept_weights.restore_weights("tiny", tmp_path / "again", tmp_path / "weights")


def test_a_sweep_that_was_restored_is_a_sweep(tiny, tmp_path):
    sweep("flipflop-square", tmp_path / "sweeps" / "tiny-smoke", **SMALL)
    kept_weights.keep_weights(Request("tiny"), tmp_path / "sweeps", tmp_path / "weights")
    kept_weights.restore_weights("tiny", tmp_path / "again", tmp_path / "weights")
    assert Sweep(tmp_path / "again" / "tiny-smoke").status()["done"] == 4


@pytest.mark.parametrize("name", ["gnode-protocol", "variations"])
def test_the_committed_weights_give_the_committed_numbers(name, tmp_path):
    """`variations` is computed from the weights again, flow and all; `gnode-protocol` from what is stored beside them."""
    stored = files.read_json(DOCUMENTED / f"{name}.json")
    restore_weights(name, tmp_path / "sweeps", DOCUMENTED / "weights")
    path = run_artefact(Request(name, "paper"), tmp_path, sweeps=tmp_path / "sweeps", progress=False)
    made = files.read_json(path)
    named, counted = ("name", "published", "seeds"), ("ours", "std")
    for new, old in zip(made["numbers"], stored["numbers"], strict=True):
        assert [new[key] for key in named] == [old[key] for key in named]
        # Another processor may round differently.
        np.testing.assert_allclose(*([one[key] or 0.0 for key in counted] for one in (new, old)), rtol=1e-3)
    assert [(own["claim"], own["verdict"]) for own in made["checks"]] == [
        (own["claim"], own["verdict"]) for own in stored["checks"]
    ]
    assert made["run"]["training_code"] == stored["run"]["training_code"]
