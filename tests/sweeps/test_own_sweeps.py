"""Sweeps of a user's own cells and tasks: by name, as objects, on every engine, resumed from the folder."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from own_code_files import MINE

import gnode
from gnode import errors
from gnode.sweeps import _run, sweep_or_resume
from gnode.sweeps.engines.threads import Threads

SMALL = {"state": 3, "epochs": 2, "batch_size": 3, "trials": 6, "validation": 4}
AXES = {"model": ["mine.py:LowRank", "mine.py:leaky", "rnn"], "rank": [1, 2], "seed": [0, 1]}


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE)
    return tmp_path


def losses(found):
    return found.table()["best_loss"]


@pytest.mark.parametrize("engine", ["threads", "one_program"])
def test_own_code_by_name_on_every_engine(mine, engine):
    made = gnode.sweep("mine.py:integrate", "grid", engine=engine, fresh="update", **AXES, **SMALL)
    assert len(made.members) == 2 * 2 + 2 + 2  # rank is LowRank's alone
    alone = gnode.train.train_spec(gnode.train.RunSpec.of("mine.py:integrate", made.members[0] | {"fresh": "update"}))
    assert made.result(0)["best_loss"] == pytest.approx(alone.best_loss, rel=1e-5)
    assert "| LowRank |" in made.markdown()
    assert "rank" in made.table()
    opened = gnode.open_sweep("grid")
    assert opened.members == made.members
    assert losses(opened) == losses(made)
    with pytest.raises(errors.StoreError, match="trust"):
        opened.load(0)
    loaded = gnode.open_sweep("grid", trust=True).load(0)
    assert loaded.evaluate()["loss"] == pytest.approx(made.result(0)["best_loss"], rel=1e-5)


@pytest.mark.slow
def test_on_ray_workers_get_the_code(mine):
    pytest.importorskip("ray")
    axes = {"model": ["mine.py:LowRank"], "lr": [1e-3, 1e-2]}
    here = gnode.sweep("mine.py:integrate", "here", engine="threads", **axes, **SMALL)
    there = gnode.sweep("mine.py:integrate", "there", engine="ray", **axes, **SMALL)
    assert losses(there) == losses(here)

    def factory(inputs, state, *, key):
        return gnode.cells.rnn(inputs, state, tau=0.1, key=key)

    task = gnode.tasks.generated(lambda key: (np.zeros((3, 1)), np.zeros((3, 1))), dt=0.1, trials=4, validation=2)
    in_memory = gnode.sweep(task, "memory", engine="ray", model=factory, state=2, epochs=1)
    assert in_memory.status()["finished"] == 1


def test_a_sweep_is_resumed_with_the_code_that_it_began_with(mine):
    axes = {"model": "mine.py:LowRank", "rank": [1, 2], "seed": [0, 1], **SMALL}
    whole = gnode.sweep("mine.py:integrate", "whole", **axes)
    gnode.sweep("mine.py:integrate", "grid", prepare=True, **axes)
    Path("mine.py").unlink()
    with pytest.raises(errors.StoreError, match="--trust"):
        gnode.resume_sweep("grid")
    assert losses(gnode.resume_sweep("grid", trust=True)) == losses(whole)


def test_classes_and_functions_are_an_axis(tmp_path):
    class Decay(gnode.cells.Cell):
        rate: float
        inputs: int
        units: int

        def __init__(self, inputs, state, *, rate=1.0, key):
            self.rate, self.inputs, self.units = rate, inputs, state

        def vector_field(self, h, x):
            return -self.rate * h + x.sum()

    def factory(inputs, state, *, key, tau):
        return gnode.cells.rnn(inputs, state, tau=tau, key=key)

    def absolute(outputs, targets):
        return abs(outputs - targets).mean(-1)

    task = gnode.tasks.flip_flop("square", trials=6, validation=4, bins=5)
    models = [Decay, factory, gnode.cells.gru]
    how = {"state": 2, "epochs": 1, "loss": absolute, "rate": [1.0, 2.0]}
    made = gnode.sweep(task, tmp_path / "grid", model=models, **how)
    assert [member["model"] for member in made.members] == ["memory:Decay"] * 2 + ["memory:factory", "gru"]
    assert (tmp_path / "grid" / "task.npz").exists()
    assert np.array_equal(made.load(3).task.train.inputs, task.train.inputs)
    shutil.rmtree(tmp_path / "grid" / "members" / "0000")
    with pytest.raises(errors.ArgumentError, match="own="):
        gnode.resume_sweep(tmp_path / "grid")
    again = gnode.resume_sweep(tmp_path / "grid", own=[Decay, factory, absolute])
    assert losses(again) == losses(made)


def test_two_objects_of_one_name_are_refused(tmp_path):
    def draw(gain):
        def factory(inputs, state, *, key):
            return gnode.cells.rnn(inputs, state, tau=gain, key=key)

        return factory

    with pytest.raises(errors.ArgumentError, match="two different objects are both called factory"):
        gnode.sweep("flipflop-square", tmp_path / "grid", model=[draw(1.0), draw(2.0)])


def test_a_task_in_memory_takes_no_options(tmp_path):
    task = gnode.tasks.flip_flop("square", trials=6, validation=4, bins=5)
    with pytest.raises(errors.ArgumentError, match="bins is an option of tasks that are made"):
        gnode.sweep(task, tmp_path / "grid", model="rnn", bins=[5, 6])


def test_other_code_is_another_sweep(mine):
    axes = {"model": "mine.py:LowRank", **SMALL}
    made = sweep_or_resume("mine.py:integrate", "grid", **axes)
    assert losses(sweep_or_resume("mine.py:integrate", "grid", **axes)) == losses(made)
    Path("mine.py").write_text(MINE + "\n# changed\n")
    with pytest.raises(errors.StoreError, match="own code was different"):
        sweep_or_resume("mine.py:integrate", "grid", **axes)


def test_a_name_of_another_process_is_asked_for(mine):
    code = (
        "import gnode\n"
        "def factory(inputs, state, *, key):\n    return gnode.cells.rnn(inputs, state, tau=0.1, key=key)\n"
        "gnode.sweep('flipflop-square', 'grid', model=factory, state=2, epochs=1, trials=4, bins=3, prepare=True)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(errors.ArgumentError, match=r"no file holds \(factory\)"):
        gnode.resume_sweep("grid")

    def factory(inputs, state, *, key):
        return gnode.cells.rnn(inputs, state, tau=0.1, key=key)

    assert gnode.resume_sweep("grid", own=[factory]).status()["finished"] == 1


@pytest.mark.parametrize("engine", ["threads", "one_program", "auto", "ray"])
def test_a_sweep_goes_on_by_the_engine_it_was_begun_by(mine, engine, monkeypatch):
    small = {"state": 2, "epochs": 1, "trials": 4, "bins": 3, "model": "rnn"}
    made = gnode.sweep("flipflop-square", "grid", engine=engine, prepare=True, **small)
    assert made.engine == ("auto" if engine == "ray" else engine)
    used = []
    monkeypatch.setattr(_run, "make_engine", lambda name, **options: used.append(name) or Threads())
    gnode.resume_sweep("grid")
    assert used == [made.engine]
    gnode.resume_sweep("grid", engine="one_program")
    assert used[1:] == ["one_program"]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["threads", "one_program"])
def test_kill_9_and_resume_give_the_same_table(mine, engine):
    words = "mine.py:integrate --model mine.py:LowRank --set rank=1,2 --seed 0,1 --state 3 --trials 60 --epochs 400"
    words += " --fresh update --state-noise 0.01 --lr-schedule cosine"
    command = [sys.executable, "-m", "gnode", "sweep", "run", *words.split(), "--engine", engine, "--out"]
    subprocess.run([*command, "whole"], check=True, capture_output=True)
    killed = subprocess.Popen([*command, "grid"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not Path("grid/sweep.json").exists():
        time.sleep(0.05)
    time.sleep(1.5)
    killed.kill()
    killed.wait()
    resume = [sys.executable, "-m", "gnode", "sweep", "resume", "grid"]
    refused = subprocess.run(resume, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "--trust" in refused.stderr + refused.stdout
    subprocess.run([*resume, "--trust"], check=True, capture_output=True)
    assert Path("grid/results.csv").read_text() == Path("whole/results.csv").read_text()
