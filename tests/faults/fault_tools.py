"""What the tests of faults share: small commands, processes to run them in, and what must be equal afterwards."""

import hashlib
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

HANG = 20.0
"""Seconds after which a command that should have ended hangs."""

TINY = "--trials 8 --bins 6 --widths 4 --batch-size 4 --state 2"
TRAIN = f"train flipflop-square {TINY} --epochs 40"
SWEEP = f"sweep run flipflop-square --lr 1e-3,1e-2 --seed 0,1 {TINY} --epochs 20"
"""A run and a sweep that take a moment once they are compiled."""


NOT_COMPARED = ("checkpoint.npz", "previous.npz")
"""They hold the seconds that training took."""


class Worker:
    """A process that runs commands (`command_worker.py`)."""

    def __init__(self, home):
        self.home = home
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("command_worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=home,
            env=os.environ | {"COLUMNS": "500", "XDG_CACHE_HOME": str(home / "cache")},
        )
        self._left = b""

    def begin(self, words, go=None, late=0.0):
        """Sends a command and returns when it begins, or waits for the file `go`, and begins `late` seconds after it."""
        job = {"words": words.split() if isinstance(words, str) else words, "go": go and str(go), "late": late}
        self.process.stdin.write((json.dumps(job) + "\n").encode())
        self.process.stdin.flush()
        line = self._line(60.0)
        assert line == "begins", line

    def answer(self, seconds=HANG):
        """How the command ended: its status and what it printed. None if the process died; "hang" after `seconds`."""
        line = self._line(seconds)
        return json.loads(line) if line not in ("", "hang") else line or None

    def run(self, words, seconds=60.0):
        """Runs a command to its end."""
        self.begin(words)
        return self.answer(seconds)

    def _line(self, seconds):
        deadline = time.monotonic() + seconds
        while b"\n" not in self._left:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return "hang"
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                return ""
            self._left += more
        line, _, self._left = self._left.partition(b"\n")
        return line.decode()

    def signal(self, number):
        """Sends a signal to the process, if there is one."""
        if self.process.poll() is None:
            self.process.send_signal(number)

    def close(self):
        """Kills the process."""
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.close()


def content(folder):
    """What must be equal of a run or a sweep however often it was broken off: weights, metrics, results, tables."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        if path.suffix == ".npz" and path.name not in NOT_COMPARED:
            with np.load(path) as arrays:
                found[name] = {key: arrays[key].tobytes() for key in arrays.files}
        elif path.name in ("metrics.csv", "results.csv", "results.md"):
            found[name] = path.read_text()
        elif path.name == "result.json":
            result = json.loads(path.read_text())
            found[name] = {key: value for key, value in result.items() if key != "seconds"}
        elif path.suffix == ".json" and "checks" in (result := json.loads(path.read_text())):  # of reproduce
            found[name] = {key: value for key, value in result.items() if key != "run"}
    return found


def differing(folder, whole):
    """The files whose content is not that of an unbroken run, and temporary files that were left."""
    found = content(folder)
    names = [name for name in sorted({*found, *whole}) if found.get(name) != whole.get(name)]
    return [*names, *map(str, leftovers(folder))]


def leftovers(folder):
    """Temporary files that should be gone when a run or sweep is over."""
    return [path for path in Path(folder).rglob("*") if path.name.endswith(".tmp")]


def digest(folder):
    """Every file, folder and link below a folder: name, kind, owner's bits, content."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        kind = "link" if path.is_symlink() else "file" if path.is_file() else "folder" if path.is_dir() else "other"
        what = os.readlink(path) if kind == "link" else ""
        if kind == "file":
            what = hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path.relative_to(folder))] = kind, path.lstat().st_mode, what
    return found


def is_one_sentence(said):
    """Whether a command that failed said one line, on stderr, with exit status 2. Warnings may come before it."""
    lines = [line for line in said["err"].strip().splitlines() if not line.startswith("gnode: warning: ")]
    return said["status"] == 2 and len(lines) == 1 and lines[0].startswith("gnode: ")


class Faults(list):
    """What went wrong, printed whole as it comes: a long test says it before its end."""

    def append(self, one):
        print("wrong:", *one, flush=True)
        super().append(one)


def assert_none(wrong):
    """Fails if anything went wrong."""
    assert not wrong, f"{len(wrong)} went wrong; they are printed above"
