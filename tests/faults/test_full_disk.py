"""A disk that fills up at every stage: one sentence, and the same numbers once there is room.

Where the tests may mount, the disk is a small one in memory, a page larger from case to case, or with one more file allowed;
elsewhere, and in the quick test, no file may grow beyond a limit.
"""

import dataclasses
import resource
import shutil
import subprocess

import pytest
import small_data
from fault_tools import SWEEP, TRAIN, Faults, Worker, assert_none, content, differing, is_one_sentence

PAGE = 4096
SIZES = (0, 200, 600, 1200, 2500, 5000, 10_000, 20_000)


@dataclasses.dataclass(frozen=True)
class Case:
    """A command that writes to `disk`, how to go on with it once `begun` is there, and what sizes of disk it gets."""

    command: str
    resume: str = ""
    begun: str = "nothing"
    pages: range = range(0)
    files: range = range(0)
    folder: str = "disk/out"


TRAINING = Case(f"{TRAIN} --out disk/out", "train --resume disk/out", "config.json", range(1, 30), range(1, 14))
CASES = {
    "train": TRAINING,
    "threads": Case(
        f"{SWEEP} --engine threads --out disk/out",
        "sweep resume disk/out",
        "sweep.json",
        range(1, 80, 3),
        range(1, 30, 3),
    ),
    "one_program": Case(
        f"{SWEEP} --engine one_program --out disk/out",
        "sweep resume disk/out --engine one_program",
        "sweep.json",
        range(1, 80, 9),
    ),
    "reproduce": Case("reproduce run annulus-generalisation --out disk/out", pages=range(1, 80, 10)),
    "data": Case("data add walker2d rollouts", pages=range(1, 60, 8), files=range(1, 8), folder="cache/gnode"),
    "report": Case("analyse run --starts 50 --out disk/out", pages=range(1, 160, 16), files=range(1, 12, 2)),
}


def is_allowed_to_mount(folder):
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True)
    if done.returncode == 0:
        subprocess.run(["umount", str(folder)], check=True)
    return done.returncode == 0


class SmallDisk:
    """A file system in memory with so many pages, or so many files and folders."""

    def __init__(self, folder, option):
        self.folder, self.option = folder, option

    def __enter__(self):
        self.folder.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", self.option, "tmpfs", str(self.folder)], check=True)
        return self

    def make_room(self):
        subprocess.run(["mount", "-o", "remount,size=64m,nr_inodes=10k", str(self.folder)], check=True)

    def __exit__(self, *problem):
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)


class SmallFiles:
    """A limit on the size of a process's files."""

    def __init__(self, worker, size):
        self.process, self.size = worker.process.pid, size

    def __enter__(self):
        self.before = resource.prlimit(self.process, resource.RLIMIT_FSIZE)
        resource.prlimit(self.process, resource.RLIMIT_FSIZE, (self.size, self.before[1]))
        return self

    def make_room(self):
        resource.prlimit(self.process, resource.RLIMIT_FSIZE, self.before)

    def __exit__(self, *problem):
        self.make_room()


class Filling:
    """A case against disks of several sizes."""

    def __init__(self, case, worker):
        self.case, self.worker, self.home = case, worker, worker.home
        self.folder = self.home / case.folder
        shutil.rmtree(self.folder, ignore_errors=True)
        said = worker.run(case.command, 120.0)
        assert said["status"] == 0, said
        self.whole = content(self.folder)
        shutil.rmtree(self.folder)
        self.failed, self.wrong = 0, Faults()

    def on(self, disk, what):
        """Runs the command on a small disk, makes room, goes on, and compares."""
        with disk:
            said = self.worker.run(self.case.command, 120.0)
            if said["status"] != 0:
                self.failed += 1
                if not is_one_sentence(said):
                    self.wrong.append((what, "not one sentence", said))
                disk.make_room()
                begun = (self.folder / self.case.begun).exists()
                again = self.worker.run(self.case.resume if begun else self.case.command, 120.0)
                if again["status"] != 0:
                    self.wrong.append((what, said["err"], "not resumed", again))
                    shutil.rmtree(self.folder, ignore_errors=True)
                    return
            if other := differing(self.folder, self.whole):
                self.wrong.append((what, said["err"], "another result", other))
            shutil.rmtree(self.folder, ignore_errors=True)


def test_files_that_cannot_grow_a_few(two_workers):
    worker = two_workers[0]
    filling = Filling(dataclasses.replace(TRAINING, command=f"{TRAIN} --out disk/out"), worker)
    for size in (300, 2500):
        filling.on(SmallFiles(worker, size), size)
    assert filling.failed == 2
    assert_none(filling.wrong)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(CASES))
def test_a_disk_that_is_full_at_every_stage(kind, tmp_path):
    case = CASES[kind]
    if kind == "data":
        small_data.write_rollouts(tmp_path / "rollouts", small_data.rollouts(count=20))
    with Worker(tmp_path) as worker:
        if kind == "report":
            assert worker.run(f"{TRAIN} --out run")["status"] == 0
        filling = Filling(case, worker)
        for size in SIZES:
            filling.on(SmallFiles(worker, size), f"files of {size} bytes")
        disk = tmp_path / case.folder.split("/")[0]
        if is_allowed_to_mount(disk):
            for pages in case.pages:
                filling.on(SmallDisk(disk, f"size={pages * PAGE}"), f"{pages} pages")
            for files in case.files:
                filling.on(SmallDisk(disk, f"size=64m,nr_inodes={files}"), f"{files} files")
    print(f"{kind}: {filling.failed} times the disk was full")
    assert filling.failed >= len(SIZES) // 2
    assert_none(filling.wrong)
