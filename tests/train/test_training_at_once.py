"""Training with all bins at once: the loop's losses, warm starts, what is recorded, and resuming to the same numbers."""

import numpy as np
import pytest

import gnode
from gnode.solve import parallel
from tests.train.small import small_net, small_task

HOW = {"epochs": 4, "batch_size": 10, "lr": 1e-2, "clip": 1.0}
AT_ONCE = {"time": "parallel"}


def test_losses_are_the_loops_and_the_rounds_are_recorded(tmp_path):
    task = small_task()
    loop = gnode.fit(small_net(), task, **HOW)
    run = gnode.fit(small_net(solver=AT_ONCE), task, out=tmp_path / "run", **HOW)
    np.testing.assert_allclose(run.curves["train"], loop.curves["train"], rtol=1e-4)
    assert (run.curves["by_loop"] == 0).all()
    # The first guess comes from short stretches of the loop; from then on the last epoch's states are, and they are better.
    rounds = run.curves["rounds"]
    assert (rounds[1:] <= rounds[0]).all()
    assert rounds[-1] < rounds[0]
    columns = (tmp_path / "run" / "metrics.csv").read_text().splitlines()[0]
    assert columns == "epoch,train,validation,gradient,rounds,by_loop"
    assert "rounds" not in loop.curves


def test_too_few_rounds_are_told(tmp_path):
    run = gnode.fit(small_net(solver=AT_ONCE | {"rounds": 1}), small_task(), **HOW)
    assert (run.curves["by_loop"] == 1).all()
    np.testing.assert_allclose(
        run.curves["train"], gnode.fit(small_net(), small_task(), **HOW).curves["train"], rtol=1e-4
    )

    assert run.summary().endswith("; all bins at once did not converge in every update, where the loop took over.")
    run.curves["by_loop"][:3] = 0
    assert "did not converge in 25% of the updates" in run.summary()
    run.curves["by_loop"][:] = 0
    assert "loop" not in run.summary()


@pytest.fixture
def chosen(monkeypatch):
    """Chooses all bins at once as a GPU would, for trials as long as those of the tests."""
    monkeypatch.setattr(parallel, "is_on_gpu", lambda: True)
    monkeypatch.setattr(parallel, "FEWEST_BINS", 12)


def test_where_a_gpu_chooses_it_the_rounds_are_recorded_and_warm(chosen):
    loop = gnode.fit(small_net(solver={"time": "loop"}), small_task(), **HOW)
    run = gnode.fit(small_net(), small_task(), **HOW)
    np.testing.assert_allclose(run.curves["train"], loop.curves["train"], rtol=1e-4)
    assert (run.curves["by_loop"] == 0).all()
    assert 0 < run.curves["rounds"][-1] < run.curves["rounds"][0]
    cold = gnode.fit(small_net(), small_task(), **HOW | {"fresh": "epoch"})  # whose trials are new, so nothing is known
    assert run.curves["rounds"][-1] < cold.curves["rounds"][-1]
    shorter = gnode.fit(small_net(), small_task(), **HOW | {"spans": ((6, 2), (12, 2))})
    assert (shorter.curves["rounds"] > 0).tolist() == [False, False, True, True]  # six bins are too few to be chosen
    several = gnode.fit(small_net(), small_task(trials=100), **HOW | {"batch_size": 100, "epochs": 1})
    assert "rounds" not in several.curves  # too many states side by side


class Stop(gnode.train.Callback):
    def after_epoch(self, moment):
        if moment.epoch == 2:
            raise RuntimeError("stop here")


@pytest.mark.parametrize("began_on_gpu", [False, True])
def test_a_run_goes_on_where_the_choice_is_another(began_on_gpu, monkeypatch, tmp_path):
    monkeypatch.setattr(parallel, "FEWEST_BINS", 12)
    monkeypatch.setattr(parallel, "is_on_gpu", lambda: began_on_gpu)
    with pytest.raises(Exception, match="stop here"):
        gnode.fit(small_net(), small_task(), out=tmp_path / "run", callbacks=[Stop()], checkpoint_seconds=0, **HOW)
    monkeypatch.setattr(parallel, "is_on_gpu", lambda: not began_on_gpu)
    run = gnode.resume(tmp_path / "run")
    loop = gnode.fit(small_net(solver={"time": "loop"}), small_task(), **HOW)
    np.testing.assert_allclose(run.curves["train"], loop.curves["train"], rtol=1e-4)


@pytest.mark.parametrize("options", [{}, {"pieces": 2}, {"fresh": "epoch"}, {"state_noise": 0.1}])
def test_a_resumed_run_has_the_same_numbers(options, tmp_path):
    task = gnode.tasks.make("flipflop-square", trials=20, validation=10, bins=12)
    how = {**HOW, **options}
    unbroken = gnode.fit(small_net(solver=AT_ONCE), task, **how)
    with pytest.raises(Exception, match="stop here"):
        gnode.fit(
            small_net(solver=AT_ONCE), task, out=tmp_path / "run", callbacks=[Stop()], checkpoint_seconds=0, **how
        )
    resumed = gnode.resume(tmp_path / "run")
    for name, values in unbroken.curves.items():
        np.testing.assert_array_equal(resumed.curves[name], values, err_msg=name)


def test_growing_spans_use_the_part_that_is_trained():
    run = gnode.fit(small_net(solver=AT_ONCE), small_task(), **HOW | {"spans": ((6, 2), (12, 2))})
    loop = gnode.fit(small_net(), small_task(), **HOW | {"spans": ((6, 2), (12, 2))})
    np.testing.assert_allclose(run.curves["train"], loop.curves["train"], rtol=1e-4)


@pytest.mark.parametrize("engine", ["threads", "one_program"])
def test_in_a_sweep(engine, tmp_path):
    axes = {"model": ["gru"], "lr": [1e-3, 1e-2], "time": ["loop", "parallel"], "state": [3]}
    small = {"trials": 12, "validation": 6, "bins": 10, "epochs": 2, "batch_size": 6}
    found = gnode.sweep("flipflop-square", tmp_path / "grid", engine=engine, **axes, **small)
    table = found.table()
    losses = dict(zip(zip(table["lr"], table["time"]), table["best_loss"]))
    for lr in (1e-3, 1e-2):
        np.testing.assert_allclose(losses[lr, "parallel"], losses[lr, "loop"], rtol=1e-4)
