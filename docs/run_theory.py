"""Runs the commands of `docs/results/theory.md` and stores what they print in `docs/results/theory.json`.

    python docs/run_theory.py                  # all of them
    python docs/run_theory.py capacity         # those whose line holds the word; the others keep what they printed

Then `make docs` makes the page. Their figures are written beside it, as `docs/results/theory-NAME.png`.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pages import RESULTS
from pages.theory import COMMANDS, STORED, picture

from gnode.provenance import environment


def run(command: str) -> dict[str, Any]:
    """Runs a command in a folder of its own, and returns what it printed and where it ran."""
    plain = os.environ | {"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as folder:
        gnode = [sys.executable, "-m", "gnode", "theory", *command.split()]
        done = subprocess.run(gnode, cwd=folder, env=plain, stdout=subprocess.PIPE, text=True, check=True)
        name = picture(command)
        if name is not None:
            shutil.copyfile(Path(folder) / f"{name}.png", RESULTS / f"theory-{name}.png")
    printed = [line.rstrip() for line in done.stdout.splitlines() if not line.startswith("Figure: ")]
    return {"printed": printed, "environment": environment()}


def main() -> None:
    """Runs the commands that are asked for, and stores each as soon as it has ended."""
    for command in COMMANDS:
        if all(word in command for word in sys.argv[1:]):
            begun = time.monotonic()
            store(command, run(command))
            print(f"{time.monotonic() - begun:.0f} s: gnode theory {command}", flush=True)


def store(command: str, found: dict[str, Any]) -> None:
    """Puts what a command printed in the place of what it printed before."""
    stored = json.loads(STORED.read_text()) | {command: found}
    in_order = {name: stored[name] for name in COMMANDS if name in stored}
    STORED.write_text(json.dumps(in_order, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
