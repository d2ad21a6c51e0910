"""A checkpoint: the whole training state after an epoch, as one file from which a run resumes to the same numbers."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from gnode import files
from gnode.train import serialisation
from gnode.train.metrics import METRIC_NAMES, Curves, no_curves
from gnode.train.program import TrainState


class Checkpoint(NamedTuple):
    """The training state after `epoch` epochs, the metrics so far, and the seconds spent."""

    state: TrainState
    curves: Curves
    epoch: int
    seconds: float = 0.0


def first_checkpoint(state: TrainState) -> Checkpoint:
    """Returns the checkpoint before the first epoch."""
    return Checkpoint(state, no_curves(), 0)


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Writes a checkpoint atomically."""
    arrays = {f"state{name}": value for name, value in serialisation.to_arrays(checkpoint.state).items()}
    arrays |= {f"metrics/{name}": values for name, values in checkpoint.curves.items()}
    arrays |= {"epoch": np.asarray(checkpoint.epoch), "seconds": np.asarray(checkpoint.seconds)}
    files.write_arrays(path, arrays)


def read_checkpoint(path: Path, like: TrainState) -> Checkpoint | None:
    """Reads a checkpoint into a state of the same structure as `like`; None if there is no file.

    **Raises:** `StoreError` if the file is broken or belongs to another network.
    """
    if not path.exists():
        return None
    arrays = files.read_arrays(path)
    state_arrays = {name.removeprefix("state"): value for name, value in arrays.items() if name.startswith("state")}
    state = serialisation.from_arrays(like, state_arrays, str(path))
    curves = {name: arrays[f"metrics/{name}"] for name in METRIC_NAMES}
    return Checkpoint(state, curves, int(arrays["epoch"]), float(arrays["seconds"]))
