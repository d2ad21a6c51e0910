"""Losses that the paper reports, from its own grid. Minutes each: run with `make test-slow`."""

import pytest

from gnode.train import RunSpec, train_spec


@pytest.mark.slow
def test_fixed_amplitude_two_bits_in_two_dimensions_below_1e_4():
    """lr 1e-3, decay 1e-3, batches of 10, two hidden layers of 316: of the paper's grid, in 100 of its 200 epochs."""
    given = {"bits": 2, "initial": "affine", "state": 2, "widths": (316, 316)}
    given |= {"lr": 1e-3, "weight_decay": 1e-3, "batch_size": 10, "epochs": 100}
    run = train_spec(RunSpec.of("flipflop-fixed", given))
    assert run.best_loss < 1e-4
