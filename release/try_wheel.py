"""Tries a wheel by itself: installs it in a fresh environment, and does there what a new user does.

    python release/try_wheel.py dist                          # the wheel in this folder, this Python
    python release/try_wheel.py dist --python python3.13      # another one

No source is near: commands run in an empty folder, and the package has to be the installed one. Takes two to three minutes,
most of it for the demo. Keeps what was printed in `release/tried`, also of a try that failed; then the exit status is 1.
"""

import argparse
import sys
from pathlib import Path

from environments import TRIED, Environment, Failed, fresh, record

IS_INSTALLED = """
import importlib.util, pathlib, sys
package = pathlib.Path(importlib.util.find_spec("gnode").origin).parent
assert package.is_relative_to(sys.prefix), f"{package} is not in {sys.prefix}"
assert (package / "py.typed").is_file(), "py.typed is missing"
"""
SMALLEST_PAGE = 150_000
"""Bytes of a page of the explorer: less cannot hold its script."""


def try_wheel(environment: Environment, wheel: Path) -> None:
    """Runs the steps. **Raises:** `Failed` with the first that fails."""
    environment.run("python", "-m", "pip", "install", str(wheel), show=["pip", "install", wheel.name])
    environment.run("python", "-m", "pip", "check", show=["pip", "check"])
    environment.run("python", "-c", IS_INSTALLED)
    environment.run("gnode", "--version")
    environment.run("gnode", "info")
    environment.run("gnode", "explore", "square", "--out", "square.html")
    environment.run("gnode", "demo", "--no-progress", "--out", "demo")
    environment.run("gnode", "explore", "demo", "--out", "demo.html")
    for page in ("square.html", "demo.html"):
        text = (environment.work / page).read_text(encoding="utf-8")
        if len(text) < SMALLEST_PAGE or not text.rstrip().endswith("</html>"):
            raise Failed(f"{page} is no page: {len(text)} characters")


def only_wheel(place: Path) -> Path:
    """The wheel, or the only one in a folder."""
    found = [place] if place.suffix == ".whl" else sorted(place.glob("*.whl"))
    if len(found) != 1:
        raise SystemExit(f"{place} has {len(found)} wheels; name one.")
    return found[0].resolve()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="the wheel, or the folder that it is in")
    parser.add_argument("--python", default=sys.executable, help="the Python of the environment; by default this one")
    parser.add_argument("--out", type=Path, default=TRIED, help="the folder of the record")
    options = parser.parse_args()
    wheel, failure, about = only_wheel(options.wheel), None, None
    with fresh(options.python) as environment:
        try:
            try_wheel(environment, wheel)
            about = environment.about()
        except Failed as failed:
            failure = str(failed)
            print(failure)
        record("wheel", environment, options.out, failure, about)
    return int(failure is not None)


if __name__ == "__main__":
    sys.exit(main())
