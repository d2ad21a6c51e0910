"""The command line as a person meets it: in another process, with its exit status and its words."""

import json
import signal
import subprocess
import sys
import time

import jax
import numpy as np
import pytest

from gnode import cli
from gnode.cli import main

SMALL = "--trials 24 --bins 12 --epochs 3 --widths 8 --batch-size 8"


def gnode(*words, cwd=None):
    command = [sys.executable, "-m", "gnode", *(part for word in words for part in word.split())]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=300)


def test_train_load_resume(tmp_path):
    done = gnode(f"train flipflop-square --out {tmp_path}/run {SMALL}")
    assert done.returncode == 0, done.stderr
    assert "best validation loss" in done.stdout
    for name in ("config.json", "weights.npz", "metrics.csv", "result.json", "losses.png", "trial.png"):
        assert (tmp_path / "run" / name).stat().st_size > 0
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["spec"]["model"] == "gnode"
    assert config["settings"]["epochs"] == 3
    again = gnode(f"train --resume {tmp_path}/run")
    assert again.returncode == 0, again.stderr
    assert "finished 3 epochs" in again.stdout
    second = gnode(f"train flipflop-square --out {tmp_path}/run {SMALL}")
    assert second.returncode == 2
    assert "already holds a run" in second.stderr


def test_a_users_own_arrays(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "mine.npz", inputs=rng.normal(size=(30, 8, 2)), targets=rng.integers(3, size=30), dt=0.1)
    done = gnode(f"train {tmp_path}/mine.npz --model gru --state 4 --epochs 2 --out {tmp_path}/run")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("train flipflop-sqare", "Did you mean 'flipflop-square'?"),
        ("train flipflop-square --model gnod", "Did you mean 'gnode'?"),
        ("train flipflop-square --init kaiming", "Did you mean 'kaiming_normal'?"),
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
        ("sweep flipflop-square grid", "write --out grid"),
        ("sweep flipflop-square --workers -1", "workers is -1, but must be a whole number"),
        ("sweep flipflop-square --address auto", "use engine 'ray'"),
        ("sweep flipflop-square --lr 1e-3,much", "lr is 'much'"),
        ("sweep status nowhere", "holds no sweep"),
        ("sweep --resume nowhere", "holds no sweep"),
        ("sweep", "the task is missing"),
        ("analyse nowhere", "nowhere"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XLA_FLAGS", "")  # a sweep sets its own; not for the rest of this process
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert sentence in said
    assert said.startswith("gnode: ")
    assert len(said.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_bad_input_in_a_process_of_its_own():
    done = gnode("train flipflop-sqare")
    assert done.returncode == 2
    assert done.stderr.startswith("gnode: task is 'flipflop-sqare'")
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_unknown_option_is_status_2():
    done = gnode("train flipflop-square --learning-rate 1")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_diverging_run_says_when_and_keeps_its_folder(tmp_path):
    done = gnode(f"train flipflop-square --model node --lr 1e4 --out {tmp_path}/run {SMALL}")
    assert done.returncode == 2
    assert "diverged at update" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "run" / "weights.npz").exists()


def test_sweep_dry_run_and_status(tmp_path):
    grid = f"sweep flipflop-square --model rnn,gnode --lr 1e-3,1e-2 --out {tmp_path}/grid {SMALL}"
    dry = gnode(grid, "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert "4 members in 2 groups, 2 compilations" in dry.stdout
    assert not (tmp_path / "grid").exists()
    done = gnode(grid)
    assert done.returncode == 0, done.stderr
    for name in ("results.csv", "results.md", "strip.png", "curves.png"):
        assert (tmp_path / "grid" / name).stat().st_size > 0
    assert "4 of 4 members done" in gnode(f"sweep status {tmp_path}/grid").stdout.replace("\n", " ")


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
    assert f"gnode sweep --resume {tmp_path}/grid" in said
    assert "terminate" not in said
    assert list((tmp_path / "grid" / "unfinished").glob("*.npz"))


def test_list_and_info():
    listed = gnode("list").stdout
    for name in ("gnode", "lem", "flipflop-ring", "kvaerno5", "critical_glorot", "affine"):
        assert name in listed
    assert "jax" in gnode("info").stdout


@pytest.mark.slow
def test_the_demo_in_few_epochs(tmp_path):
    done = gnode(f"demo --epochs 2 --out {tmp_path}/demo")
    assert done.returncode == 0, done.stderr
    assert "Validation MSE" in done.stdout
    for name in ("flow.png", "trial.png", "losses.png"):
        assert (tmp_path / "demo" / name).stat().st_size > 10_000


@pytest.mark.parametrize(
    "problem",
    [
        jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 5GiB.\nmore"),
        MemoryError(),
    ],
)
def test_too_little_memory_is_a_sentence(problem, monkeypatch, capsys):
    def fails(arguments):
        raise problem

    monkeypatch.setattr(cli, "make_app", lambda: fails)
    with pytest.raises(SystemExit) as end:
        main([])
    said = capsys.readouterr().err
    assert end.value.code == 2
    assert said.startswith("gnode: there is not enough memory (")
    assert said.count("\n") == 1
    monkeypatch.setattr(cli, "_is_out_of_memory", lambda problem: False)
    with pytest.raises(type(problem)):
        main([])
