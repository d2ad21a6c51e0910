"""Two processes started at once on one folder: one wins, the other says so, and the folder holds what the winner trained."""

import json
import random
import shutil
from pathlib import Path

import pytest
from fault_tools import SWEEP, TRAIN, Faults, Worker, assert_none, content, differing, is_one_sentence

from gnode.train import loop
from gnode.train.spec import RunSpec, read_one, train_spec

OTHER_SWEEP = SWEEP.replace("1e-3,1e-2", "2e-3,3e-2")
OTHER_TRAIN = TRAIN.replace("train flipflop-square", "train flipflop-square --lr 1e-2")
TRAIN_ON, SWEEP_ON = "train --resume", "sweep resume"
COLLISIONS = {
    "two trainings": ("", TRAIN, OTHER_TRAIN),
    "two sweeps": ("", SWEEP, OTHER_SWEEP),
    "two resumes of a sweep": ("prepared", SWEEP_ON, SWEEP_ON),
    "two resumes of a run": ("interrupted", TRAIN_ON, TRAIN_ON),
    "a sweep and a resume": ("", SWEEP, SWEEP_ON),
    "a training and a resume": ("", TRAIN, TRAIN_ON),
    "a prepared sweep and another one": ("prepared", OTHER_SWEEP, SWEEP_ON),
}


class Collisions:
    """Pairs of commands in two processes that have imported and compiled everything, let go by one file."""

    def __init__(self, workers, seed):
        self.workers, self.home, self.chance = workers, workers[0].home, random.Random(seed)
        self.whole, self.wrong = {}, Faults()
        self.both, self.count = 0, 0

    def warm_up(self, commands):
        """Trains each command alone, in both processes: what its folder must hold whoever else was there."""
        for command in commands:
            for name in ("alone", "beside"):
                shutil.rmtree(self.home / name, ignore_errors=True)
            for name, worker in zip(("alone", "beside"), self.workers):
                worker.begin(f"{command} --out {name}")
            said = [worker.answer(60.0) for worker in self.workers]
            assert all(one["status"] == 0 for one in said), said
            self.whole[command] = content(self.home / "alone"), settings_in(self.home / "alone")

    def one(self, kind):
        """Lets two commands go at once, and notes what is wrong afterwards."""
        state, *commands = COLLISIONS[kind]
        folder, go = self.home / "both", self.home / "go"
        shutil.rmtree(folder, ignore_errors=True)
        go.unlink(missing_ok=True)
        if state:
            shutil.copytree(self.home / state, folder)
        for worker, command in zip(self.workers, commands):
            late = self.chance.choice((0.0, 0.0, self.chance.uniform(0, 5e-3), self.chance.uniform(0, 0.2)))
            worker.begin(f"{command} both" if command in (TRAIN_ON, SWEEP_ON) else f"{command} --out both", go, late)
        go.touch()
        said = [worker.answer() for worker in self.workers]
        self.count, self.both = self.count + 1, self.both + all(one["status"] == 0 for one in said)
        won = [command for command, one in zip(commands, said) if one["status"] == 0]
        lost = [one for one in said if one["status"] != 0]
        trained = next((one for one in won if one in self.whole), SWEEP if SWEEP_ON in won else TRAIN)
        whole, settings = self.whole[trained]
        if not won or not all(is_one_sentence(one) for one in lost):
            self.wrong.append((kind, said))
        elif len({*won} - {TRAIN_ON, SWEEP_ON}) > 1:
            self.wrong.append((kind, "two commands with other settings both trained"))
        elif (other := differing(folder, whole)) or settings_in(folder) != settings:
            self.wrong.append((kind, "the folder is not what the winner trained", other, said))


def settings_in(folder):
    """What a folder says that it was trained with, in its own file and in those of its members."""
    found = {}
    for path in sorted([*folder.rglob("config.json"), *folder.rglob("sweep.json")]):
        stored = json.loads(path.read_text())
        found[str(path.relative_to(folder))] = stored.get("spec"), stored.get("axes"), stored.get("members")
    return found


def interrupted_run(folder, monkeypatch):
    """A run that Ctrl-C ended after three epochs, made in this process."""
    words = TRAIN.split()[2:]
    given = {name.removeprefix("--").replace("-", "_"): text for name, text in zip(words[::2], words[1::2])}
    spec = RunSpec.of("flipflop-square", {name: read_one(name, text) for name, text in given.items()})
    step = loop.next_epoch

    def three(problem, checkpoint):
        if checkpoint.epoch == 3:
            raise KeyboardInterrupt
        return step(problem, checkpoint)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "next_epoch", three)
        with pytest.raises(KeyboardInterrupt):
            train_spec(spec, folder)


def test_two_sweeps_at_once(two_workers):
    pairs = Collisions(two_workers, seed=0)
    pairs.warm_up([SWEEP, OTHER_SWEEP])
    pairs.one("two sweeps")
    assert_none(pairs.wrong)


@pytest.mark.slow
def test_fifty_pairs_of_processes_at_once(tmp_path, monkeypatch):
    with Worker(tmp_path) as first, Worker(tmp_path) as second:
        pairs = Collisions([first, second], seed=1)
        pairs.warm_up([TRAIN, OTHER_TRAIN, SWEEP, OTHER_SWEEP])
        interrupted_run(Path(tmp_path) / "interrupted", monkeypatch)
        assert first.run(f"{SWEEP} --prepare --out prepared")["status"] == 0
        kinds = list(COLLISIONS)
        for number in range(50):
            pairs.one(kinds[number % len(kinds)])
    print(f"{pairs.count} pairs, {pairs.both} times both ended well, one after the other")
    assert_none(pairs.wrong)
