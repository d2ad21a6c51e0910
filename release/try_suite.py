"""Runs the quick tests in a fresh environment, and keeps what came of it in `release/tried`.

    python release/try_suite.py                          # the newest versions of everything
    python release/try_suite.py --lowest                 # the lowest that pyproject.toml allows
    python release/try_suite.py --python python3.13

The tests are those of `make test-fast`. They run in the source tree, with the packages of the environment. Takes some
minutes; the exit status is 1 if a test failed.
"""

import argparse
import json
import sys

from environments import ROOT, TRIED, Environment, Failed, fresh, record
from lowest import PYPROJECT, constraints, lowest

RECORDED = "tests/test_release.py::test_the_lowest_versions_were_tried_as_they_are_asked_for_now"
"""The test that reads the record which this script is about to write."""


def install(environment: Environment, is_lowest: bool) -> None:
    """Installs the source tree with the tools of its tests."""
    limits = environment.folder / "lowest.txt"
    limits.write_text(constraints(PYPROJECT.read_text(encoding="utf-8")) if is_lowest else "")
    given = ["--constraint", str(limits)] if is_lowest else []
    shown = ["--constraint", limits.name] if is_lowest else []
    words = ["pip", "install", *shown, "-e", ".[test]"]
    environment.run("python", "-m", "pip", "install", *given, "-e", f"{ROOT}[test]", show=words)
    environment.run("python", "-m", "pip", "check", show=["pip", "check"])


def run_tests(environment: Environment, more: list[str]) -> str:
    """Runs the quick tests and returns the line that counts them."""
    words = [
        "python",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow",
        "--fast",
        "--deselect",
        RECORDED,
        *more,
    ]
    said = environment.run(*words, cwd=ROOT, show=["pytest", "-m", "'not slow'", "--fast", *more])
    return said.splitlines()[-1].strip(" =")


def versions(environment: Environment) -> dict[str, str]:
    """The versions of the dependencies in the environment."""
    names = list(lowest(PYPROJECT.read_text(encoding="utf-8")))
    ask = f"import json, importlib.metadata as m; print(json.dumps({{name: m.version(name) for name in {names}}}))"
    return dict(json.loads(environment.run("python", "-c", ask)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lowest", action="store_true", help="the lowest versions of the dependencies")
    parser.add_argument("--python", default=sys.executable, help="the Python of the environment; by default this one")
    parser.add_argument("tests", nargs="*", help="more words for pytest, as files of tests")
    options = parser.parse_args()
    failure, about, counted, found = None, None, None, None
    with fresh(options.python) as environment:
        try:
            install(environment, options.lowest)
            found, about = versions(environment), environment.about()
            counted = run_tests(environment, options.tests)
        except Failed as failed:
            failure = str(failed)
            print(failure)
        record(
            "lowest" if options.lowest else "suite", environment, TRIED, failure, about, versions=found, tests=counted
        )
    return int(failure is not None)


if __name__ == "__main__":
    sys.exit(main())
