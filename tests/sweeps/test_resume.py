"""Members in training: their checkpoints, interrupts, kills, and what one engine began and another ends."""

import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from gnode import resume_sweep, sweep
from gnode.sweeps import _member_checkpoints
from gnode.sweeps.engines import one_program
from gnode.train import program

TASK = "flipflop-square"
SMALL = {"trials": 24, "bins": 12, "epochs": 5, "widths": (8,), "state": 2}


def table_of(folder):
    return (folder / "results.csv").read_text()


class Epochs:
    """Counts the epochs that both engines train, and stops them by Ctrl-C after some."""

    def __init__(self, monkeypatch):
        self.left, self.trained = 10**9, 0
        monkeypatch.setattr(_member_checkpoints, "SECONDS", 0.0)  # each of them is saved
        monkeypatch.setattr(_member_checkpoints, "SHARE", 1e9)
        for module, name in ((program, "run_epoch_compiled"), (one_program, "_run_group_epoch")):
            monkeypatch.setattr(module, name, self._counted(getattr(module, name)))

    def _counted(self, run):
        def counted(*arguments):
            if self.left == 0:
                raise KeyboardInterrupt
            self.left, self.trained = self.left - 1, self.trained + 1
            return run(*arguments)

        return counted

    def stop_after(self, epochs, work):
        self.left = epochs
        with pytest.raises(KeyboardInterrupt):
            work()
        self.left, self.trained = 10**9, 0


@pytest.mark.parametrize("engine", ["threads", "one_program"])
def test_a_member_in_training_is_resumed_where_it_was(engine, tmp_path, monkeypatch):
    epochs, axes = Epochs(monkeypatch), {"lr": [1e-3, 1e-2], "batch_size": 8}
    whole = sweep(TASK, tmp_path / "whole", engine=engine, **axes, **SMALL)
    everything = epochs.trained
    epochs.stop_after(3, lambda: sweep(TASK, tmp_path / "part", engine=engine, workers=1, **axes, **SMALL))
    assert list((tmp_path / "part" / "unfinished").glob("*.npz"))
    resume_sweep(tmp_path / "part", engine=engine)
    assert epochs.trained == everything - 3
    assert table_of(tmp_path / "part") == table_of(whole.folder)
    assert not (tmp_path / "part" / "unfinished").exists()


@pytest.mark.parametrize(
    ("first", "then", "left"),
    [
        ("threads", "one_program", 5 + 12),  # of the member that had 7 epochs; of the others, together
        ("one_program", "threads", 5 + 5 + 0),  # of each that had 7; one had diverged
    ],
)
def test_what_one_engine_began_another_ends(first, then, left, tmp_path, monkeypatch):
    """Also a member that is over before the others, by divergence, and members that came less far."""
    epochs = Epochs(monkeypatch)
    axes = {"lr": [1e-3, 1e-2, 1e3], "batch_size": 8, "model": "node"} | SMALL | {"epochs": 12}
    whole = sweep(TASK, tmp_path / "whole", engine=then, **axes)
    epochs.stop_after(7, lambda: sweep(TASK, tmp_path / "mixed", engine=first, workers=1, **axes))
    mixed = resume_sweep(tmp_path / "mixed", engine=then)
    assert epochs.trained == left
    for index in range(3):
        a, b = whole.load(index), mixed.load(index)
        assert (a.status, a.diverged_at, a.epochs_done) == (b.status, b.diverged_at, b.epochs_done)
        np.testing.assert_allclose(a.curves["validation"], b.curves["validation"], rtol=2e-5)


def test_ctrl_c_before_the_first_epoch_keeps_the_start(tmp_path, monkeypatch):
    epochs = Epochs(monkeypatch)
    epochs.stop_after(0, lambda: sweep(TASK, tmp_path / "s", engine="one_program", lr=[1e-3, 1e-2], **SMALL))
    assert resume_sweep(tmp_path / "s", engine="one_program").status()["finished"] == 2


@pytest.mark.parametrize("engine", ["threads", "one_program"])
def test_a_member_whose_checkpoint_is_damaged_goes_on_from_the_one_before_or_begins_anew(engine, tmp_path, monkeypatch):
    epochs = Epochs(monkeypatch)
    epochs.stop_after(3, lambda: sweep(TASK, tmp_path / "s", engine=engine, workers=1, lr=[1e-3, 1e-2], **SMALL))
    (tmp_path / "s" / "unfinished" / "0000.npz").write_bytes(b"PK not any more")
    shutil.copytree(tmp_path / "s", tmp_path / "both")
    (tmp_path / "both" / "unfinished" / "0000.npz.before").write_bytes(b"PK not any more")
    with pytest.warns(UserWarning, match="member 0 begins anew"):
        assert resume_sweep(tmp_path / "both", engine=engine).status()["finished"] == 2
    with pytest.warns(UserWarning, match=r"0000\.npz is damaged; the one before it, of epoch \d, is used"):
        assert resume_sweep(tmp_path / "s", engine=engine).status()["finished"] == 2


def test_saving_takes_a_small_share_of_the_time(monkeypatch):
    now = 0.0
    monkeypatch.setattr(_member_checkpoints.time, "monotonic", lambda: now)
    pace = _member_checkpoints.SavePace()
    assert not pace.is_due()
    now = 30.0
    assert pace.is_due()
    with pace:
        now += 10.0  # a slow disk
    now += 10.0 / _member_checkpoints.SHARE - 1.0
    assert not pace.is_due()
    now += 1.0
    assert pace.is_due()


SWEEP = [sys.executable, "-m", "gnode", "sweep"]
ARGUMENTS = "flipflop-square --model rnn,gnode --widths 8 --state 2 --lr 1e-3,1e-2 --batch-size 8 --seed 0,1,2"
ARGUMENTS += " --trials 24 --bins 12 --epochs 1500"


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [2, 5])
def test_kill_9_at_random_moments_then_resume_gives_the_same_table(tmp_path, wanted):
    first = subprocess.run(
        [*SWEEP, *ARGUMENTS.split(), "--out", str(tmp_path / "whole")], capture_output=True, text=True
    )
    assert first.returncode == 0, first.stderr
    out, moments = tmp_path / "killed", random.Random(0)
    command = [*SWEEP, *ARGUMENTS.split(), "--out", str(out)]
    kills = 0
    for _ in range(wanted):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        command = [*SWEEP, "--resume", str(out)]
        while process.poll() is None and not (out / "sweep.json").exists():
            time.sleep(0.05)
        time.sleep(moments.uniform(2.0, 7.0))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    assert kills == wanted
    last = subprocess.run(command, capture_output=True, text=True)
    assert last.returncode == 0, last.stderr
    assert table_of(out) == table_of(tmp_path / "whole")
    for index in range(12):
        for name in ("metrics.csv",):
            a, b = ((folder / "members" / f"{index:04d}" / name).read_text() for folder in (out, tmp_path / "whole"))
            assert a == b
    assert not list((out / "members").glob(".*.tmp"))
