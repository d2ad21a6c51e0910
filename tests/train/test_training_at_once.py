"""Training with all bins at once: the loop's losses, warm starts, what is recorded, and resuming to the same numbers."""

import numpy as np
import pytest

import gnode
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


@pytest.mark.parametrize("options", [{}, {"pieces": 2}, {"fresh": "epoch"}, {"state_noise": 0.1}])
def test_a_resumed_run_has_the_same_numbers(options, tmp_path):
    task = gnode.tasks.make("flipflop-square", trials=20, validation=10, bins=12)

    class Stop(gnode.train.Callback):
        def after_epoch(self, moment):
            if moment.epoch == 2:
                raise RuntimeError("stop here")

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
