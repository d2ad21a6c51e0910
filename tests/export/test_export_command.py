"""What an export refuses, and the command."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import small_exports as small
from leaky_cell import leaky

import gnode
from gnode import errors, export_network


def small_run(out=None):
    task = gnode.tasks.flip_flop("square", trials=6, validation=4, bins=20, key=0)
    net = gnode.build("gru", task.inputs, task.outputs, state=3, tau=task.dt, key=0)
    return gnode.fit(net, task, epochs=1, batch_size=3, out=out)


def refusal(kind, *arguments, **options):
    with pytest.raises(kind) as caught:
        export_network(*arguments, **options)
    sentence = str(caught.value)
    assert sentence.endswith((".", "?"))
    assert "\n" not in sentence
    return sentence


def test_mistakes_are_sentences_and_leave_nothing_behind(tmp_path):
    net, out = small.drawn("gru"), tmp_path / "made"
    assert "'numpy'" in refusal(errors.ArgumentError, net, "nunpy", out, dt=0.1)
    assert "does not say how long its bins are; pass dt" in refusal(errors.ArgumentError, net, "numpy", out)
    assert "float16" in refusal(errors.ArgumentError, net, "numpy", out, dt=0.1, dtype="float16")
    assert "must be a run" in refusal(errors.ArgumentError, 3, "numpy", out, dt=0.1)
    assert "float32" in refusal(errors.ArgumentError, net, "onnx", out, dt=0.1, dtype="float64")
    adaptive = gnode.build("gnode", 2, 1, state=3, widths=(4,), key=0, method="tsit5")
    assert "chooses its own steps" in refusal(errors.ArgumentError, adaptive, "numpy", out, dt=0.1)
    assert not out.exists()
    out.mkdir()
    (out / "kept.txt").write_text("mine")
    assert "already there" in refusal(errors.StoreError, net, "numpy", out, dt=0.1)
    assert [file.name for file in out.iterdir()] == ["kept.txt"]


def test_onnx_without_its_package(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    said = refusal(errors.ArgumentError, small.drawn("gru"), "onnx", tmp_path / "made", dt=0.1)
    assert "pip install 'gnode[onnx]'" in said


def test_a_run_its_folder_and_an_own_cell(tmp_path):
    run = small_run(tmp_path / "run")
    made = export_network(run, "numpy", tmp_path / "run-made")
    again = export_network(tmp_path / "run", "numpy", tmp_path / "folder-made")
    xs = np.asarray(run.task.validation.inputs)
    for one in (made, again):
        states, outputs = small.loaded(one.folder).rollout(xs)
        np.testing.assert_allclose(states, run.states, atol=1e-5)
        np.testing.assert_allclose(outputs, run.net.run(xs, dt=run.dt).outputs, atol=1e-5)

    cell = leaky(2, 3, key=0)
    net = gnode.Network(cell, outputs=1, key=1)
    own = export_network(net, "numpy", tmp_path / "own-made", dt=0.1)
    xs = np.random.default_rng(0).normal(size=(2, 5, 2)).astype(np.float32)
    np.testing.assert_allclose(
        small.loaded(own.folder).rollout(xs)[1], net.run(xs, dt=0.1).outputs, rtol=1e-5, atol=1e-5
    )


def test_the_command(gnode_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = small_run(Path("run"))
    said = gnode_command("export run").ok()
    assert "Wrote run/export-numpy/network.py" in said
    assert "Use: import network" in said
    states, _ = small.loaded(Path("run/export-numpy")).rollout(np.asarray(run.task.validation.inputs))
    np.testing.assert_allclose(states, run.states, atol=1e-5)
    assert "already there" in gnode_command("export run").one_sentence()
    assert "Wrote other/network.py" in gnode_command("export run --to jax --out other --dtype float64").ok()
    assert "onnx" in gnode_command("export run --to onxx").one_sentence()
    assert "nowhere" in gnode_command("export nowhere").one_sentence()
