"""Bad command lines: exit status 2, one sentence, nothing changed on disk, and never a traceback."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from bad_commands import BASES, Generator, parameters
from judge import KINDS, Outcome, Sandbox, _classified

CASES = 200
SLOW_CASES = 5200
SMALL = ["--trials", "4", "--validation", "2", "--bins", "3", "--widths", "4", "--epochs", "1"]


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory):
    """A folder with a run, sweeps, files and odd names; making it trains three networks of a moment."""
    return Sandbox(tmp_path_factory.mktemp("fuzz"))


def gnode(*words, cwd, env=None, **options):
    """Runs a command in a process of its own."""
    call = [sys.executable, "-m", "gnode", *words]
    return subprocess.run(call, cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, timeout=120, **options)


def sentence(done) -> str:
    """The one sentence of a process that failed as it should."""
    said = _classified(done.returncode, "", done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
    assert said.kind == "ok", said
    return said.seen


def test_every_command_is_fuzzed():
    assert set(parameters()) == set(BASES)


def test_bad_command_lines_are_refused_in_a_sentence(sandbox):
    cases = Generator(seed=0).draw(CASES)
    wrong = [(str(case), outcome) for case in cases if (outcome := sandbox.judge(case)).kind != "ok"]
    assert not wrong, wrong[:5]
    assert {case.group for case in cases} == set(Generator.GROUPS)


@pytest.mark.parametrize(
    ("status", "foreign", "err", "kind"),
    [
        (2, "", "gnode: lr is nan, but must be a positive number.\n", "ok"),
        (2, "Traceback ...", "", "traceback"),
        (2, "", "Traceback (most recent call last):", "traceback"),
        (0, "", "", "exit status"),
        (1, "", "gnode: no.\n", "exit status"),
        (2, "", "", "long message"),
        (2, "", "gnode: one\ntwo\nthree\n", "long message"),
        (2, "", "gnode: " + "x" * 700, "long message"),
        (2, "", "Error: not ours\n", "long message"),
    ],
)
def test_the_judge_tells_outcomes_apart(status, foreign, err, kind):
    assert _classified(status, foreign, "", err).kind == kind


def test_the_judge_sees_a_new_file(sandbox, monkeypatch):
    def leaves_a_file(words, folder):
        (folder / "empty" / "left").write_text("")
        return Outcome("ok")

    monkeypatch.setattr("judge._run", leaves_a_file)
    case = Generator(seed=0).draw(1)[0]
    assert sandbox.judge(case).kind == "files changed"
    assert not (sandbox.folder / "empty" / "left").exists()


@pytest.mark.parametrize("name", ["seed", "data-seed"])
def test_both_seeds_refuse_the_same(gnode_command, tmp_path, name):
    for value, why in {"-1": "at least 0", str(2**32): "at most"}.items():
        said = gnode_command(f"train flipflop-square --out {tmp_path / 'run'} --{name}={value}").one_sentence()
        assert f"{name.replace('-', '_')} is {value}, but must be a whole number of {why}" in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("option", ["--state=2147483648", "--state=2147483647", "--widths=99999x99999"])
def test_a_network_that_no_memory_holds_is_refused(gnode_command, tmp_path, option):
    gnode_command(f"train flipflop-square --trials 4 --bins 3 {option} --out", tmp_path / "run").one_sentence()
    assert not (tmp_path / "run").exists()


def test_a_learning_rate_that_destroys_the_network_in_the_last_update_is_divergence(gnode_command, tmp_path):
    said = gnode_command(f"train flipflop-square {' '.join(SMALL)} --lr 1e30 --out", tmp_path / "run")
    assert "diverged at update 1" in said.one_sentence()
    assert json.loads((tmp_path / "run" / "result.json").read_text())["status"] == "diverged"


ODD_NAMES = {"markup": "[/red][link=x]$5_{$", "bytes": "\udcff\nb", "long": "n" * 200}


@pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
def test_folders_of_any_name_are_trained_in_and_looked_into(gnode_command, tmp_path, name):
    folder = tmp_path / name
    gnode_command(f"train flipflop-square {' '.join(SMALL)} --progress --out", folder).ok()
    gnode_command("train --resume", folder).ok()
    gnode_command("doctor", folder).ok()
    gnode_command("train flipflop-square --out", folder).one_sentence()


def test_labels_with_dollar_signs_are_drawn_as_text(tmp_path):
    from gnode import plots
    from gnode.expressivity import Curve
    from gnode.plots import expressivity as pictures

    odd, numbers = "$5_{$", np.array([1.0, 2.0])
    curve = Curve(x=numbers, mean=numbers, std=numbers)
    figures = [
        pictures.error_curves({odd: curve}, odd),
        pictures.fitted_noise(np.ones((3, 1)), {odd: np.ones((3, 1))}),
        plots.loss_curves({odd: numbers}, ylabel=odd),
        plots.confusion_matrix(np.eye(2, dtype=int), [odd, "b"]),
        plots.class_counts({odd: [1]}, [odd]),
    ]
    for number, figure in enumerate(figures):
        plots.save(figure, tmp_path / str(number))
    figures[0].axes[0].set_title(odd)
    with pytest.raises(ValueError, match="Expected"):  # what it would be as mathematics
        plots.save(figures[0], tmp_path / "mathematics")


def test_a_terminal_that_knows_ascii_only(tmp_path):
    plain = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    name = "h\N{LATIN SMALL LETTER E WITH ACUTE}-\N{CJK UNIFIED IDEOGRAPH-6F22}"
    assert "must be one of" in sentence(gnode("train", name, cwd=tmp_path, env=plain))


@pytest.mark.slow
@pytest.mark.parametrize("words", [["train", "--help"], ["list"], ["theory", "critical", "--width", "0"]])
def test_tables_on_a_terminal_that_knows_ascii_only(tmp_path, words):
    plain = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = gnode(*words, cwd=tmp_path, env=plain)
    assert done.returncode == 0, done.stderr
    assert not done.stderr


@pytest.mark.slow
def test_without_a_home(tmp_path):
    call = ["env", "-i", f"PATH={os.environ['PATH']}", f"PYTHONPATH={os.environ['PYTHONPATH']}", sys.executable, "-m"]
    for words in (["data", "list"], ["data", "check", "characters"], ["train", "characters", "--out", "run"]):
        done = subprocess.run([*call, "gnode", *words], cwd=tmp_path, capture_output=True, timeout=120)
        assert done.returncode in (0, 2), done.stderr
        assert b"Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    "option", ["--widths=2147483648", "--widths=2147483647", "--state=100000", "--cores=2147483647"]
)
def test_huge_sizes_do_not_abort_the_process(tmp_path, option):
    sentence(gnode("train", "flipflop-square", "--trials=4", "--bins=3", option, "--out=run", cwd=tmp_path))
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_closed_terminal_ends_a_run_as_a_scheduler_does(tmp_path):
    words = ["train", "flipflop-square", *SMALL[:-1], "1000000", "--out", "run"]
    process = subprocess.Popen(
        [sys.executable, "-m", "gnode", *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        began = time.monotonic()
        while not (tmp_path / "run" / "config.json").exists() and time.monotonic() - began < 60:
            time.sleep(0.1)
        time.sleep(5)  # let it train
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "go on with: gnode train --resume run" in " ".join(out.decode().split())


@pytest.mark.slow
def test_five_thousand_bad_command_lines(tmp_path):
    """In a process of their own, which is started anew after one that aborts it: counts by kind of outcome."""
    script = str(Path(__file__).with_name("judge.py"))
    found, wrong, next_one = Counter(dict.fromkeys(KINDS, 0)), [], 0
    while next_one < SLOW_CASES:
        call = [sys.executable, script, str(tmp_path), "1", str(SLOW_CASES), str(next_one)]
        done = subprocess.run(call, capture_output=True, text=True)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert rows, done.stderr
        for row in rows:
            if "kind" in row:
                found[row["kind"]] += 1
                wrong += [] if row["kind"] == "ok" else [row]
        next_one = rows[-1].get("begun", rows[-1].get("number")) + 1
        if "begun" in rows[-1]:
            found["abort"] += 1
            wrong.append({**rows[-1], "kind": "abort", "seen": done.stderr[-500:]})
    print(f"\n{SLOW_CASES} bad command lines: " + ", ".join(f"{kind} {number}" for kind, number in found.items()))
    assert found["ok"] == SLOW_CASES, wrong[:10]
