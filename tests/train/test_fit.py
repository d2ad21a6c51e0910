"""Runs: best weights, stopping, divergence, folders, resuming, and files that are broken."""

import dataclasses
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import equinox as eqx
import jax
import numpy as np
import pytest
from small import small_net, small_task

import gnode
from gnode import fit, interrupts, load, resume
from gnode.errors import ArgumentError, GnodeError, StoreError
from gnode.sweeps import Sweep
from gnode.train import Settings, loop, run_folder
from gnode.types import as_key

QUICK = {"epochs": 6, "lr": 1e-2, "batch_size": 8}


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def test_the_best_weights_have_the_best_loss():
    run = fit(small_net(), small_task(), epochs=25, lr=5e-2, batch_size=4)
    assert run.best_loss == run.curves["validation"].min()
    assert run.best_epoch == run.curves["validation"].argmin() + 1
    assert run.best_epoch < 25  # else this test shows nothing
    assert run.evaluate()["loss"] == pytest.approx(run.best_loss, rel=1e-5)


def test_the_same_key_gives_the_same_run():
    a, b, c = (fit(small_net(), small_task(), key=key, **QUICK) for key in (0, 0, 1))
    np.testing.assert_array_equal(a.curves["validation"], b.curves["validation"])
    assert np.any(a.curves["validation"] != c.curves["validation"])


def test_verbosity_does_not_change_results():
    shown, silent = (fit(small_net(), small_task(), progress=p, **QUICK) for p in (True, False))
    assert same(shown.net, silent.net)


def test_patience():
    run = fit(small_net(), small_task(), epochs=500, lr=5e-2, batch_size=4, patience=5)
    assert run.status == "stopped"
    assert len(run.curves["train"]) == run.best_epoch + 5


def test_divergence_stops_says_when_and_keeps_the_best():
    run = fit(small_net("node"), small_task(), epochs=50, lr=1e3, batch_size=8)
    assert run.status == "diverged"
    assert 1 <= run.diverged_at <= 150
    assert len(run.curves["train"]) == (run.diverged_at - 1) // 3 + 1
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(run.net))
    assert f"diverged at update {run.diverged_at}" in run.summary()


def test_divergence_after_good_epochs_keeps_what_was_good():
    task = small_task()
    problem = loop.pose(small_net("node"), task, Settings(**QUICK | {"epochs": 9}), as_key(0))
    done = loop.begin(problem)
    for _ in range(4):
        done = loop.next_epoch(problem, done)
    wild = dataclasses.replace(problem, hyper=problem.hyper | {"lr": np.float32(1e8)})
    after = loop.train(wild, done)
    assert int(after.state.diverged_at) > 12  # four epochs of three updates
    assert after.epoch < 9
    assert float(after.state.best_loss) == float(done.state.best_loss)
    assert same(after.state.best, done.state.best)


def test_a_folder_gives_the_run_back(tmp_path):
    run = fit(small_net(), small_task(), out=tmp_path / "run", **QUICK)
    again = load(tmp_path / "run")
    assert same(run.net, again.net)
    assert again.status == "finished"
    assert again.best_loss == run.best_loss
    np.testing.assert_array_equal(run.curves["train"], again.curves["train"])
    np.testing.assert_array_equal(again.task.train.inputs, run.task.train.inputs)
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["versions"]["jax"] == jax.__version__
    assert not list((tmp_path / "run").glob("*.tmp"))


@pytest.mark.parametrize("model", ["rnn", "lstm", "lem", "gnode"])
def test_every_kind_of_network_survives_its_folder(model, tmp_path):
    run = fit(small_net(model, initial="random", method=None), small_task(), out=tmp_path / "run", epochs=1)
    loaded = load(tmp_path / "run").net
    assert loaded.solver == run.net.solver
    assert eqx.tree_equal(loaded, run.net)


def test_interrupted_and_resumed_is_as_if_never_stopped(tmp_path):
    whole = fit(small_net(), small_task(), epochs=12, lr=1e-2, batch_size=8)

    original, calls = run_folder.save, []

    def save_then_stop(*args):
        original(*args)
        calls.append(args[1].epoch)
        if len(calls) == 5:
            raise KeyboardInterrupt

    run_folder.save = save_then_stop
    try:
        with pytest.raises(KeyboardInterrupt):
            fit(
                small_net(),
                small_task(),
                epochs=12,
                lr=1e-2,
                batch_size=8,
                out=tmp_path / "run",
                checkpoint_seconds=0.0,
            )
    finally:
        run_folder.save = original
    part = load(tmp_path / "run")
    assert part.status == "interrupted"
    assert len(part.curves["train"]) == 5
    done = resume(tmp_path / "run")
    assert done.status == "finished"
    np.testing.assert_array_equal(done.curves["validation"], whole.curves["validation"])
    assert same(done.net, whole.net)


KILLED = """
import sys
sys.path.insert(0, {tests!r})
from small import small_net, small_task
from gnode import fit
fit(small_net(), small_task(), epochs=4000, lr=1e-2, batch_size=2, out={out!r}, checkpoint_seconds=0.01)
"""


def test_kill_9_leaves_a_usable_folder(tmp_path):
    """The folder of a killed process loads, and what it holds are the numbers of a run that was never killed."""
    out = tmp_path / "run"
    code = KILLED.format(tests=os.path.dirname(__file__), out=str(out))
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.time() + 120
    while not (out / "checkpoint.npz").exists() and time.time() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    part = load(out)
    done = len(part.curves["train"])
    assert part.status == "interrupted"
    assert done > 0
    whole = fit(small_net(), small_task(), epochs=min(done, 200), lr=1e-2, batch_size=2)
    np.testing.assert_array_equal(part.curves["train"][: min(done, 200)], whole.curves["train"])


def test_resume_of_a_finished_run_trains_nothing(tmp_path):
    fit(small_net(), small_task(), out=tmp_path / "run", **QUICK)
    stamp = (tmp_path / "run" / "weights.npz").stat().st_mtime_ns
    assert resume(tmp_path / "run").status == "finished"
    assert (tmp_path / "run" / "weights.npz").stat().st_mtime_ns == stamp


def test_a_folder_that_holds_a_run_is_left_alone(tmp_path):
    fit(small_net(), small_task(), out=tmp_path / "run", epochs=1)
    before = (tmp_path / "run" / "weights.npz").read_bytes()
    with pytest.raises(StoreError, match="already holds a run"):
        fit(small_net(key=5), small_task(), out=tmp_path / "run", epochs=1)
    assert (tmp_path / "run" / "weights.npz").read_bytes() == before


@pytest.mark.parametrize("keep", [0, 10, 300, 2000])
def test_truncated_weights(tmp_path, keep):
    fit(small_net(), small_task(), out=tmp_path / "run", epochs=1)
    path = tmp_path / "run" / "weights.npz"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(StoreError, match=r"weights\.npz is (broken|damaged)"):
        load(tmp_path / "run")


def test_damage_inside_the_weights(tmp_path):
    fit(small_net(), small_task(), out=tmp_path / "run", epochs=1)
    path = tmp_path / "run" / "weights.npz"
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 40] = b"\x55" * 40
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"weights\.npz"):
        load(tmp_path / "run")


def test_missing_and_foreign_files(tmp_path):
    with pytest.raises(StoreError, match="is not a folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(StoreError, match="holds no run"):
        load(tmp_path)
    for name, read in (("config.json", load), ("sweep.json", Sweep)):
        (tmp_path / name).write_text('{"of": "another program"}')
        with pytest.raises(StoreError, match=rf"{name} is not the"):
            read(tmp_path)
    fit(small_net(), small_task(), out=tmp_path / "a", epochs=1)
    fit(small_net(state=4), small_task(), out=tmp_path / "b", epochs=1)
    (tmp_path / "a" / "weights.npz").write_bytes((tmp_path / "b" / "weights.npz").read_bytes())
    with pytest.raises(StoreError, match="has shape"):
        load(tmp_path / "a")
    (tmp_path / "b" / "config.json").write_text('{"task"')
    with pytest.raises(StoreError, match=r"config\.json is broken"):
        load(tmp_path / "b")


def test_a_class_that_is_not_gnodes_is_never_built_from_a_file(tmp_path):
    fit(small_net(), small_task(), out=tmp_path / "run", epochs=1)
    path = tmp_path / "run" / "config.json"
    path.write_text(path.read_text().replace('"Gated"', '"Popen"'))
    with pytest.raises(StoreError, match="like=network"):
        load(tmp_path / "run")
    with pytest.raises(StoreError, match=r"\.cell is Gated, but was Popen"):
        load(tmp_path / "run", like=small_net(key=9))


class Own(gnode.cells.Cell):
    """As a user writes one: with a number that is trained, a setting, a function and a network of another library."""

    tau: float
    lag: float = eqx.field(static=True)
    hidden: eqx.nn.MLP
    inputs: int = eqx.field(static=True)
    units: int = eqx.field(static=True)

    @property
    def state_size(self):
        return self.units

    def vector_field(self, h, x):
        return (self.hidden(jax.numpy.concatenate([h, x])) - h) / (self.tau * self.lag)


def own_net(lag=1.0, seed=0):
    hidden = eqx.nn.MLP(5, 3, 8, 1, key=jax.random.key(seed))
    cell = Own(tau=0.02, lag=lag, hidden=hidden, inputs=2, units=3)
    return gnode.Network(cell, 2, key=1)


def test_a_cell_of_the_users_own_survives_its_folder(tmp_path):
    run = fit(own_net(), small_task(), out=tmp_path / "run", **QUICK)
    found = load(tmp_path / "run", like=own_net(seed=1))
    assert found.net.cell.tau == 0.02
    assert found.evaluate()["loss"] == pytest.approx(run.best_loss, rel=1e-5)
    assert resume(tmp_path / "run", like=own_net()).status == "finished"
    with pytest.raises(StoreError, match="like=network"):
        resume(tmp_path / "run")
    with pytest.raises(StoreError, match=r"\.cell\.lag is 7\.0, but was 1\.0"):
        load(tmp_path / "run", like=own_net(lag=7.0))


def test_a_run_interrupted_before_its_first_epoch_begins_there(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loop, "next_epoch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fit(small_net(), small_task(), out=tmp_path / "run", **QUICK)
    assert load(tmp_path / "run").epochs_done == 0
    whole = fit(small_net(), small_task(), **QUICK)
    np.testing.assert_array_equal(resume(tmp_path / "run").curves["validation"], whole.curves["validation"])


def test_a_signal_that_python_lost_ends_training_after_the_epoch(tmp_path):
    """As in a callback of another library, which swallows what its handler raises."""
    with pytest.raises(KeyboardInterrupt):
        interrupts.handle(signal.SIGTERM, None)
    try:
        with pytest.raises(KeyboardInterrupt):
            fit(small_net(), small_task(), out=tmp_path / "run", **QUICK)
    finally:
        interrupts.forget()
    assert load(tmp_path / "run").epochs_done == 1


def test_a_file_that_changed_is_not_trained_on_any_further(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    arrays = {"inputs": rng.normal(size=(20, 6, 2)), "targets": rng.normal(size=(20, 6, 2)), "dt": 0.01}
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path / "data")
    np.savez("mine.npz", **arrays)
    fit(small_net(), gnode.tasks.make("mine.npz"), out=tmp_path / "run", **QUICK)
    (tmp_path / "run" / "result.json").unlink()
    monkeypatch.chdir(tmp_path)
    assert resume(tmp_path / "run").status == "finished"  # found where it was
    np.savez(tmp_path / "data" / "mine.npz", **arrays | {"targets": -arrays["targets"]})
    with pytest.raises(StoreError, match="has changed since"):
        load(tmp_path / "run").task  # noqa: B018
    (tmp_path / "data" / "mine.npz").unlink()
    with pytest.raises(StoreError, match="does not exist here, nor at"):
        load(tmp_path / "run").task  # noqa: B018


def test_states_rest_once_a_trial_is_over():
    inputs, lengths = np.ones((8, 6, 2)), np.full(8, 4)
    inputs[:, 4:] = 1e3
    task = gnode.tasks.arrays(inputs, np.zeros((8, 6, 2)), 0.01, lengths=lengths, validation=0.25)
    states = fit(small_net(), task, epochs=1).states
    np.testing.assert_array_equal(states[:, 4:], np.repeat(states[:, 3:4], 2, axis=1))


def test_two_processes_on_one_folder(tmp_path):
    pytest.importorskip("fcntl")
    from gnode.locks import locked

    with (
        locked(tmp_path),
        pytest.raises(StoreError, match=f"in use by process {os.getpid()}"),
        locked(tmp_path),
    ):
        pass


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"lr": -1.0}, "lr is -1.0"),
        ({"lr": float("nan")}, "lr is nan"),
        ({"learning_rate": 1e-3}, "a setting of fit is 'learning_rate'"),
        ({"batch_size": 2.5}, "batch_size is 2.5"),
        ({"schedule": ((4, 2),), "epochs": 3}, "schedule lasts 2 epochs"),
        ({"decay": "none"}, "decay is 'none'"),
        ({"key": "x"}, "key is 'x'"),
    ],
)
def test_bad_settings(options, word):
    with pytest.raises(ArgumentError, match=word):
        fit(small_net(), small_task(), **options)


def test_a_network_that_does_not_fit_the_task():
    with pytest.raises(ArgumentError, match="takes 2 inputs, but task flipflop-variable has 3"):
        fit(small_net(), gnode.tasks.flip_flop("variable", trials=4, validation=2))


def test_every_problem_is_a_gnode_error():
    assert issubclass(ArgumentError, GnodeError)
    assert issubclass(StoreError, GnodeError)


def test_a_lost_checkpoint_is_refused_rather_than_resumed_from_the_best_weights(tmp_path):
    fit(small_net(), small_task(), out=tmp_path / "run", **QUICK)
    (tmp_path / "run" / "result.json").unlink()
    (tmp_path / "run" / "checkpoint.npz").unlink()
    with pytest.raises(StoreError, match="has lost its checkpoint"):
        resume(tmp_path / "run")
    assert load(tmp_path / "run").status == "interrupted"


def test_a_folder_that_is_removed_while_its_run_trains_is_an_error(tmp_path, monkeypatch):
    original = loop.next_epoch

    def remove_then_train(*arguments):
        shutil.rmtree(tmp_path / "run")
        monkeypatch.setattr(loop, "next_epoch", original)
        return original(*arguments)

    monkeypatch.setattr(loop, "next_epoch", remove_then_train)
    with pytest.raises(StoreError, match="was removed, or moved"):
        fit(small_net(), small_task(), out=tmp_path / "run", **QUICK)
    assert not (tmp_path / "run").exists()


def test_of_two_that_start_at_once_on_one_folder_one_is_refused_before_it_writes(tmp_path):
    pytest.importorskip("fcntl")
    from gnode.locks import locked

    (tmp_path / "run").mkdir()
    with locked(tmp_path / "run"), pytest.raises(StoreError, match="in use by process"):
        fit(small_net(), small_task(), out=tmp_path / "run", **QUICK)
    assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock"]


def test_two_signals_at_once_do_not_hang():
    """The handler may be interrupted anywhere by a second signal, so it must not hold a lock."""
    source = inspect.getsource(interrupts)
    assert "threading" not in source
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            interrupts.handle(signal.SIGTERM, None)
    assert interrupts.is_wanted()
    interrupts.forget()
    assert not interrupts.is_wanted()
