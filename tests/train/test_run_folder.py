"""The folder of a run: loading, resuming, kills, locks, and files that are broken."""

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
from gnode.errors import StoreError
from gnode.sweeps import Sweep
from gnode.train import loop, run_folder

QUICK = {"epochs": 6, "lr": 1e-2, "batch_size": 8}


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


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
    with pytest.raises(StoreError, match=r"weights\.npz is damaged"):
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
    with pytest.raises(StoreError, match=r"config\.json is damaged"):
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


def test_two_processes_on_one_folder(tmp_path):
    pytest.importorskip("fcntl")
    from gnode.locks import locked

    with (
        locked(tmp_path),
        pytest.raises(StoreError, match=f"in use by process {os.getpid()}"),
        locked(tmp_path),
    ):
        pass


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
    """The handler may be interrupted anywhere by a second signal, so it must not hold a lock; only the first one raises."""
    source = inspect.getsource(interrupts)
    assert "threading" not in source
    interrupts.forget()
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupts.handle(signal.SIGTERM, None)
        interrupts.handle(signal.SIGTERM, None)
        assert interrupts.is_wanted()
    finally:
        interrupts.forget()
    assert not interrupts.is_wanted()
