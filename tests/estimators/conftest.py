"""The tests of `gnode.sklearn` are skipped where scikit-learn is missing; where GNODE_TEST_EXTRAS is 1 they fail instead.

The folder is not called sklearn: as a folder beside the tests it would pass for the package.
"""

import importlib.util
import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def scikit_learn():
    if importlib.util.find_spec("sklearn") is None:
        sentence = "scikit-learn is not installed; run 'make test-extras'."
        if os.environ.get("GNODE_TEST_EXTRAS") == "1":
            pytest.fail(f"GNODE_TEST_EXTRAS is 1, but {sentence}", pytrace=False)
        pytest.skip(sentence)
