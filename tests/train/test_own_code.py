"""Code of a user's own: named by its file, stored with a run, run from a folder only for someone who trusts it."""

import json
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from own_code_files import MINE

import gnode
from gnode import errors, own_code
from gnode.train import RunSpec, train_spec

SMALL = {"state": 4, "epochs": 2, "trials": 6, "validation": 4, "batch_size": 3}


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE)
    return tmp_path


def train(out=None, task="mine.py:integrate", model="mine.py:LowRank", **settings):
    return train_spec(RunSpec.of(task, {"model": model, **SMALL, **settings}), out)


def weights(run):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(run.net)]


def test_a_run_of_own_code_is_loaded_only_with_trust(mine):
    run = train("run", rank=2, scale=0.5)
    assert run.net.cell.m.shape == (4, 2)
    with pytest.raises(errors.StoreError, match="--trust"):
        gnode.load("run")
    again = gnode.load("run", trust=True)
    assert all(np.array_equal(a, b) for a, b in zip(weights(run), weights(again)))
    assert np.array_equal(again.task.validation.inputs, run.task.validation.inputs)
    assert again.task.validation.inputs.std() == pytest.approx(0.5, rel=0.5)
    assert again.evaluate()["loss"] == pytest.approx(run.best_loss, rel=1e-5)


def test_a_folder_holds_the_code_as_it_was(mine):
    run = train("run", epochs=4)
    Path("mine.py").write_text("raise SystemExit('changed')\n")
    again = gnode.load("run", trust=True)
    assert type(again.net.cell) is type(run.net.cell)
    assert again.task.dt == 0.01
    assert [file.name for file in Path("run/code").iterdir()] == ["mine.py"]
    Path("mine.py").unlink()
    assert gnode.resume("run", trust=True, epochs=5).epochs_done == 5


def test_nothing_of_a_folder_runs_by_itself(mine):
    train("run")
    bad = "import pathlib\npathlib.Path('ran').touch()\n" + MINE
    Path("run/code/mine.py").write_text(bad)
    for look in (gnode.load, lambda folder: gnode.resume(folder, epochs=9)):
        with pytest.raises(errors.StoreError, match="trust"):
            look("run")
    assert not Path("ran").exists()


def test_marked_arrays_stay_as_they_are(mine):
    before = gnode.build("mine.py:LowRank", 1, 1, state=4, key=0).cell
    run = train(seed=0, weight_decay=0.5, penalty=0.1, lr=0.1)
    drawn = RunSpec.of("mine.py:integrate", {"model": "mine.py:LowRank", **SMALL}).realise().net.cell
    assert np.array_equal(run.net.cell.U, drawn.U)
    assert not np.allclose(run.net.cell.m, drawn.m)
    assert before.U.shape == drawn.U.shape


def test_a_class_with_the_name_of_gnodes_own_is_told_apart(mine):
    train("run")
    stored = json.loads(Path("run/config.json").read_text())["network"]["fields"]["cell"]
    assert stored["type"] == "LowRank"
    assert stored["own"] is True
    gnode.fit(gnode.build("lowrank", 1, 1, state=4, key=0), gnode.tasks.make("mine.py:ready"), epochs=1, out="ours")
    assert "own" not in json.loads(Path("ours/config.json").read_text())["network"]["fields"]["cell"]


@pytest.mark.parametrize("place", ["mine.py:recorded", "mine.py:ready"])
def test_tasks_made_by_the_user(mine, place):
    task = gnode.tasks.make(place)
    assert (len(task.train), len(task.validation), task.dt) == (6, 4, 0.02)
    assert task.fresh_trials() is not None


def test_losses_and_metrics_by_name(mine):
    run = train("run", loss="mine.py:cubic", metrics=("mine.py:largest", "mae"))
    assert {"largest", "mae"} <= set(run.curves)
    outputs, targets = run.net.run(run.task.validation.inputs, dt=0.01).outputs, run.task.validation.targets
    cubic = float(jnp.mean(jnp.abs(outputs - targets) ** 3))
    assert run.best_loss == pytest.approx(cubic, rel=1e-4)
    longer = gnode.resume("run", trust=True, epochs=3)
    assert longer.epochs_done == 3


def test_an_own_optimiser_by_name(mine):
    Path("mine.py").write_text(MINE + "\nimport optax\nsteps = optax.sgd(0.1)\n")
    assert train(optimiser="mine.py:steps").status == "finished"


def test_a_task_in_memory_is_stored_with_its_run(tmp_path):
    rng = np.random.default_rng(0)
    task = gnode.tasks.arrays(
        rng.normal(size=(12, 5, 2)), rng.integers(2, size=12), 0.1, classes=("left", "right"), name="mine"
    )
    run = gnode.fit(gnode.build("rnn", 2, 2, state=3, key=0), task, epochs=2, out=tmp_path / "run")
    again = gnode.load(tmp_path / "run")
    for part in ("train", "validation"):
        for name in ("inputs", "targets", "mask", "lengths"):
            stored, given = getattr(getattr(again.task, part), name), getattr(getattr(task, part), name)
            assert np.array_equal(stored, given)
    assert (again.task.classes, again.task.loss, again.task.when) == (task.classes, task.loss, task.when)
    assert again.evaluate() == run.evaluate()


def test_new_trials_of_a_function_go_on_as_they_would_have(mine):
    task = gnode.tasks.make("mine.py:ready")
    net = gnode.build("rnn", 1, 1, state=3, key=0)
    how = {"fresh": "update", "batch_size": 3, "checkpoint_seconds": 0}
    whole = gnode.fit(net, task, epochs=4, **how)
    gnode.fit(net, task, epochs=2, out="run", **how)
    longer = gnode.resume("run", epochs=4, trust=True)
    assert np.array_equal(longer.curves["train"], whole.curves["train"])
    assert all(np.array_equal(a, b) for a, b in zip(weights(longer), weights(whole)))


def test_a_class_of_a_script_is_stored_with_its_run(mine, monkeypatch):
    module = own_code.resolve("mine.py:LowRank")
    script = type(sys)("a_script")
    script.__file__ = str(mine / "mine.py")
    monkeypatch.setitem(sys.modules, "a_script", script)
    exec(compile(MINE, script.__file__, "exec"), vars(script))
    cell = script.LowRank(1, 4, key=jax.random.key(0))
    assert type(cell) is not module
    run = gnode.fit(gnode.Network(cell, 1, key=1), gnode.tasks.make("mine.py:ready"), epochs=1, out="run")
    assert np.array_equal(gnode.load("run", trust=True).net.cell.m, run.net.cell.m)


def small_fit(**settings):
    task = gnode.tasks.flip_flop("square", trials=12, validation=6, bins=8)
    return task, gnode.build("rnn", 2, 2, state=3, key=0), {"batch_size": 6, **settings}


def test_an_extended_run_equals_the_unbroken_one(tmp_path):
    task, net, how = small_fit(lr_schedule="step:2:0.5", ema=0.9)
    whole = gnode.fit(net, task, epochs=5, **how)
    gnode.fit(net, task, epochs=2, out=tmp_path / "run", **how)
    longer = gnode.resume(tmp_path / "run", epochs=5)
    assert longer.settings.epochs == 5
    for name in whole.curves:
        assert np.array_equal(longer.curves[name], whole.curves[name])
    assert all(np.array_equal(a, b) for a, b in zip(weights(longer), weights(whole)))
    assert gnode.resume(tmp_path / "run").status == "finished"
    assert gnode.load(tmp_path / "run").settings.epochs == 5


def test_a_stopped_run_and_growing_spans_can_be_extended(tmp_path):
    task, net, how = small_fit(spans=((4, 1), (8, 1)))
    gnode.fit(net, task, epochs=2, out=tmp_path / "run", **how)
    assert gnode.resume(tmp_path / "run", epochs=4).settings.spans == ((4, 1), (8, 3))
    task, net, how = small_fit(callbacks=[lambda moment: moment.stop("enough") if moment.epoch == 1 else None])
    assert gnode.fit(net, task, epochs=3, out=tmp_path / "stopped", **how).status == "stopped"
    assert gnode.resume(tmp_path / "stopped", epochs=3).epochs_done == 3


def test_bad_extensions(tmp_path):
    task, net, how = small_fit()
    gnode.fit(net, task, epochs=3, out=tmp_path / "run", **how)
    with pytest.raises(errors.ArgumentError, match="run of 3 epochs already"):
        gnode.resume(tmp_path / "run", epochs=2)
    with pytest.raises(errors.ArgumentError, match="epochs is 0"):
        gnode.resume(tmp_path / "run", epochs=0)
    gnode.fit(net, task, epochs=3, lr=1e30, out=tmp_path / "diverged", batch_size=6)
    with pytest.raises(errors.ArgumentError, match="diverged"):
        gnode.resume(tmp_path / "diverged", epochs=9)


@pytest.mark.parametrize(
    ("task", "model", "more", "words"),
    [
        ("none.py:integrate", "rnn", {}, "no file 'none.py'"),
        ("mine.py:integrat", "rnn", {}, "Did you mean 'integrate'"),
        ("broken.py:task", "rnn", {}, "line 2, SyntaxError"),
        ("raises.py:task", "rnn", {}, "line 1, ZeroDivisionError"),
        ("exits.py:task", "rnn", {}, "SystemExit"),
        ("trains.py:task", "rnn", {}, "__main__"),
        ("mine.py:number", "rnn", {}, "function or a class"),
        ("mine.py:wrong_trial", "rnn", {}, "returns a int"),
        ("mine.py:without_dt", "rnn", {}, "dt is missing"),
        ("mine.py:integrate", "mine.py:number", {}, "function or a class"),
        ("mine.py:integrate", "mine.py:not_a_cell", {}, "gives a str"),
        ("mine.py:integrate", "mine.py:other_inputs", {}, "has inputs=2, but was asked for 1"),
        ("mine.py:integrate", "mine.py:without_key", {}, r"must take \(inputs, state, \*, key\)"),
        ("mine.py:integrate", "mine.py:failing", {}, "ValueError: no such luck"),
        ("mine.py:integrate", "mine.py:LowRank", {"rnak": 2}, "rnak"),
        ("mine.py:integrate", "mine.py:LowRank", {"widths": (3,)}, "has no setting 'widths'"),
        ("mine.py:integrate", "rnn", {"loss": "mine.py:number"}, "loss is 3"),
        ("mine.py:ready", "rnn", {"scale": 2.0}, "takes no options"),
    ],
)
def test_bad_own_code_is_one_sentence(mine, task, model, more, words):
    Path("broken.py").write_text("\ndef task(:\n")
    Path("raises.py").write_text("1 / 0\n")
    Path("exits.py").write_text("raise SystemExit(3)\n")
    Path("trains.py").write_text(
        "import gnode\ntask = gnode.tasks.flip_flop('square', trials=3, validation=2)\n"
        "gnode.fit(gnode.build('rnn', 2, 2, state=2, key=0), task, epochs=1)\n"
    )
    settings = {"state": 4, "epochs": 1, "model": model, **more}
    if task.startswith("mine.py:ready"):
        RunSpec.of("mine.py:integrate", {"model": "rnn"})  # makes `scale` known
    with pytest.raises(errors.ArgumentError, match=words) as raised:
        train_spec(RunSpec.of(task, settings), "run")
    assert "\n" not in str(raised.value)
    assert not Path("run").exists()


def test_modules_beside_the_file_are_found(mine):
    Path("beside.py").write_text("gain = 2.0\n")
    Path("mine.py").write_text(MINE + "\nfrom beside import gain\n")
    assert own_code.resolve("mine.py:gain") == 2.0
    sys.modules.pop("beside", None)


def test_noise_says_that_the_loop_runs(tmp_path):
    task = gnode.tasks.flip_flop("square", trials=4, validation=2, bins=3)
    net = gnode.build("gnode", 2, 2, state=2, widths=(4,), tau=0.01, solver={"kernel": "fused"}, key=0)
    with pytest.warns(UserWarning, match="by the compiled loop, not by the fused kernel"):
        gnode.fit(net, task, epochs=1, state_noise=0.1)
