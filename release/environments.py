"""Throw-away environments: what the scripts of this folder share.

An environment is made, commands run in it as a user would run them, and what they printed is kept in `release/tried`.
"""

import contextlib
import dataclasses
import datetime
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TRIED = ROOT / "release" / "tried"
KEPT_LINES = 3
OTHER_PLACES = re.compile(r"(?<![\w.~])(file://)?/(home|root|tmp|work|opt|Users)/[^\s'\"]*")
"""What looks like a path of a machine beyond the folders that have names here, such as that of a package index."""


class Failed(Exception):
    """A command of a try ended with another status than 0."""


@dataclasses.dataclass(frozen=True)
class Step:
    """A command that ran: its words as a user types them, its status, how long it took, and its last lines."""

    command: str
    status: int
    seconds: float
    said: list[str]


class Environment:
    """A fresh virtual environment in a folder of its own, beside an empty folder in which commands run.

    No variable of ours reaches a command: no PYTHONPATH, no options of jax or pytest.
    """

    def __init__(self, folder: Path, python: str):
        self.folder, self.steps = folder, list[Step]()
        self.work = folder / "work"
        self.work.mkdir()
        made = subprocess.run([python, "-m", "venv", str(folder / "venv")], stdout=subprocess.DEVNULL)
        if made.returncode:
            raise SystemExit(f"{python} made no environment; name a Python 3.11 or newer that runs, by its path.")
        self.programs = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")

    def run(self, *words: str, show: Sequence[str] = (), cwd: Path | None = None, limit: float = 3600) -> str:
        """Runs a program of the environment and returns what it printed.

        **Arguments:** `words`, the program and its arguments; `show`, the words that are recorded, if others; `cwd`, the
        folder in which it runs, by default the empty one; `limit`, in seconds.

        **Raises:** `Failed`, with the end of what it printed, for a status other than 0.
        """
        program = shutil.which(words[0], path=str(self.programs)) or words[0]
        begun = time.perf_counter()
        done = subprocess.run(
            [program, *words[1:]],
            cwd=cwd or self.work,
            env=self.variables(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=limit,
            errors="replace",
        )
        lines = [self.without_places(line) for line in done.stdout.splitlines() if line.strip()]
        command = " ".join(show or words)
        self.steps.append(Step(command, done.returncode, round(time.perf_counter() - begun, 1), lines[-KEPT_LINES:]))
        print(f"{self.steps[-1].seconds:8.1f} s  {command}", flush=True)
        if done.returncode:
            raise Failed(f"{command} ended with status {done.returncode}:\n{done.stdout[-4000:]}")
        return done.stdout

    def variables(self) -> dict[str, str]:
        """The variables of the commands: those of the system and of pip, but none that could lead to a source tree."""
        ours = ("PYTHON", "JAX", "XLA", "GNODE", "VIRTUAL_ENV", "PYTEST")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        return kept | {
            "PATH": f"{self.programs}{os.pathsep}{os.environ.get('PATH', '')}",
            "GNODE_COMPILATION_CACHE": str(self.folder / "compiled"),
            "COLUMNS": "200",
        }

    def without_places(self, line: str) -> str:
        """A line as it is kept: the places of this machine are nobody's business."""
        for place, name in ((self.folder, ""), (ROOT, ""), (Path.home(), "~/")):
            line = line.replace(f"{place.resolve()}{os.sep}", name).replace(f"{place}{os.sep}", name)
        return OTHER_PLACES.sub("a place of this machine", line).rstrip()

    def about(self) -> dict[str, Any]:
        """Versions, platform and devices, as the gnode of this environment tells them."""
        ask = "import json; from gnode.provenance import environment; print(json.dumps(environment()))"
        return dict(json.loads(self.run("python", "-c", ask).splitlines()[-1]))


@contextlib.contextmanager
def fresh(python: str) -> Iterator[Environment]:
    """Makes an environment, and removes it afterwards."""
    with tempfile.TemporaryDirectory(prefix="gnode-tried-") as folder:
        yield Environment(Path(folder), python)


def system() -> str:
    """The name of the operating system, as its makers write it."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            return platform.freedesktop_os_release()["PRETTY_NAME"]
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]}"
    return f"{platform.system()} {platform.release()}"


def record(
    what: str, environment: Environment, folder: Path, failure: str | None, about: dict[str, Any] | None, **more: Any
) -> Path:
    """Keeps a try, also one that failed, as `WHAT-SYSTEM-PYTHON.json`.

    **Arguments:** `about`, what `environment.about()` returned; `more`, further entries.
    """
    python = environment.run("python", "-c", "import platform; print(platform.python_version())").strip()
    kept = [step for step in environment.steps if not step.command.startswith("python -c")]
    content = {
        "what": what,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "system": system(),
        "machine": platform.machine(),
        "python": python,
        "environment": about,
        **more,
        "failure": None if failure is None else environment.without_places(failure),
        "steps": [dataclasses.asdict(step) for step in kept],
    }
    name = f"{what}-{slug(system())}-python{'.'.join(python.split('.')[:2])}.json"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(content, indent=2) + "\n")
    print(folder / name)
    return folder / name


def slug(name: str) -> str:
    """A name in small letters, digits and dashes: `Debian GNU/Linux 12 (bookworm)` is debian-gnu-linux-12."""
    words = "".join(c if c.isalnum() or c == "." else " " for c in name.split("(")[0].lower()).split()
    return "-".join(words)
