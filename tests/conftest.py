"""Every test runs with the shapes in the signatures checked."""

import os

# Several tests run at a time, each on a core of its own: numpy's own threads would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import jax
import pytest
from jaxtyping import install_import_hook

with install_import_hook("gnode", "shapes_only.check"):
    import gnode  # noqa: F401


@pytest.fixture
def x64():
    """float64 inside the test, as the analysis rooms use it."""
    with jax.enable_x64(True):
        yield
