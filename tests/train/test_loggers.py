"""The ready callbacks: against stand-ins of the three packages, and against the packages where they are installed.

A stand-in has the parameters of the real functions, which a test compares where the real ones are there.
"""

import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest
from small import small_net, small_task

import gnode
from gnode.errors import ArgumentError, GnodeError, StoreError
from gnode.train import MLflow, TensorBoard, WeightsAndBiases
from gnode.train.loggers import logger_of

STAND_INS = Path(__file__).parent / "stand_ins"
PACKAGES = {"tensorboardX": ["tensorboardX"], "wandb": ["wandb"], "mlflow": ["mlflow", "mlflow.tracking"]}
QUICK = {"epochs": 4, "lr": 1e-2, "batch_size": 8}


def forget_packages():
    for name in [name for name in sys.modules if name.split(".")[0] in PACKAGES]:
        del sys.modules[name]


@pytest.fixture
def stand_ins(monkeypatch):
    """Imports the stand-ins in place of the packages; returns a function that gives the calls of one."""
    kept = {name: module for name, module in sys.modules.items() if name.split(".")[0] in PACKAGES}
    forget_packages()
    monkeypatch.syspath_prepend(STAND_INS)
    importlib.invalidate_caches()
    yield lambda name: importlib.import_module(name).calls
    forget_packages()
    sys.modules.update(kept)


def interrupted_in_epoch_3(moment):
    if moment.epoch == 3:
        raise KeyboardInterrupt


def trained_in_two_parts(logger, folder):
    """Trains, is interrupted after the third of four epochs, and goes on."""
    with pytest.raises(KeyboardInterrupt):
        gnode.fit(small_net(), small_task(), out=folder, callbacks=[logger(), interrupted_in_epoch_3], **QUICK)
    return gnode.resume(folder, callbacks=[logger()])


def test_tensorboard(stand_ins, tmp_path):
    run = trained_in_two_parts(lambda: TensorBoard(tmp_path / "log"), tmp_path / "run")
    calls, log = stand_ins("tensorboardX"), str(tmp_path / "log")
    opened = [call for call in calls if call[0] == "open"]
    assert opened == [("open", log, None), ("open", log, 1)]  # what it has of epoch 1 on is dropped, and written again
    validation = [call for call in calls if call[0] == "validation"]
    losses = [("validation", loss, epoch) for epoch, loss in enumerate(run.curves["validation"], 1)]
    assert validation == losses[:3] + losses
    assert "| lr | 0.01 |" in next(call for call in calls if call[0] == "settings")[1]
    ((_, hyper, found),) = (call for call in calls if call[0] == "hparams")
    assert hyper["batch_size"] == 8
    assert hyper["clip"] == "inf"
    assert found == {"hparams/best_loss": run.best_loss}
    assert calls.count(("close",)) == 2


def test_weights_and_biases(stand_ins, tmp_path):
    run = trained_in_two_parts(lambda: WeightsAndBiases("mine"), tmp_path / "run")
    calls = stand_ins("wandb")
    first, second = (call for call in calls if call[0] == "init")
    assert first[:4] == ("init", "mine", "offline", None)
    assert second[:4] == ("init", "mine", "offline", "made-up")  # the same run goes on
    assert first[4]["lr"] == 0.01
    steps = [(call[2], call[1]["train"]) for call in calls if call[0] == "log"]
    assert steps == list(enumerate(run.curves["train"], 1))
    ended = [call for call in calls if call[0] == "finish"]
    best = {"best_loss": run.best_loss, "best_epoch": run.best_epoch, "status": "finished"}
    assert ended == [("finish", 1, {}), ("finish", 0, best)]


def test_mlflow(stand_ins, tmp_path):
    run = trained_in_two_parts(lambda: MLflow("mine", tmp_path / "log"), tmp_path / "run")
    calls = stand_ins("mlflow")
    assert calls[0] == ("open", f"sqlite:///{tmp_path / 'log' / 'mlflow.db'}")
    assert [call for call in calls if call[0] == "create_run"] == [("create_run", "run")]
    assert calls.count(("update_run", "made-up", "RUNNING")) == 1
    batches = [call for call in calls if call[0] == "made-up"]
    assert batches[0][2]["lr"] == "0.01"
    logged = [(one.key, one.step, one.value) for batch in batches for one in batch[1]]
    losses = [("train", epoch, loss) for epoch, loss in enumerate(run.curves["train"], 1)]
    assert [one for one in logged if one[0] == "train"] == losses
    assert ("best_loss", 4, run.best_loss) in logged
    assert [call for call in calls if call[0] == "set_terminated"] == [
        ("set_terminated", "KILLED"),
        ("set_terminated", "FINISHED"),
    ]


def test_mlflow_is_given_the_epochs_that_a_kill_lost(stand_ins, tmp_path):
    """A kill loses what was waiting; here it loses all but the first epoch."""
    with pytest.raises(KeyboardInterrupt):
        gnode.fit(small_net(), small_task(), out=tmp_path, callbacks=[MLflow("mine"), interrupted_in_epoch_3], **QUICK)
    calls = stand_ins("mlflow")
    calls[:] = [(call[0], [one for one in call[1] if one.step == 1], {}) for call in calls if call[0] == "made-up"]
    run = gnode.resume(tmp_path, callbacks=[MLflow("mine")])
    steps = [(one.step, one.value) for call in calls if call[0] == "made-up" for one in call[1] if one.key == "train"]
    assert steps == list(enumerate(run.curves["train"], 1))


def test_a_package_that_is_missing_is_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(GnodeError, match=r"^TensorBoard needs the extra gnode\[tensorboard\]: pip install"):
        TensorBoard(tmp_path / "log")
    assert not (tmp_path / "log").exists()
    with pytest.raises(GnodeError, match=r"^WeightsAndBiases needs the extra gnode\[wandb\]"):
        WeightsAndBiases("mine")
    with pytest.raises(GnodeError, match=r"^MLflow needs the extra gnode\[mlflow\]"):
        MLflow("mine")


@pytest.mark.parametrize("text", ["", "tensorboard", "tensorboard:", "wandb: ", "paper:me", ":", "TensorBoard:x"])
def test_a_log_that_is_not_understood(text):
    with pytest.raises(ArgumentError, match=f"log is {re.escape(repr(text))}, but must be tensorboard:FOLDER"):
        logger_of(text)


def test_bad_arguments(stand_ins, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file"):
        TensorBoard(tmp_path / "file")
    with pytest.raises(ArgumentError, match="project is '', but must be a name"):
        WeightsAndBiases("")
    with pytest.raises(ArgumentError, match=r"project is 'a/b', but must have at most 128 letters, and none of / \\ #"):
        WeightsAndBiases("a/b")
    with pytest.raises(ArgumentError, match="offline is 'yes', but must be True or False"):
        WeightsAndBiases("mine", offline="yes")
    with pytest.raises(ArgumentError, match="experiment is ' ', but must be a name"):
        MLflow(" ")


def test_the_command_line(stand_ins, gnode_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gnode.plots.save_run", lambda run, folder: [])  # the pictures are slow, and not looked at here
    small = "train flipflop-square --trials 24 --validation 10 --bins 12 --widths 8 --epochs 2 --batch-size 8"
    done = gnode_command(small, "--out=run", "--log=tensorboard:a", "--log=wandb:b")
    assert done.status == 0, done.err
    assert stand_ins("wandb")[0][:4] == ("init", "b", "offline", None)
    assert stand_ins("tensorboardX")[0] == ("open", "a", None)
    wrong = gnode_command(small, "--out=other", "--log=somewhere")
    assert wrong.status == 2
    assert "log is 'somewhere', but must be" in wrong.err


@pytest.mark.parametrize("package", PACKAGES)
def test_a_stand_in_is_like_the_package(package, stand_ins):
    """Every parameter that a stand-in takes, the real function takes too."""
    mine = {name: importlib.import_module(name) for name in PACKAGES[package]}
    functions = [(name, *found) for name, module in mine.items() for found in _functions(module)]
    assert functions
    forget_packages()
    sys.path.remove(str(STAND_INS))
    importlib.invalidate_caches()
    pytest.importorskip(package)
    for module, place, stand_in in functions:
        real = importlib.import_module(module)
        for part in place.split("."):
            real = getattr(real, part)
        known = inspect.signature(real).parameters
        assert set(inspect.signature(stand_in).parameters) <= set(known), place


def _functions(module):
    for name, one in vars(module).items():
        if getattr(one, "__module__", "") != module.__name__:
            continue
        if inspect.isfunction(one):
            yield name, one
        elif inspect.isclass(one):
            yield from ((f"{name}.{key}", value) for key, value in vars(one).items() if inspect.isfunction(value))


def test_the_real_tensorboard(tmp_path):
    pytest.importorskip("tensorboardX")
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    run = trained_in_two_parts(lambda: TensorBoard(tmp_path / "log"), tmp_path / "run")
    events = reader.EventAccumulator(str(tmp_path / "log"))
    events.Reload()
    for name, curve in run.curves.items():
        stored = [(event.step, event.value) for event in events.Scalars(name)]
        assert stored == [(epoch, pytest.approx(value)) for epoch, value in enumerate(curve, 1)]
    (best,) = events.Scalars("best_loss")
    assert best.value == pytest.approx(run.best_loss)
    hyper = reader.EventAccumulator(str(tmp_path / "log" / "hparams"))
    hyper.Reload()
    stored = hyper.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    assert b"batch_size" in stored


def test_the_real_weights_and_biases(tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    from wandb.proto.wandb_internal_pb2 import Record

    monkeypatch.chdir(tmp_path)
    run = trained_in_two_parts(lambda: WeightsAndBiases("mine"), tmp_path / "run")
    losses, names, best, settings = {}, set(), [], {}
    for path in sorted((tmp_path / "run" / "wandb").glob("offline-run-*/*.wandb")):
        names.add(path.stem)
        for record in map(Record.FromString, wandb_records(path.read_bytes())):
            items = {item.key or "/".join(item.nested_key): item.value_json for item in record.history.item}
            if "validation" in items:
                losses[int(items["_step"])] = float(items["validation"])
            best += [float(item.value_json) for item in record.summary.update if item.key == "best_loss"]
            settings |= {item.key: item.value_json for item in record.run.config.update}
    assert losses == dict(enumerate(run.curves["validation"], 1))
    assert len(names) == 1  # both parts have one identifier
    assert best == [run.best_loss]
    assert settings["lr"] == "0.01"


def wandb_records(data):
    """Yields the records of a file of Weights & Biases: 7 bytes, then blocks of 32 KiB as in a log of LevelDB."""
    place, parts = 7, b""
    while place + 7 <= len(data):
        if 32768 - place % 32768 < 7:  # no room for a header: the block ends
            place += 32768 - place % 32768
            continue
        length, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        parts += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # a whole record, or the last part of one
            yield parts
            parts = b""


def test_the_real_mlflow(tmp_path):
    pytest.importorskip("mlflow")
    from mlflow.tracking import MlflowClient

    run = trained_in_two_parts(lambda: MLflow("mine", tmp_path / "log"), tmp_path / "run")
    client = MlflowClient(f"sqlite:///{tmp_path / 'log' / 'mlflow.db'}")
    (stored,) = client.search_runs([client.get_experiment_by_name("mine").experiment_id])
    history = client.get_metric_history(stored.info.run_id, "validation")
    assert {one.step: one.value for one in history} == dict(enumerate(run.curves["validation"], 1))
    assert stored.data.params["lr"] == "0.01"
    assert stored.data.metrics["best_loss"] == run.best_loss
    assert stored.info.status == "FINISHED"
