"""A checkpoint: the whole training state after an epoch, as one file from which a run resumes to the same numbers."""

import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gnode import errors, files
from gnode.train import serialisation
from gnode.train.metrics import METRIC_NAMES, Curves, no_curves
from gnode.train.program import TrainState


class Checkpoint(NamedTuple):
    """The training state after `epoch` epochs, the metrics so far, and the seconds spent."""

    state: TrainState
    curves: Curves
    epoch: int
    seconds: float = 0.0


def first_checkpoint(state: TrainState, names: tuple[str, ...] = METRIC_NAMES) -> Checkpoint:
    """Returns the checkpoint before the first epoch of a run with these metrics."""
    return Checkpoint(state, no_curves(names), 0)


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Writes a checkpoint atomically, and keeps the one before it."""
    arrays = {f"state{name}": value for name, value in serialisation.to_arrays(checkpoint.state).items()}
    arrays |= {f"metrics/{name}": values for name, values in checkpoint.curves.items()}
    arrays |= {"epoch": np.asarray(checkpoint.epoch), "seconds": np.asarray(checkpoint.seconds)}
    files.write_arrays(path, arrays, keep_older=True)


def read_checkpoint(path: Path, like: TrainState) -> Checkpoint | None:
    """Reads a checkpoint into a state of the same structure as `like`; None if there is no file.

    One that is damaged is a warning, and the one before it is read: training from there leads to the same numbers.

    **Raises:** `StoreError` if both are damaged or belong to another network.
    """
    older = files.before(path)
    if not path.exists():  # a process was killed between the two renames, or the last one was removed
        return _read(older, like) if older.exists() else None
    try:
        return _read(path, like)
    except errors.StoreError:
        if not older.exists():
            raise
        found = _read(older, like)
        warnings.warn(f"{path} is damaged; the one before it, of epoch {found.epoch}, is used.", stacklevel=2)
        return found


def remove_checkpoint(path: Path) -> None:
    """Removes a checkpoint and the one before it."""
    files.remove(files.before(path))
    files.remove(path)


def _read(path: Path, like: TrainState) -> Checkpoint:
    arrays = files.read_arrays(path)
    state_arrays = {name.removeprefix("state"): value for name, value in arrays.items() if name.startswith("state")}
    if like.guesses is not None:  # a run that began on a machine where the loop was chosen has none
        state_arrays.setdefault(".guesses", np.asarray(like.guesses))
    state = serialisation.from_arrays(like, state_arrays, str(path))
    try:
        curves = {
            name.removeprefix("metrics/"): values for name, values in arrays.items() if name.startswith("metrics/")
        }
        epoch, seconds = int(arrays["epoch"]), float(arrays["seconds"])
    except (KeyError, TypeError, ValueError) as problem:
        raise files.damaged(path, f"it lacks its metrics or its epoch ({problem})") from problem
    if not set(METRIC_NAMES) <= curves.keys() or any(
        values.shape != (epoch,) or values.dtype.kind != "f" for values in curves.values()
    ):
        raise files.damaged(path, f"its metrics are not those of {epoch} epochs")
    return Checkpoint(state, curves, epoch, seconds)
