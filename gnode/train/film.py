"""A film of training: the weights of chosen epochs, which `gnode explore RUN --film` shows one after the other."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gnode import errors, files
from gnode.arguments import checked
from gnode.train import run_folder, serialisation
from gnode.train.callbacks import Callback, Moment

__all__ = ["FOLDER", "Film", "frame_name", "read_film"]

FOLDER = "film"
"""The subfolder of a run."""
STEPS = (1, 2, 5)
"""By default the epochs 0, 1, 2, 5, 10, 20, 50, ... are kept: a network changes most at the beginning."""


class Film(Callback):
    """Keeps the weights of chosen epochs in the folder of a run, for `gnode explore RUN --film`.

    **Arguments:** `epochs`: the epochs to keep, where 0 is the network before training; by default 0, 1, 2, 5, 10, 20, 50
    and so on.

    **Raises:** `ArgumentError` if an epoch is not a whole number, or there is none.

    >>> Film([0, 10, 50])
    Film(epochs 0, 10, 50)
    """

    @checked
    def __init__(self, epochs: Sequence[int] | None = None):
        if epochs is not None and len(epochs) == 0:
            raise errors.ArgumentError("epochs is empty, but must hold at least one epoch to keep.")
        self.epochs = None if epochs is None else frozenset(errors.whole("epochs", epoch, 0) for epoch in epochs)

    def __repr__(self) -> str:
        if self.epochs is None:
            return "Film()"
        return f"Film(epochs {errors.shortened(', '.join(map(str, sorted(self.epochs))))})"

    def keeps(self, epoch: int) -> bool:
        """Whether an epoch is one of those that are kept."""
        if self.epochs is not None:
            return epoch in self.epochs
        return epoch == 0 or any(epoch == step * 10 ** (len(str(epoch)) - 1) for step in STEPS)

    def after_epoch(self, moment: Moment) -> None:
        """Keeps the weights of this epoch, if it is one of those."""
        if moment.folder is None:
            raise errors.ArgumentError("a film is kept in the folder of its run; train with out='runs/name'")
        if moment.epoch == 1 and self.keeps(0):
            # The run's folder holds the first weights until the first epoch is saved, which is after this.
            _write(moment.folder, 0, files.read_arrays(moment.folder / run_folder.WEIGHTS))
        if self.keeps(moment.epoch):
            _write(moment.folder, moment.epoch, serialisation.to_arrays(moment.network()))


def frame_name(epoch: int) -> str:
    """Returns the name of the file with the weights of an epoch.

    >>> frame_name(50)
    '000050.npz'
    """
    return f"{epoch:06d}.npz"


def read_film(folder: Path, like: Any) -> dict[int, Any]:
    """Reads the networks of a film, by epoch.

    **Arguments:** `folder`, that of the run; `like`, a network of the same structure.

    **Raises:** `StoreError` if there is no film, or a file of it is damaged.
    """
    names = {
        path.name: path for path in sorted((folder / FOLDER).glob("*.npz")) if re.fullmatch(r"\d+\.npz", path.name)
    }
    if not names:
        raise errors.StoreError(
            f"{folder} has no film: its weights were not kept while it trained; train with --film, or with the callback "
            f"gnode.train.Film()."
        )
    frames = {int(name.removesuffix(".npz")): path for name, path in names.items()}
    return {
        epoch: serialisation.from_arrays(like, files.read_arrays(path), str(path)) for epoch, path in frames.items()
    }


def _write(folder: Path, epoch: int, arrays: "dict[str, np.ndarray]") -> None:
    place = files.inside(folder, FOLDER)
    with files.writing(place):
        files.write_arrays(place / frame_name(epoch), arrays)
