"""The command line as a person meets it: its exit status and its words."""

import inspect
import json
import signal
import subprocess
import sys
import time

import jax
import numpy as np
import pytest

from gnode import __version__, baselines, cli, load
from gnode.cli import _app, baseline
from gnode.cli import expressivity as expressivity_cli
from gnode.cli._old_spellings import translated
from gnode.expressivity import LEARNING_RATES, WEIGHT_DECAYS, longest_fit
from gnode.reproduce import NAMES
from gnode.tasks import TASKS

SMALL = "--trials 24 --bins 12 --epochs 3 --widths 8 --batch-size 8"


def test_train_load_resume(gnode_command, tmp_path):
    said = gnode_command(f"train flipflop-square --out {tmp_path}/run {SMALL}")
    assert "best validation loss" in said.ok()
    for name in ("config.json", "weights.npz", "metrics.csv", "result.json", "losses.png", "trial.png"):
        assert (tmp_path / "run" / name).stat().st_size > 0
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["spec"]["model"] == "gnode"
    assert config["settings"]["epochs"] == 3
    assert "finished 3 epochs" in gnode_command(f"train --resume {tmp_path}/run").ok()
    second = gnode_command(f"train flipflop-square --out {tmp_path}/run {SMALL}")
    assert "already holds a run" in second.one_sentence()


def test_a_users_own_arrays(gnode_command, tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "mine.npz", inputs=rng.normal(size=(30, 8, 2)), targets=rng.integers(3, size=30), dt=0.1)
    said = gnode_command(f"train {tmp_path}/mine.npz --model gru --state 4 --epochs 1 --out {tmp_path}/run").ok()
    assert "The run finished 1 epoch in" in said
    assert "confusion.png" in said
    run = load(tmp_path / "run")
    assert run.net.outputs == 3
    assert run.evaluation().confusion.sum() == len(run.task.validation)
    assert run.best_loss == pytest.approx(np.log(3), rel=0.5)  # three classes, guessed at random


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("train flipflop-sqare", "Did you mean 'flipflop-square'?"),
        ("train flipflop-square --model gnod", "Did you mean 'gnode'?"),
        ("train flipflop-square --learning-rate 1", "has no option --learning-rate. Did you mean --lr?"),
        ("train flipflop-square --lr", "option '--lr' requires an argument"),
        ("sweep statsu grid", "no such command 'statsu'. Did you mean 'status'?"),
        ("reproduce colect", "no such command 'colect'. Did you mean 'collect'?"),
        ("trian flipflop-square", "no such command 'trian'. Did you mean 'train'?"),
        ("train flipflop-square --init kaiming", "Did you mean 'kaiming_normal'?"),
        ("train flipflop-square --init-gate kaiming", "init_gate is 'kaiming', but must be one of"),
        ("train flipflop-square --init-readout norml", "init_readout is 'norml', but must be one of"),
        ("train flipflop-square --init critical --drive -1", "drive is -1.0, but must be zero or a positive number"),
        ("train flipflop-square --drive 1", "choose init='critical' or 'critical_glorot', or leave drive out"),
        ("train flipflop-square --model node --init-gate critical", "model 'node' has no setting 'init_gate'"),
        ("train flipflop-square --method eular", "Did you mean 'euler'?"),
        ("train flipflop-square --tau -1", "tau is -1.0, but must be a positive number"),
        ("train flipflop-square --dt -0.01", "dt is -0.01, but must be a positive number"),
        ("train flipflop-square --lr fast", "lr is 'fast', which cannot be read; write it like 1e-3"),
        ("train flipflop-square --widths 3by3", "write it like 316x316"),
        ("train flipflop-square --model gru --widths 8", "model 'gru' has no setting 'widths'"),
        ("train", "the task is missing"),
        ("train nowhere.npz", "nowhere.npz does not exist"),
        ("train --resume nowhere", "nowhere is not a folder"),
        ("train flipflop-square --resume nowhere", "give it alone"),
        ("train --resume nowhere --out elsewhere", "give it alone"),
        ("train flipflop-square --lr 1e-3,1e-2", "several values; train them with gnode sweep"),
        ("train flipflop-square --span 1", "span is (1.0,), but must be two numbers"),
        ("train flipflop-square --validation inf", "validation is inf, but must be a whole number"),
        ("sweep flipflop-square grid", "a folder is given by --out grid"),
        ("sweep flipflop-square --workers -1", "workers is -1, but must be a whole number"),
        ("sweep flipflop-square --address auto", "use engine 'ray'"),
        ("sweep flipflop-square --lr 1e-3,much", "lr is 'much'"),
        ("sweep status nowhere", "holds no sweep"),
        ("sweep --resume nowhere", "holds no sweep"),
        ("sweep", "the task is missing"),
        ("analyse nowhere", "nowhere"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(words, sentence, tmp_path, monkeypatch, gnode_command):
    monkeypatch.chdir(tmp_path)
    assert sentence in gnode_command(words).one_sentence()
    assert not list(tmp_path.iterdir())


def test_a_diverging_run_says_when_and_keeps_its_folder(gnode_command, tmp_path):
    said = gnode_command(f"train flipflop-square --model node --lr 1e4 --out {tmp_path}/run {SMALL}")
    assert "diverged at update" in said.one_sentence()
    assert (tmp_path / "run" / "weights.npz").exists()


def test_initialisers_of_single_parts_in_runs_and_sweeps(gnode_command, tmp_path):
    parts = "--init critical --init-input glorot_normal --init-gate glorot_normal --init-readout pytorch --drive 2.5"
    gnode_command(f"train flipflop-square --final tanh {parts} --out {tmp_path}/run {SMALL}").ok()
    spec = json.loads((tmp_path / "run" / "config.json").read_text())["spec"]
    given = {"init_input": "glorot_normal", "init_gate": "glorot_normal", "init_readout": "pytorch", "drive": 2.5}
    assert given.items() <= spec.items()
    grid = "sweep run flipflop-square --model rnn,gnode --init critical --init-gate critical,glorot_normal --drive 0,1"
    said = gnode_command(f"{grid} --init-readout glorot_normal,critical --out {tmp_path}/grid {SMALL} --dry-run").ok()
    # An RNN has no gate, and what only fills arrays compiles nothing.
    assert "12 members in 2 groups, 2 compilations" in said


def test_sweep_dry_run_status_and_resume(gnode_command, tmp_path):
    grid = f"sweep run flipflop-square --model rnn,gnode --lr 1e-3,1e-2 --out {tmp_path}/grid {SMALL}"
    assert "4 members in 2 groups, 2 compilations" in gnode_command(f"{grid} --dry-run").ok()
    assert not (tmp_path / "grid").exists()
    gnode_command(grid).ok()
    for name in ("results.csv", "results.md", "strip.png", "curves.png"):
        assert (tmp_path / "grid" / name).stat().st_size > 0
    assert "4 of 4 members done" in gnode_command(f"sweep status {tmp_path}/grid").ok()
    table = (tmp_path / "grid" / "results.csv").read_text()
    assert "4 members; this call took" in gnode_command(f"sweep --resume {tmp_path}/grid").ok()  # the old spelling
    assert (tmp_path / "grid" / "results.csv").read_text() == table


@pytest.mark.slow
@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_or_a_scheduler_ends_a_sweep_with_a_sentence(way, tmp_path):
    """While its threads compute: the process ends by itself, with the usual status, keeps all, and says how to go on."""
    words = f"sweep flipflop-square --model rnn,gru --seed 0,1,2 --epochs 100000 --batch-size 10 --out {tmp_path}/grid"
    process = subprocess.Popen(
        [sys.executable, "-m", "gnode", *words.split()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    time.sleep(20)
    process.send_signal(way)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert f"gnode sweep resume {tmp_path}/grid" in said
    assert "terminate" not in said
    assert list((tmp_path / "grid" / "unfinished").glob("*.npz"))


def test_list_and_info(gnode_command):
    listed = gnode_command("list").ok()
    for name in ("gnode", "lem", "flipflop-ring", "kvaerno5", "critical_glorot", "affine", "one_program"):
        assert name in listed
    assert f"jax {jax.__version__}" in gnode_command("info").ok()
    assert gnode_command("--version").ok() == f"gnode {__version__}"


@pytest.mark.slow
def test_the_demo_in_few_epochs(gnode_command, tmp_path):
    assert "Validation MSE" in gnode_command(f"demo --epochs 2 --out {tmp_path}/demo").ok()
    for name in ("flow.png", "trial.png", "losses.png"):
        assert (tmp_path / "demo" / name).stat().st_size > 5_000


@pytest.mark.parametrize(
    "problem",
    [
        jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 5GiB.\nmore"),
        MemoryError(),
    ],
)
def test_too_little_memory_is_a_sentence(problem, monkeypatch, gnode_command):
    def fails(arguments):
        raise problem

    monkeypatch.setattr(_app, "call", fails)
    assert "there is not enough memory (" in gnode_command("list").one_sentence()
    monkeypatch.setattr(cli, "_is_out_of_memory", lambda problem: False)
    with pytest.raises(type(problem)):
        cli.main([])


def test_defaults_in_help_are_those_of_the_library():
    """Help must not import what has the defaults, so some stand twice: here they are compared."""
    assert {name: baselines.DEFAULTS[name] for name in baseline.DEFAULTS} == baseline.DEFAULTS
    texts = {expressivity_cli.RATES: LEARNING_RATES, expressivity_cli.DECAYS: WEIGHT_DECAYS}
    for text, values in texts.items():
        assert tuple(float(part) for part in text.split(",")) == values
    defaults = inspect.signature(expressivity_cli.longest_command).parameters
    library = inspect.signature(longest_fit).parameters
    assert tuple(int(part) for part in defaults["lengths"].default.split(",")) == library["lengths"].default
    for name in ("error", "seeds", "epochs"):
        assert defaults[name].default == library[name].default


def test_no_task_and_no_artefact_is_taken_for_a_misspelled_command():
    assert all(translated(["sweep", name])[1] == "run" for name in TASKS)
    assert all(translated(["reproduce", name])[1] == "run" for name in NAMES)
    for old, new in (
        ("--list", "list"),
        ("--collect", "collect"),
        ("fig1 --prepare", "prepare"),
        ("fig1 --about", "about"),
    ):
        assert translated(["reproduce", *old.split()])[1] == new
