"""The example of own code: short, and it does what its docstring says."""

from pathlib import Path

import jax
import numpy as np
import pytest

import gnode
from gnode import own_code
from gnode.train import RunSpec, train_spec

EXAMPLE = Path(__file__).parent.parent / "examples" / "evidence.py"
SMALL = {"state": 8, "trials": 20, "validation": 10, "epochs": 3, "batch_size": 10, "fresh": "update"}
NOISY = {"state_noise": 0.01, "lr": 5e-3, "lr_schedule": "cosine", "clip": 1.0}


def test_it_is_short():
    assert len(EXAMPLE.read_text().splitlines()) < 60


def test_train_report_reload_and_sweep(tmp_path, monkeypatch):
    monkeypatch.chdir(EXAMPLE.parent.parent)
    task, model = "examples/evidence.py:evidence", "examples/evidence.py:LowRank"
    stop = own_code.resolve("examples/evidence.py:stop_when_good")
    spec = RunSpec.of(task, {"model": model, **SMALL, **NOISY})
    run = train_spec(spec, tmp_path / "run", callbacks=[stop])
    drawn = spec.realise().net.cell
    assert np.array_equal(run.net.cell.U, drawn.U)
    assert not np.array_equal(run.net.cell.m, drawn.m)
    loaded = gnode.load(tmp_path / "run", trust=True)
    assert loaded.evaluate()["loss"] == pytest.approx(run.best_loss, rel=1e-5)
    gnode.write_report(loaded, starts=20)
    assert (tmp_path / "run" / "analysis" / "report.html").exists()
    tables = [
        gnode.sweep(task, tmp_path / engine, engine=engine, model=model, rank=[1, 2], **SMALL, **NOISY).table()
        for engine in ("threads", "one_program")
    ]
    assert np.allclose(tables[0]["best_loss"], tables[1]["best_loss"], rtol=1e-4)


def test_the_trials_are_what_is_said():
    inputs, targets, mask = own_code.resolve(f"{EXAMPLE}:evidence")(jax.random.key(3))
    assert inputs.shape == (50, 2)
    assert np.all(inputs[25:, 0] == 0)
    assert set(np.unique(np.asarray(targets[:, 0]))) <= {-1.0, 0.0, 1.0}
    assert np.array_equal(mask, (np.arange(50) >= 40).astype(np.float32))
