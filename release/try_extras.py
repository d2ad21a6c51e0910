"""Resolves a wheel with each of its extras, and keeps the outcome in `release/tried`.

    python release/try_extras.py dist

pip decides which versions go together (`pip install --dry-run`); nothing is installed. The exit status is 1 if an extra
cannot be resolved.
"""

import argparse
import email.parser
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

from environments import TRIED, Environment, Failed, fresh, record
from try_wheel import only_wheel


def extras_of(wheel: Path) -> list[str]:
    """Returns the extras that the metadata of a wheel declare."""
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(".dist-info/METADATA")]
        text = opened.read(name).decode("utf-8")
    return sorted(email.parser.Parser().parsestr(text).get_all("Provides-Extra", []))


def resolved(environment: Environment, wheel: Path, extra: str) -> dict[str, Any]:
    """Returns how many packages an extra installs, or why it cannot be resolved."""
    report = environment.folder / f"{extra}.json"
    wanted = f"gnode[{extra}] @ {wheel.as_uri()}"
    words = ["python", "-m", "pip", "install", "--dry-run", "--quiet", "--report", str(report), wanted]
    try:
        environment.run(*words, show=["pip", "install", "--dry-run", f"gnode[{extra}]"])
    except Failed as failed:
        return {"packages": None, "failure": environment.without_places(str(failed))}
    return {"packages": len(json.loads(report.read_text())["install"]), "failure": None}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="the wheel, or the folder that it is in")
    parser.add_argument("--python", default=sys.executable, help="the Python of the environment; by default this one")
    parser.add_argument("extras", nargs="*", help="these alone; by default all")
    options = parser.parse_args()
    wheel = only_wheel(options.wheel)
    with fresh(options.python) as environment:
        environment.run(
            "python", "-m", "pip", "install", "--upgrade", "pip", show=["pip", "install", "--upgrade", "pip"]
        )
        found = {extra: resolved(environment, wheel, extra) for extra in options.extras or extras_of(wheel)}
        failed = [extra for extra, outcome in found.items() if outcome["failure"]]
        failure = f"not resolved: {', '.join(failed)}" if failed else None
        if not options.extras:
            record("extras", environment, TRIED, failure, None, extras=found)
    print(*(f"{extra}: {outcome['packages'] or outcome['failure']}" for extra, outcome in found.items()), sep="\n")
    return int(failure is not None)


if __name__ == "__main__":
    sys.exit(main())
