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


def test_its_noise_is_that_of_its_tau():
    """sigma / tau sqrt(dt): a cell of one's own with a field `tau` has the kicks of any other cell."""
    cell = own_code.resolve(f"{EXAMPLE}:LowRank")(2, 6, key=jax.random.key(0))
    xs, h0, dt, noise = np.zeros((1, 1, 2)), np.zeros((1, 6)), np.full((1, 1), 0.02), np.ones((1, 1, 6))
    arrays = [jax.numpy.asarray(values, jax.numpy.float32) for values in (xs, h0, dt, noise)]
    kicked = gnode.solve.rollout_batch(cell, *arrays[:3], gnode.Solver(), noise=arrays[3])
    quiet = gnode.solve.rollout_batch(cell, *arrays[:3], gnode.Solver())
    np.testing.assert_allclose(kicked - quiet, np.sqrt(0.02) / 0.1, rtol=1e-5)


def test_run_again_it_goes_on(tmp_path):
    spec = RunSpec.of(f"{EXAMPLE}:evidence", {"model": f"{EXAMPLE}:LowRank", **SMALL})
    first = gnode.train.train_or_resume(spec, tmp_path / "run")
    assert gnode.train.train_or_resume(spec, tmp_path / "run").best_loss == first.best_loss
    other = RunSpec.of(f"{EXAMPLE}:evidence", {"model": f"{EXAMPLE}:LowRank", **SMALL, "lr": 0.5})
    with pytest.raises(gnode.GnodeError, match=r"other settings than these \(lr\)"):
        gnode.train.train_or_resume(other, tmp_path / "run")
    copy = tmp_path / "evidence.py"
    copy.write_text(EXAMPLE.read_text())
    spec = RunSpec.of(f"{copy}:evidence", {"model": f"{copy}:LowRank", **SMALL})
    gnode.train.train_or_resume(spec, tmp_path / "copied")
    copy.write_text(EXAMPLE.read_text().replace("0.5 *", "0.6 *"))
    with pytest.raises(gnode.GnodeError, match="own code was different"):
        gnode.train.train_or_resume(spec, tmp_path / "copied")


def test_the_trials_are_what_is_said():
    inputs, targets, mask = own_code.resolve(f"{EXAMPLE}:evidence")(jax.random.key(3))
    assert inputs.shape == (50, 2)
    assert np.all(inputs[25:, 0] == 0)
    assert set(np.unique(np.asarray(targets[:, 0]))) <= {-1.0, 0.0, 1.0}
    assert np.array_equal(mask, (np.arange(50) >= 40).astype(np.float32))
