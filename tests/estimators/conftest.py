"""The tests of `gnode.sklearn` need scikit-learn.

The folder is not called sklearn: as a folder beside the tests it would pass for the package.
"""

import pytest
from required import needs_packages


@pytest.fixture(scope="session", autouse=True)
def scikit_learn():
    needs_packages("sklearn")
