"""The frames of a film of training, as networks of the page."""

from typing import Any

import numpy as np

from gnode import errors
from gnode.network import Network
from gnode.train import Run
from gnode.train.film import read_film

MOST_FRAMES = 40
"""Of the epochs that were kept, spread evenly over them: each frame holds all weights."""


def frames_of(run: Run) -> dict[int, Network]:
    """Returns the networks of the film of a run by epoch, without the best one's.

    **Raises:** `StoreError` if there is no film.
    """
    if run.folder is None:
        raise errors.ArgumentError("film is asked for, but the run has no folder, in which its film would be.")
    found: dict[int, Any] = read_film(run.folder, run.net)
    found.pop(run.best_epoch, None)
    epochs = sorted(found)
    if len(epochs) > MOST_FRAMES:
        chosen = np.linspace(0, len(epochs) - 1, MOST_FRAMES).round().astype(int)
        epochs = [epochs[place] for place in chosen]
    return {epoch: found[epoch] for epoch in epochs}
