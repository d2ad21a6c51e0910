"""What continuous integration insists on, and other machines may lack."""

import os
from typing import NoReturn

import pytest


def missing(sentence: str) -> NoReturn:
    """Skips the test with a sentence; where GNODE_TEST_BROWSER is 1 the test fails instead."""
    if os.environ.get("GNODE_TEST_BROWSER") == "1":
        pytest.fail(f"GNODE_TEST_BROWSER is 1, but {sentence}", pytrace=False)
    pytest.skip(sentence)
