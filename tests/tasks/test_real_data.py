"""The real files, where `GNODE_DATA` names a folder with them: exact counts, agreement and cost."""

import os
import time
import tracemalloc
import zipfile

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from gnode import tasks
from gnode.tasks import cache
from gnode.tasks._formats.audio import read_wav
from gnode.tasks._mfcc import mfcc
from gnode.tasks.datasets.originals import DATASETS


def needs(name):
    there = bool(os.environ.get("GNODE_DATA")) and cache.find(name, DATASETS[name].files) is not None
    return pytest.mark.skipif(not there, reason=f"GNODE_DATA names no folder with {name}")


def sizes(task):
    return [len(part) for part in (task.train, task.validation, task.test)]


@needs("walker2d")
def test_walker2d_has_the_published_windows_in_half_a_minute():
    began = time.monotonic()
    task = tasks.make("walker2d")
    seconds = time.monotonic() - began
    assert sizes(task) == [9684, 1272, 1937]
    assert (task.bins, task.inputs, task.outputs, task.dt) == (84, 18, 17, 1.0)
    assert seconds < 30
    for part in (task.train, task.validation, task.test):
        np.testing.assert_array_equal(part.mask.sum(axis=1), 64)
    for trial in range(0, len(task.test), 100):
        seen = np.flatnonzero(task.test.mask[trial])
        spline = CubicSpline(seen, task.test.inputs[trial, seen, 1:].astype(float), bc_type="natural")
        wanted = spline(np.clip(np.arange(84), seen[0], seen[-1]))
        np.testing.assert_allclose(task.test.inputs[trial, :, 1:], wanted, rtol=1e-5, atol=1e-5)


@needs("walker2d")
def test_walker2d_has_a_baseline_that_networks_must_beat():
    """Carrying the last value forward is much worse than the paper's networks (0.55 to 1.4)."""
    assert tasks.last_value_error(tasks.make("walker2d", fill="hold").test) == pytest.approx(4.5375, abs=1e-3)


@needs("characters")
@pytest.mark.parametrize(("dropped", "missing"), [(0.3, 54), (0.5, 91), (0.7, 127)])
def test_characters(dropped, missing):
    task = tasks.make("characters", dropped=dropped, counts=True)
    assert sizes(task) == [2000, 429, 429]
    assert (task.bins, task.outputs, len(task.classes)) == (182, 20, 20)
    assert np.isfinite(task.train.inputs).all()
    np.testing.assert_allclose(task.train.inputs[:, -1, 4:] * 182, 182 - missing, atol=1e-3)


@needs("speech-v1")
def test_speech_and_the_memory_that_it_takes():
    tracemalloc.start()
    try:
        task = tasks.make("speech")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sum(sizes(task)) == 21_312
    assert (task.bins, task.inputs, task.outputs) == (161, 20, 10)
    assert peak < 2 * 21_312 * 161 * 20 * 4
    assert sum(sizes(tasks.make("speech", parts=1))) == 7104


@needs("speech-v1")
def test_own_features_agree_with_the_stored_ones():
    path = cache.cache_folder() / "speech_commands_v1_sample.zip"
    if not path.exists():
        pytest.skip("no sample of clips beside the features")
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".wav")]
        clips = np.stack([read_wav(archive.read(name), name, 16_000) for name in names])
    (stored_path,) = cache.require("speech-v1", DATASETS["speech-v1"].files[:1])
    with np.load(stored_path) as stored:
        place = {name: index for index, name in enumerate(stored["names"])}
        wanted = stored["mfcc"][[place[name] for name in names]].astype(np.float64)
    difference = np.abs(mfcc(clips / np.float32(2**15)) - wanted)
    assert len(names) == 120
    assert difference.max() <= 5e-2
    assert difference.mean() <= 1e-3 * np.abs(wanted).mean()
