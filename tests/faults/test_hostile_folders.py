"""Folders from elsewhere that are made to do harm: nothing outside is touched, nothing is run, nothing hangs."""

import os
import shutil
from pathlib import Path

import pytest
import small_data
from fault_tools import HANG, SWEEP, TRAIN, Faults, Worker, assert_none, digest, is_one_sentence
from hostile import (
    ARRAYS,
    IN_PLACE_OF_A_FILE,
    JSON,
    NAMES,
    make_outside,
    put_link_of_its_own_kind,
    put_link_to_a_folder,
)

ANALYSE = "analyse {} --starts 20"
SLOW = 120.0
"""Seconds that a report may take: its programs are compiled once in each process."""
RUN_COMMANDS = ("train --resume {}", f"{TRAIN} --out {{}}")
READ_BY_A_REPORT = ("config.json", "weights.npz", "metrics.csv", "result.json", "analysis")
SWEEP_COMMANDS = (
    "sweep status {}",
    "sweep resume {}",
    "sweep resume {} --part 1/2",
    f"{SWEEP} --out {{}}",
    f"{ANALYSE.format('{}/members')}",
)
DATA_COMMANDS = (
    "data list",
    "data check walker2d",
    "data add walker2d rollouts",
    "data add walker2d rollouts --replace",
)


class Received:
    """Folders of every kind, copied and spoilt one thing at a time; and what commands on them did."""

    def __init__(self, worker):
        self.worker, self.home = worker, worker.home
        self.count, self.wrong = 0, Faults()

    def make(self, *kinds):
        """Makes the folders that are spoilt later: finished ones, and those of commands that Ctrl-C ended."""
        made = {
            "run": f"{TRAIN} --out run",
            "sweep": f"{SWEEP} --out sweep",
            "prepared": f"{SWEEP} --prepare --out prepared",
            "report": "analyse run --starts 20",
            "data": "data add walker2d rollouts",
        }
        small_data.write_rollouts(self.home / "rollouts", small_data.rollouts(count=20))
        for kind in kinds:
            said = self.worker.run(made[kind], 120.0)
            assert said["status"] == 0, said
        if "run" in kinds:
            shutil.copytree(self.home / "run", self.home / "unfinished-run")
            (self.home / "unfinished-run" / "result.json").unlink()
        if "sweep" in kinds:
            shutil.copytree(self.home / "sweep", self.home / "unfinished-sweep")
            shutil.rmtree(self.home / "unfinished-sweep" / "members" / "0001")
            (self.home / "unfinished-sweep" / "unfinished").mkdir()
            (self.home / "unfinished-sweep" / "unfinished" / "0001.npz").write_bytes(b"PK")

    def spoil(self, kind, place, what, put, commands):
        """Spoils one place of a copy, and runs every command on a copy of its own."""
        for command in commands:
            outside, folder = self.home / "outside", self.home / "received"
            for old in (outside, folder):
                shutil.rmtree(old, ignore_errors=True)
            shutil.copytree(self.home / kind, folder, symlinks=True)
            outside.mkdir()
            put(folder / place, make_outside(outside))
            self.check(command.format("received"), outside, (kind, place, what, command[:40]))

    def check(self, command, outside, what):
        """Runs a command, and notes it if it fails without a sentence, hangs, or changes anything outside."""
        self.count += 1
        before = digest(outside)
        said = self.worker.run(command, SLOW if "analyse" in command else HANG)
        if said == "hang" or said is None:
            self.wrong.append((*what, said or "died"))
            self.worker.close()
            self.worker = Worker(self.home)
        elif said["status"] != 0 and not is_one_sentence(said):
            self.wrong.append((*what, said["status"], said["err"][-600:]))
        if digest(outside) != before:
            changed = [name for name in {*digest(outside), *before} if digest(outside).get(name) != before.get(name)]
            self.wrong.append((*what, "outside was touched", changed))
        return said


def files_of(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


@pytest.fixture
def received(tmp_path):
    made = Received(Worker(tmp_path))
    yield made
    made.worker.close()


def done(received, at_least):
    print(f"{received.count} commands on spoilt folders, {len(received.wrong)} of them wrong")
    assert_none(received.wrong)
    assert received.count >= at_least


def test_a_few_spoilt_places(two_workers):
    received = Received(two_workers[0])
    received.make("run")
    link, pipe = IN_PLACE_OF_A_FILE["a link"], IN_PLACE_OF_A_FILE["a pipe"]
    for place in (".lock", "losses.png", "checkpoint.npz"):
        received.spoil("unfinished-run", place, "a link", link, RUN_COMMANDS[:1])
    received.spoil("unfinished-run", ".lock", "a pipe", pipe, RUN_COMMANDS[:1])
    received.spoil("unfinished-run", "weights.npz", "a pickle", ARRAYS["a pickle"], RUN_COMMANDS[:1])
    received.spoil("unfinished-run", "config.json", "deep", JSON["deep"], RUN_COMMANDS[:1])
    two_workers[0] = received.worker
    done(received, 6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["run", "unfinished-run"])
def test_a_spoilt_run(kind, received):
    received.make("run")
    places = sorted({*files_of(received.home / kind), ".lock", "analysis", "checkpoint.npz.before"})
    for place in places:
        commands = (*RUN_COMMANDS, ANALYSE) if place in READ_BY_A_REPORT else RUN_COMMANDS
        for what, put in IN_PLACE_OF_A_FILE.items():
            received.spoil(kind, place, what, put, commands)
        received.spoil(kind, place, "a link to a folder", put_link_to_a_folder, commands)
        if (received.home / kind / place).is_file():
            received.spoil(kind, place, "a good link", put_link_of_its_own_kind, commands)
    spoil_contents(received, kind, ["train --resume {}", ANALYSE])
    done(received, 100)


def spoil_contents(received, kind, commands):
    """Puts harmful files in place of those of a member or a run, each by its kind."""
    for place in files_of(received.home / kind):
        if "members/" in place and "members/0000" not in place:
            continue
        for what, put in {".npz": ARRAYS, ".json": JSON}.get(Path(place).suffix, {}).items():
            received.spoil(kind, place, what, put, commands)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sweep", "unfinished-sweep"])
def test_a_spoilt_sweep(kind, received):
    received.make("sweep")
    inside = [name for name in files_of(received.home / kind) if "members/" not in name or "members/0000" in name]
    places = sorted({*inside, ".lock", ".lock-1", "members", "members/0000", "unfinished", "results.md", "strip.png"})
    folders = ("members", "members/0000", "unfinished")
    for place in places:
        for what, put in IN_PLACE_OF_A_FILE.items():
            received.spoil(kind, place, what, put, SWEEP_COMMANDS[1:2] if what == "a folder" else SWEEP_COMMANDS[:3])
        if place in folders:
            received.spoil(kind, place, "a link to a folder", put_link_to_a_folder, SWEEP_COMMANDS)
    spoil_contents(received, kind, SWEEP_COMMANDS[:2])
    done(received, 100)


@pytest.mark.slow
def test_a_spoilt_report(received):
    received.make("run", "report")
    for place in files_of(received.home / "run" / "analysis"):
        for what, put in IN_PLACE_OF_A_FILE.items():
            received.spoil("run", f"analysis/{place}", what, put, [ANALYSE])
    done(received, 12)


@pytest.mark.slow
def test_a_spoilt_data_set(received):
    received.make("data")
    cache = received.home / "cache" / "gnode"
    good = received.home / "good-cache"
    shutil.copytree(cache, good)
    places = sorted({*files_of(cache), "walker2d"})

    def spoil(place, what, put, command):
        outside = received.home / "outside"
        for old in (outside, cache):
            shutil.rmtree(old, ignore_errors=True)
        shutil.copytree(good, cache)
        outside.mkdir()
        put(cache / place, make_outside(outside))
        received.check(command, outside, ("data", place, what, command))

    for command in DATA_COMMANDS:
        for place in places:
            for what, put in IN_PLACE_OF_A_FILE.items():
                spoil(place, what, put, command)
            for what, put in {".npz": ARRAYS, ".json": JSON}.get(Path(place).suffix, {}).items():
                spoil(place, what, put, command)
        spoil("walker2d", "a link to a folder", put_link_to_a_folder, command)
    done(received, 40)


@pytest.mark.slow
def test_folders_with_odd_names(received):
    """Each is trained, looked at and resumed as any other, or refused in a sentence, and none of it steers a terminal."""
    outside = make_outside(received.home / "outside")
    for name in NAMES:
        for words in (TRAIN, "train --resume", ANALYSE, SWEEP, "sweep status", "sweep resume"):
            target = f"./{name}-sweep" if "sweep" in words else f"./{name}"
            listed = [part if part != "{}" else target for part in words.split()]
            command = [*listed, "--out", target] if words in (TRAIN, SWEEP) else listed
            command += [target] if words not in (TRAIN, SWEEP, ANALYSE) else []
            said = received.check(command, outside, (repr(name), words[:20]))
            if any(sign in said["out"] + said["err"] for sign in "\x1b\x07\x7f\u202e"):
                received.wrong.append((repr(name), words[:20], "control characters were printed"))
    done(received, 40)
    assert sorted(os.listdir(outside)) == ["file", "folder"]
