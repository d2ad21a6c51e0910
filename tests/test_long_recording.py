"""The example of one long recording, made short: it runs, and its teacher and its network are what it says."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parent.parent / "examples" / "long_recording.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("long_recording", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_slow_trace_decides_the_sign_of_the_fast_one(example):
    events, targets = example.recording(20_000, seed=3)
    first = np.flatnonzero(events[:, 0])
    np.testing.assert_array_equal(targets[first, 0], events[first, 0])
    start, end = first[:2]
    decay = (1 - 1 / example.SLOW) ** (end - 1 - start)
    assert targets[end - 1, 0] == pytest.approx(events[start, 0] * decay)
    fast = targets[start:end, 1] / np.tanh(4 * targets[start:end, 0])
    np.testing.assert_allclose(fast[1:], fast[:-1] * (1 - 1 / example.FAST) + events[start + 1 : end, 1], atol=1e-9)


def test_it_trains_by_both_ways_and_writes_what_it_found(example, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["long_recording.py", "--bins", "300", "--updates", "3", "--out", str(tmp_path)])
    example.main()
    found = json.loads((tmp_path / "long-recording.json").read_text())
    assert found["by_loop"] == 0
    assert found["best_loss"] == pytest.approx(np.mean(found["errors"]), rel=1e-4)
    assert (tmp_path / "long-recording.png").stat().st_size > 10_000
