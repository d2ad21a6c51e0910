"""Damaged and odd data files: a valid task or one sentence, never anything else (`data_files.py` makes and judges them)."""

import json
import subprocess
import sys
from pathlib import Path

import data_files
import pytest

ORDINARY, MANY, SEED = 150, 3600, 26


def test_damaged_files_give_a_task_or_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("GNODE_DATA", str(tmp_path))  # `judge` sets it; afterwards it is as it was
    outcomes, wrong = data_files.judge(ORDINARY, SEED, tmp_path / "case")
    assert not wrong, "\n".join(wrong)
    assert sum(outcomes.values()) == ORDINARY
    assert outcomes["sentence"] > ORDINARY / 3  # the damage is damage
    assert outcomes["task"] > ORDINARY / 20  # and the undamaged rest is read


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_many_damaged_files_in_a_process_that_may_abort(tmp_path, seed):
    command = [sys.executable, str(Path(data_files.__file__)), str(MANY // 3), str(seed), str(tmp_path / "case")]
    end = subprocess.run(command, capture_output=True, text=True, check=False)
    assert end.returncode == 0, end.stderr[-2000:]
    found = json.loads(end.stdout)
    assert not found["wrong"], "\n".join(found["wrong"])
    assert sum(found["outcomes"].values()) == MANY // 3
