"""Runs: best weights, stopping, divergence, bad settings."""

import dataclasses

import jax
import numpy as np
import pytest
from small import small_net, small_task

import gnode
from gnode import fit
from gnode.errors import ArgumentError, GnodeError, StoreError
from gnode.train import Settings, loop
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


def test_states_rest_once_a_trial_is_over():
    inputs, lengths = np.ones((8, 6, 2)), np.full(8, 4)
    inputs[:, 4:] = 1e3
    task = gnode.tasks.arrays(inputs, np.zeros((8, 6, 2)), 0.01, lengths=lengths, validation=0.25)
    states = fit(small_net(), task, epochs=1).states
    np.testing.assert_array_equal(states[:, 4:], np.repeat(states[:, 3:4], 2, axis=1))


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"epochs": 0}, "epochs is 0"),
        ({"lr": -1.0}, "lr is -1.0"),
        ({"lr": float("nan")}, "lr is nan"),
        ({"learning_rate": 1e-3}, "a setting of fit is 'learning_rate'"),
        ({"batch_size": 2.5}, "batch_size is 2.5"),
        ({"schedule": ((4, 2),), "epochs": 3}, "spans lasts 2 epochs"),
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
