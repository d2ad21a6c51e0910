"""What continuous integration insists on, and other machines may lack: a test that needs it is skipped there, or fails."""

import importlib.util
import os
from typing import NoReturn

import pytest


def missing(sentence: str, insists: str) -> NoReturn:
    """Skips the test with a sentence; where the variable of the environment `insists` is 1 the test fails instead."""
    if os.environ.get(insists) == "1":
        pytest.fail(f"{insists} is 1, but {sentence}", pytrace=False)
    pytest.skip(sentence)


def absent(packages) -> list[str]:
    """Those of the packages, by their names of import, that are not installed."""
    return [name for name in dict.fromkeys(packages) if importlib.util.find_spec(name) is None]


def needs_packages(*packages: str) -> None:
    """Skips the test where a package is missing; where GNODE_TEST_EXTRAS is 1, as in `make test-extras`, it fails."""
    if found := absent(packages):
        missing(f"not installed: {', '.join(found)}; run 'make test-extras'.", "GNODE_TEST_EXTRAS")
