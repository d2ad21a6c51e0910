"""A trained network: the paper's vanilla RNN on the fixed-amplitude 3-bit task has eight stable points, and all are found.

The network was trained and stored by

    gnode train flipflop-fixed --model rnn --state 18 --lr 1e-2 --weight-decay 1e-1 --batch-size 100 --epochs 200 \
        --out tests/fixtures/fixed-3bit-rnn
"""

from pathlib import Path

import numpy as np
import pytest

from gnode import analysis, load

FOLDER = Path(__file__).parent.parent / "fixtures" / "fixed-3bit-rnn"
CORNERS = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], float)


@pytest.fixture(scope="module")
def run():
    return load(FOLDER)


def corners_of(outputs):
    """The nearest corner of the cube for each output, and how far away it is."""
    distance = np.linalg.norm(np.asarray(outputs)[:, None] - CORNERS, axis=-1)
    return distance.argmin(axis=1), distance.min(axis=1)


def test_the_stored_network_does_its_task(run):
    assert run.evaluate()["loss"] == pytest.approx(run.best_loss, rel=1e-4)
    assert run.best_loss < 0.01


def test_eight_stable_points_none_missed(run):
    found = analysis.fixed_points(run.net, run.states, dt=run.dt)
    stable = found.select(status="equilibrium", kind="stable")
    assert len(stable.points) == 8
    corner, distance = corners_of(stable.outputs)
    assert sorted(corner) == list(range(8))
    assert distance.max() < 0.3
    # Independently, by simulation alone: wherever visited states come to rest without input, one of the eight is there.
    visited = np.asarray(run.states).reshape(-1, 18)[::25]
    rest = run.net.run(np.zeros((len(visited), 1000, 3)), dt=run.dt, h0=visited).states[:, -1]
    nearest = np.linalg.norm(np.asarray(rest)[:, None] - stable.points, axis=-1).min(axis=1)
    assert np.quantile(nearest, 0.95) < 1e-3
    reached = np.unique(np.linalg.norm(np.asarray(rest)[:, None] - stable.points, axis=-1).argmin(axis=1))
    assert len(reached) == 8
