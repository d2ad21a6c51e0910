"""Prints the file of slow tests whose turn it is: `make test-slow-turn` runs it. The turn follows the number of commits."""

import subprocess
from pathlib import Path

TESTS = Path(__file__).parent


def slow_files():
    """The files that have slow tests, in order."""
    return [path for path in sorted(TESTS.rglob("test_*.py")) if "pytest.mark.slow" in path.read_text()]


def files_in_turn():
    """Those of them that have a turn: thousands of cases and kills are left to `make test-slow`."""
    return [path for path in slow_files() if not {"faults", "fuzz"} & set(path.parts)]


def turn():
    """How many commits there are; 0 outside a git checkout."""
    command = ["git", "-C", str(TESTS), "rev-list", "--count", "HEAD"]
    counted = subprocess.run(command, capture_output=True, text=True)
    return int(counted.stdout) if counted.returncode == 0 else 0


if __name__ == "__main__":
    found = files_in_turn()
    print(found[turn() % len(found)])
