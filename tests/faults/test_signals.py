"""Signals in quick succession, at any moment: a command ends, says so, and what it leaves is resumed to the same numbers."""

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fault_tools import HANG, SWEEP, TRAIN, Faults, Worker, assert_none, content, differing

from gnode import interrupts

PAIRS = list(itertools.product((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), repeat=2))
COMMANDS = {
    "train": (TRAIN, "train --resume"),
    "train with a bar": (f"{TRAIN} --progress", "train --resume"),
    "threads": (f"{SWEEP} --engine threads", "sweep resume --engine threads"),
    "one_program": (f"{SWEEP} --engine one_program", "sweep resume --engine one_program"),
}


def pair(worker, moment, numbers, apart):
    """Sends two signals."""
    time.sleep(moment)
    worker.signal(numbers[0])
    time.sleep(apart)
    worker.signal(numbers[1])


class Tries:
    """Pairs of signals against commands in one process, and what went wrong."""

    def __init__(self, worker, kinds, seed):
        self.worker, self.kinds, self.home = worker, kinds, worker.home
        self.chance, self.wrong = random.Random(seed), Faults()
        self.lasts, self.whole, self.interrupted = {}, {}, 0
        for kind in kinds:
            command, _ = COMMANDS[kind]
            for name in ("compiles", f"whole {kind}".replace(" ", "-")):
                shutil.rmtree(self.home / name, ignore_errors=True)
                began = time.monotonic()
                assert self.worker.run(f"{command} --out {name}")["status"] == 0
            self.lasts[kind], self.whole[kind] = time.monotonic() - began, content(self.home / name)

    def one(self, number):
        kind = self.kinds[number % len(self.kinds)]
        command, resume = COMMANDS[kind]
        numbers = PAIRS[number // len(self.kinds) % len(PAIRS)]
        out, what = self.home / "out", (number, kind, [one.name for one in numbers])
        shutil.rmtree(out, ignore_errors=True)
        self.worker.begin(f"{command} --out out")
        pair(self.worker, self.chance.uniform(0, self.lasts[kind]), numbers, self.chance.uniform(0, 2e-3))
        said = self.worker.answer()
        if said is None or said == "hang":
            self.wrong.append((*what, said))
            self.worker.close()
            self.worker = Worker(self.home)
            return
        # So that about one in five comes too late, however fast the machine is at the moment.
        self.lasts[kind] *= 0.9 if said["status"] == 0 else 1.03
        sentence = "nterrupted" in said["out"] + said["err"]
        if said["status"] not in (0, 130) or (said["status"] == 130) != sentence or "Traceback" in said["err"]:
            self.wrong.append((*what, said))
        if said["status"] == 130:
            self.interrupted += 1
            begun = any((out / name).exists() for name in ("config.json", "sweep.json"))
            said = self.worker.run(f"{resume} out" if begun else f"{command} --out out")
            if said["status"] != 0:
                self.wrong.append((*what, "not resumed", said))
        if other := differing(out, self.whole[kind]):
            self.wrong.append((*what, "another result", other))


def test_two_signals_at_once_a_few(two_workers):
    tries = Tries(two_workers[0], ["threads"], seed=0)
    for number in range(2):
        tries.one(number)
    two_workers[0] = tries.worker
    assert_none(tries.wrong)
    assert tries.interrupted


@pytest.mark.slow
def test_a_thousand_pairs_of_signals(tmp_path):
    count, at_a_time = 1000, 2

    def some(part):
        (tmp_path / str(part)).mkdir()
        tries = Tries(Worker(tmp_path / str(part)), list(COMMANDS), seed=part)
        try:
            for number in range(part, count, at_a_time):
                tries.one(number // at_a_time)
        finally:
            tries.worker.close()
        return tries

    with ThreadPoolExecutor(at_a_time) as pool:
        done = list(pool.map(some, range(at_a_time)))
    print(f"\n{count} pairs, {sum(tries.interrupted for tries in done)} came before the command had ended")
    assert_none([wrong for tries in done for wrong in tries.wrong])
    assert sum(tries.interrupted for tries in done) > count / 2


def listens(process):
    """Waits until a process has handlers of its own for all three signals."""
    wanted = sum(1 << (number - 1) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    while process.poll() is None:
        for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:") and int(line.split()[1], 16) & wanted == wanted:
                return
        time.sleep(0.001)


def real(words, home):
    return subprocess.Popen(
        [sys.executable, "-m", "gnode", *words.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=home,
    )


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="sees through /proc whether a process listens")
@pytest.mark.slow
@pytest.mark.parametrize("kind", list(COMMANDS))
def test_real_processes_from_their_first_moment(kind, tmp_path):
    command, resume = COMMANDS[kind]
    chance, whole = random.Random(kind), real(f"{command} --out whole", tmp_path)
    began = time.monotonic()
    assert whole.wait() == 0
    lasts = time.monotonic() - began
    for number in range(6):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        process = real(f"{command} --out out", tmp_path)
        listens(process)
        time.sleep(chance.uniform(0, lasts))
        numbers = chance.choice(PAIRS)
        process.send_signal(numbers[0])
        time.sleep(chance.uniform(0, 2e-3))
        process.send_signal(numbers[1])
        said, _ = process.communicate(timeout=HANG)
        assert process.returncode in (0, 130), (number, said)
        assert ("nterrupted" in said) == (process.returncode == 130), (number, said)
        assert "Traceback" not in said, (number, said)
        if process.returncode == 130:
            begun = any((tmp_path / "out" / name).exists() for name in ("config.json", "sweep.json"))
            again = real(f"{resume} out" if begun else f"{command} --out out", tmp_path)
            said, _ = again.communicate()
            assert again.returncode == 0, (number, said)
        assert differing(tmp_path / "out", content(tmp_path / "whole")) == [], number


@pytest.fixture
def quiet():
    yield
    interrupts.forget()


def test_only_the_first_of_signals_that_come_together_raises(quiet):
    with pytest.raises(KeyboardInterrupt):
        interrupts.handle(signal.SIGINT, None)
    for _ in range(3):
        interrupts.handle(signal.SIGTERM, None)
    assert interrupts.is_wanted()


SAVES_FOR_LONG = """
import signal, sys, time
from gnode import interrupts
from gnode.cli import main
from gnode.train import run_folder
save = run_folder.save
def slow(*arguments):
    if interrupts.is_wanted():
        print("saves", flush=True)
        time.sleep(30)
    save(*arguments)
run_folder.save = slow
main()
"""


@pytest.mark.slow
def test_a_second_ctrl_c_while_the_first_is_being_saved_ends_it_at_once(tmp_path):
    words = f"{TRAIN.replace('--epochs 40', '--epochs 100000')} --out out".split()
    process = subprocess.Popen(
        [sys.executable, "-c", SAVES_FOR_LONG, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    while not (tmp_path / "out" / "config.json").exists():
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    assert "saves" in process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)  # the same keystroke, twice: it goes on saving
    time.sleep(interrupts.SETTLE_SECONDS)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=5.0)
    assert process.returncode == interrupts.EXIT_STATUS
    assert said.strip() == interrupts.AT_ONCE.decode().strip()
    (tmp_path / "out" / "config.json").stat()
