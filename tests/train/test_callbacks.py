"""Callbacks: what they are told and when, stopping, failing; settings that are objects, which a folder only names."""

import json
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from small import small_net, small_task

import gnode
from gnode import fit
from gnode.errors import ArgumentError, GnodeError, StoreError
from gnode.train import Callback
from gnode.train._fit import _losses_so_far
from gnode.train.callbacks import Watch
from gnode.train.own_objects import Missing, as_stored

QUICK = {"epochs": 6, "lr": 1e-2, "batch_size": 8}


class Recorder(Callback):
    """Keeps what it is told."""

    def __init__(self):
        self.calls, self.moments = [], []

    def after_evaluation(self, moment):
        self.calls.append(("evaluation", moment.epoch))

    def after_epoch(self, moment):
        self.calls.append(("epoch", moment.epoch))
        self.moments.append(moment)

    def at_end(self, run):
        self.calls.append(("end", run.status))

    def close(self):
        self.calls.append(("close",))


def stop_in_epoch_3(moment):
    if moment.epoch == 3:
        moment.stop("it is good enough")


def fail_in_epoch_3(moment):
    if moment.epoch == 3:
        raise ZeroDivisionError("no\nluck")


@pytest.fixture(scope="module")
def unbroken():
    """A run that nobody watches."""
    return fit(small_net(), small_task(), **QUICK)


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def test_what_a_callback_sees(unbroken, tmp_path):
    seen = Recorder()
    run = fit(small_net(), small_task(), out=tmp_path / "run", callbacks=[seen], **QUICK)
    by_epoch = [(what, epoch) for epoch in range(1, 7) for what in ("evaluation", "epoch")]
    assert seen.calls == [*by_epoch, ("end", "finished"), ("close",)]
    for epoch, moment in enumerate(seen.moments, 1):
        assert (moment.epoch, moment.epochs, moment.is_first) == (epoch, 6, epoch == 1)
        assert moment.metrics == {name: values[epoch - 1] for name, values in unbroken.curves.items()}
        assert moment.best_loss == unbroken.curves["validation"][:epoch].min()
    last = seen.moments[-1]
    assert last.best_epoch == run.best_epoch
    assert all(np.array_equal(last.curves[name], run.curves[name]) for name in run.curves)
    assert 0 < seen.moments[0].seconds < last.seconds <= run.seconds
    assert last.folder == tmp_path / "run"
    assert last.run_config == run.config
    assert same(last.best_network(), run.net)
    loss = gnode.train.evaluate(last.network(), small_task()).scores()["loss"]
    assert loss == pytest.approx(last.metrics["validation"], rel=1e-5)


def test_looking_changes_nothing(unbroken):
    def meddle(moment):
        moment.run_config["settings"]["lr"] = 7
        moment.metrics["validation"] = -1.0
        with pytest.raises(ValueError, match="read-only"):
            moment.curves["train"][0] = 5.0

    run = fit(small_net(), small_task(), callbacks=[meddle], **QUICK)
    assert same(run.net, unbroken.net)
    assert run.config["settings"] == unbroken.config["settings"]
    np.testing.assert_array_equal(run.curves["train"], unbroken.curves["train"])


def test_a_callback_stops_a_run_and_that_is_its_end(tmp_path):
    seen, later = Recorder(), Recorder()
    run = fit(small_net(), small_task(), out=tmp_path / "run", callbacks=[stop_in_epoch_3, seen], **QUICK)
    assert (run.status, run.epochs_done, run.reason) == ("stopped", 3, "it is good enough")
    assert "(it is good enough)" in run.summary()
    assert seen.calls[-3:] == [("epoch", 3), ("end", "stopped"), ("close",)]  # those after it are told of the epoch too
    again = gnode.resume(tmp_path / "run", callbacks=[later])
    assert (again.status, again.epochs_done, again.reason) == ("stopped", 3, "it is good enough")
    assert later.calls == []


def test_a_callback_that_fails_is_named_and_what_was_learned_is_kept(unbroken, tmp_path):
    seen, folder = Recorder(), tmp_path / "run"
    with pytest.raises(GnodeError) as failed:
        fit(small_net(), small_task(), out=folder, callbacks=[fail_in_epoch_3, seen], **QUICK)
    message = "the callback fail_in_epoch_3 failed after epoch 3 (ZeroDivisionError: no luck); what was learned is in "
    assert str(failed.value) == f"{message}{folder}."
    assert isinstance(failed.value.__cause__, ZeroDivisionError)
    assert seen.calls[-1] == ("close",)
    assert gnode.load(folder).status == "interrupted"
    resumed = Recorder()
    run = gnode.resume(folder, callbacks=[resumed])
    assert [moment.epoch for moment in resumed.moments] == [4, 5, 6]
    assert [moment.is_first for moment in resumed.moments] == [True, False, False]
    np.testing.assert_array_equal(run.curves["validation"], unbroken.curves["validation"])


def test_one_that_cannot_be_closed_hides_no_other_error():
    class Stuck(Callback):
        def close(self):
            raise OSError("stuck")

    with pytest.raises(GnodeError, match="fail_in_epoch_3 failed after epoch 3"):
        fit(small_net(), small_task(), callbacks=[Stuck(), fail_in_epoch_3], **QUICK)
    with pytest.raises(GnodeError, match=r"Stuck failed when it was closed \(OSError: stuck\)"):
        fit(small_net(), small_task(), callbacks=[Stuck()], **QUICK)


def test_an_epoch_without_a_finite_validation_has_no_evaluation():
    seen = Recorder()
    watch = Watch((seen,), SimpleNamespace(settings=SimpleNamespace(epochs=3)), None, {})
    for epoch, loss in enumerate([1.0, np.nan, np.inf], 1):
        watch.after_epoch(SimpleNamespace(epoch=epoch, seconds=0.0, curves={"validation": np.array([loss])}))
    assert seen.calls == [("evaluation", 1), ("epoch", 1), ("epoch", 2), ("epoch", 3)]


@pytest.mark.parametrize(
    ("callbacks", "said"),
    [
        (Recorder, "callbacks is <class .*, but must be "),
        (3, "callbacks is 3, but must be "),
        ([3], "callbacks is .3., but must be "),
        ([Recorder], "callbacks has the class Recorder, but must have an instance of it"),
        ([dict], "callbacks has <class 'dict'>, but must have instances of gnode.train.Callback or functions"),
        ([lambda: None], "one of callbacks is <function .*, but must be a function of 1 argument"),
    ],
)
def test_what_is_no_callback_is_refused_before_anything_is_written(callbacks, said, tmp_path):
    with pytest.raises(ArgumentError, match=said):
        fit(small_net(), small_task(), out=tmp_path / "run", callbacks=callbacks, **QUICK)
    assert not (tmp_path / "run").exists()


def test_train_spec_refuses_them_too():
    spec = gnode.train.RunSpec.of("flipflop-square", {"trials": 4, "bins": 3, "widths": (4,), "epochs": 1})
    with pytest.raises(ArgumentError, match=r"callbacks is 3\.0, but must be a list"):
        gnode.train.train_spec(spec, callbacks=3.0)


def test_the_progress_bar_shows_the_accuracy_where_there_is_one():
    curves = {"train": np.ones(1), "validation": np.ones(1), "gradient": np.ones(1)}
    state = SimpleNamespace(best_loss=1.0)
    assert _losses_so_far(SimpleNamespace(curves=curves, state=state)) == "train 1  validation 1  best 1"
    shown = _losses_so_far(SimpleNamespace(curves=curves | {"accuracy": np.array([0.75])}, state=state))
    assert shown.endswith("accuracy 0.750")


def squared(outputs, targets):
    return jnp.mean((outputs - targets) ** 2, -1)


def largest(outputs, targets, counts):
    return jnp.max(jnp.abs(outputs - targets))


def test_settings_that_are_objects_are_named_in_the_folder_and_passed_again(tmp_path):
    folder, own = tmp_path / "run", {"optimiser": optax.adam(1e-2), "loss": squared, "metrics": ("r2", largest)}
    whole = fit(small_net(), small_task(), epochs=4, batch_size=8, **own)
    with pytest.raises(GnodeError, match="fail_in_epoch_3"):
        fit(small_net(), small_task(), epochs=4, batch_size=8, out=folder, callbacks=[fail_in_epoch_3], **own)
    stored = json.loads((folder / "config.json").read_text())["settings"]
    assert stored["optimiser"] == {"object": "optax: chain(scale_by_adam, scale)"}
    assert stored["loss"] == {"function": f"{__name__}:squared"}
    assert stored["metrics"] == ["r2", {"function": f"{__name__}:largest"}]
    found = gnode.load(folder)
    assert found.settings.loss == Missing("function", f"{__name__}:squared")
    assert set(found.curves) == {"train", "validation", "gradient", "r2", "largest"}
    with pytest.raises(
        StoreError, match=r"pass them again: gnode.resume\(.*, optimiser=..., loss=..., metrics=...\)\.$"
    ):
        gnode.resume(folder)
    with pytest.raises(StoreError, match=r"\(.*:squared\); pass them again: gnode.resume\(.*run', loss=...\)\.$"):
        gnode.resume(folder, **own | {"loss": None})
    with pytest.raises(ArgumentError, match=r"metrics has r2, but the run in .* has r2, largest"):
        gnode.resume(folder, **own | {"metrics": "r2"})
    run = gnode.resume(folder, **own)
    assert run.status == "finished"
    for name in whole.curves:
        np.testing.assert_array_equal(run.curves[name], whole.curves[name])


def test_an_object_that_the_folder_holds_is_not_passed_again(tmp_path):
    with pytest.raises(GnodeError, match="fail_in_epoch_3"):
        fit(small_net(), small_task(), out=tmp_path / "run", callbacks=[fail_in_epoch_3], **QUICK)
    with pytest.raises(ArgumentError, match=r"optimiser is stored with the run in .*; leave it out"):
        gnode.resume(tmp_path / "run", optimiser=optax.adam(1e-2))


def test_how_objects_are_named():
    chain = optax.chain(optax.clip(1.0), optax.adamw(1e-3))
    assert as_stored({"optimiser": chain}) == {
        "optimiser": {"object": "optax: chain(clip, chain(scale_by_adam, add_decayed_weights, scale))"}
    }
    assert as_stored({"optimiser": optax.MultiSteps(optax.sgd(1.0), 2)})["optimiser"] == {"object": "optax: MultiSteps"}
    missing = Missing("function", "mine:loss")
    assert as_stored({"loss": missing}) == {"loss": {"function": "mine:loss"}}
    with pytest.raises(StoreError, match="mine:loss is not stored with its run"):
        missing(1, 2)
