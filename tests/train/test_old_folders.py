"""Folders that gnode 0.1.0 wrote before the rooms were rebuilt: they load and resume (fixtures/make_old_folders.sh)."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from gnode import Sweep, load, resume, resume_sweep

FIXTURES = Path(__file__).parent.parent / "fixtures"


@pytest.fixture
def old(tmp_path):
    def copy(name):
        return Path(shutil.copytree(FIXTURES / name, tmp_path / name))

    return copy


def test_an_old_run_loads(old):
    run = load(old("old-run"))
    assert (run.status, run.epochs_done, run.settings.epochs) == ("finished", 4, 4)
    assert run.evaluate()["loss"] == pytest.approx(run.best_loss, rel=1e-5)
    assert run.curves["validation"].min() == run.best_loss


def test_an_old_run_that_was_interrupted_is_resumed(old):
    folder = old("old-interrupted")
    before = load(folder)
    assert (before.status, before.epochs_done) == ("interrupted", 2)
    after = resume(folder)
    assert (after.status, after.epochs_done) == ("finished", 4)
    np.testing.assert_array_equal(after.curves["validation"][:2], before.curves["validation"])
    assert after.best_loss < before.best_loss


def test_an_old_sweep_loads_and_a_lost_member_is_trained_again(old):
    folder = old("old-sweep")
    table = (folder / "results.csv").read_text()
    sweep = Sweep(folder)
    assert sweep.status()["done"] == sweep.number() == 6
    assert sorted(sweep.best("model")) == ["gnode", "rnn"]
    assert sweep.load(0).evaluate()["loss"] == pytest.approx(sweep.load(0).best_loss, rel=1e-5)
    losses = sweep.table()["best_loss"]
    shutil.rmtree(sweep.member_folder(0))
    assert resume_sweep(folder).table()["best_loss"] == pytest.approx(losses, rel=1e-4)  # to rounding, on any machine
    assert (folder / "results.csv").read_text().splitlines()[0] == table.splitlines()[0]
