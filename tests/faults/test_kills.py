"""Processes killed by -9 at random moments, again and again: what is resumed ends as the unbroken one did.

`tests/sweeps/test_resume.py` kills longer sweeps in the middle of training; here moments from the first import to the last
picture are hit, in every command that stores something.
"""

import contextlib
import dataclasses
import os
import random
import shutil
import signal
import time
from pathlib import Path

import numpy as np
import pytest
import small_data
from fault_tools import SWEEP, TRAIN, Faults, Worker, assert_none, content, differing

DATA = "walker2d"


@dataclasses.dataclass(frozen=True)
class Case:
    """A command that writes `out`, the one that goes on with it once `begun` is there, and how often it is killed."""

    command: str
    resume: str
    begun: str
    kills: int
    folder: str = "out"


def sweep_case(engine, kills):
    resume = "sweep resume out" + (" --engine ray" if engine == "ray" else "")  # the others are in the folder
    return Case(f"{SWEEP} --engine {engine} --out out", resume, "sweep.json", kills)


REPRODUCE = "reproduce run annulus-generalisation --out out"
CASES = {
    "train": Case(f"{TRAIN} --out out", "train --resume out", "config.json", 30),
    "threads": sweep_case("threads", 20),
    "one_program": sweep_case("one_program", 20),
    "ray": sweep_case("ray", 8),
    "reproduce": Case(REPRODUCE, REPRODUCE, "nothing", 10),
    "data": Case(f"data add {DATA} rollouts --replace", "", "nothing", 12, "cache/gnode"),
}


class Killing:
    """A case, its unbroken result, and a process that is killed again and again."""

    def __init__(self, case, home, resumer, seed):
        self.case, self.home, self.resumer, self.chance = case, home, resumer, random.Random(seed)
        self.folder = home / case.folder
        self.kills, self.late, self.time, self.wrong = 0, 0, 0.0, Faults()
        self.reset()
        said = resumer.run(case.command, 120.0)
        assert said["status"] == 0, said
        self.whole = content(self.folder)
        assert self.whole

    def next_command(self):
        return self.case.resume if (self.folder / self.case.begun).exists() else self.case.command

    def measure(self):
        """Finds how long the command takes in a process that has just been started, with what it imports."""
        self.reset()
        with Worker(self.home) as worker:
            began = time.monotonic()
            assert worker.run(self.case.command, 120.0)["status"] == 0
            self.time = time.monotonic() - began
        self.reset()

    def reset(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def kill_once(self):
        """Starts the command, or goes on with it, and kills it at a random moment. Only one that is at work counts."""
        with Worker(self.home) as worker:
            worker.begin(self.next_command())
            at_work = worker.answer(self.chance.uniform(0, self.time)) == "hang"
            for process in (worker.process.pid, *children(worker.process.pid)):
                with contextlib.suppress(ProcessLookupError):  # some end with their parent
                    os.kill(process, signal.SIGKILL)
        self.kills, self.late = self.kills + at_work, self.late + (not at_work)
        self.time *= 1.03 if at_work else 0.9  # the machine may have become faster

    def judge(self):
        """Lets another process end it, and compares."""
        said = self.resumer.run(self.next_command(), 120.0)
        if said["status"] != 0:
            self.wrong.append((self.kills, said))
        elif other := differing(self.folder, self.whole):
            self.wrong.append((self.kills, "another result", other))
        self.reset()


def children(process):
    """The processes below a process, such as those of a Ray cluster that it started."""
    found = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *children(child)]
    return found


def kill_often(case, home, resumer, kills, seed):
    killing = Killing(case, home, resumer, seed)
    killing.measure()
    while killing.kills < kills and killing.late < 2 * kills:
        killing.kill_once()
        if killing.chance.random() < 0.6 or killing.kills == kills:
            killing.judge()
    return killing


def test_a_killed_training_goes_on_to_the_same_numbers(two_workers):
    """One kill, in the middle of training."""
    resumer, victim = two_workers
    killing = Killing(CASES["train"], resumer.home, resumer, seed=0)
    killing.reset()
    victim.begin(killing.next_command())
    while not (killing.folder / "config.json").exists():
        time.sleep(0.01)
    victim.close()
    killing.judge()
    assert_none(killing.wrong)


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="finds the children of a process through /proc")
@pytest.mark.slow
@pytest.mark.parametrize("kind", list(CASES))
def test_a_hundred_random_kills(kind, tmp_path):
    if kind == "ray":
        pytest.importorskip("ray")
    if kind == "data":
        small_data.write_rollouts(tmp_path / "rollouts", small_data.rollouts(count=60, samples=400))
    with Worker(tmp_path) as resumer:
        killing = kill_often(CASES[kind], tmp_path, resumer, CASES[kind].kills, seed=3)
    print(f"{kind}: {killing.kills} kills, and {killing.late} that came too late")
    assert_none(killing.wrong)
    assert killing.kills == CASES[kind].kills


@pytest.mark.slow
def test_a_data_set_that_is_being_replaced_is_never_lost(tmp_path):
    """Whatever the moment of the kill, the old data set or the new one is there."""
    small_data.write_rollouts(tmp_path / "old", small_data.rollouts(count=20))
    small_data.write_rollouts(tmp_path / "rollouts", small_data.rollouts(count=60, samples=400, seed=1))
    chance, old = random.Random(0), f"data add {DATA} old --replace"
    with Worker(tmp_path) as resumer:
        began = time.monotonic()
        assert resumer.run(CASES["data"].command)["status"] == 0
        lasts = time.monotonic() - began
        for _ in range(8):
            assert resumer.run(old)["status"] == 0
            with Worker(tmp_path) as worker:
                worker.run(f"data check {DATA}")  # what it imports
                worker.begin(CASES["data"].command)
                time.sleep(chance.uniform(0, lasts))
                worker.close()
            assert resumer.run(f"data check {DATA}")["status"] == 0
    assert not np.any([path.is_dir() for path in (tmp_path / "cache" / "gnode").glob(".*")])
