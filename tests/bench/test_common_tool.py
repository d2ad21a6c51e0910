"""The fixed points that another tool found in networks that it trained, from `tests/fixtures/make_common_tool.py`."""

import importlib.util
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from gnode.analysis import fixed_points

ROOT = Path(__file__).parent.parent.parent
SAME_POINT = 1e-3


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("common_tool", ROOT / "benchmarks" / "common_tool.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", ["tanh", "gru"])
def test_every_point_at_which_the_tool_converged_is_found(kind, script):
    stored = script.stored_for(kind)
    found = fixed_points(script.cell_of(kind, stored), stored["starts"], dt=1.0, midpoints=True)
    theirs = stored["points"][stored["q"] < stored["tolerance"]].astype(float)
    assert len(theirs) == {"tanh": 27, "gru": 26}[kind]
    distance = np.linalg.norm(theirs[:, None] - found.points, axis=-1)
    assert np.all(distance.min(axis=1) < SAME_POINT)
    assert len(found) == 27  # 3 to the number of bits; the tool has one less of the GRU's
    assert np.max(found.residual) < 1e-9
    of_theirs = found.kind[distance.argmin(axis=1)] == "stable"
    np.testing.assert_array_equal(of_theirs, stored["is_stable"][stored["q"] < stored["tolerance"]])


def test_the_maps_of_the_cells_are_pytorchs(script):
    """The tool's points hardly move: its q is half the square of one step of PyTorch's network."""
    for kind in ("tanh", "gru"):
        stored = script.stored_for(kind)
        cell = script.cell_of(kind, stored)
        far = np.argsort(stored["q"])[-1]
        for index in (0, far):
            moved = np.asarray(cell.vector_field(jnp.asarray(stored["points"][index]), jnp.zeros(3)))
            assert np.sum(moved**2) / 2 == pytest.approx(stored["q"][index], rel=1e-3, abs=1e-12)
