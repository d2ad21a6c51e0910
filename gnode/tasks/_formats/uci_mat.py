"""Reader of UCI's Character Trajectories, a MATLAB file."""

from typing import Any

import numpy as np

from gnode import errors
from gnode.tasks._formats.mat5 import read_mat
from gnode.tasks._series import Series
from gnode.tasks._trials import as_numbers, single


def read_uci(content: bytes, name: str = "mixoutALL_shifted.mat") -> Series:
    """Reads the trials and their letters.

    The file holds a cell array `mixout` of arrays of shape (3, time) and a struct `consts`. Its field `charlabels` is the
    class of each trial, counted from 1, and its field `key` the letter of each class.

    **Arguments:**

    - `content`: bytes of the file.
    - `name`: name of the file, for messages.
    """
    try:
        stored = read_mat(content, ("mixout", "consts"))
    except errors.ArgumentError as problem:
        raise errors.ArgumentError(f"{name} cannot be read as a MATLAB file ({problem}).") from problem
    for field in ("mixout", "consts"):
        if field not in stored:
            raise errors.ArgumentError(f"{name} lacks the variable {field!r} of UCI's Character Trajectories.")
    cells, consts = stored["mixout"], stored["consts"]
    if not isinstance(cells, list) or not isinstance(consts, dict) or not {"charlabels", "key"} <= consts.keys():
        raise errors.ArgumentError(
            f"{name} must hold cells in the variable 'mixout', and a struct with the fields 'charlabels' and 'key' in "
            f"'consts'."
        )
    trials = [_trial(trial, name) for trial in cells]
    numbers = as_numbers(f"charlabels in {name}", consts["charlabels"]).ravel()
    letters = consts["key"] if isinstance(consts["key"], list) else [consts["key"]]
    if not all(isinstance(letter, str) for letter in letters):
        raise errors.ArgumentError(f"{name} must hold a letter for each class in its field 'key'.")
    if len(numbers) != len(trials):
        raise errors.ArgumentError(f"{name} holds {len(trials)} trials but {len(numbers)} labels.")
    if not np.all((numbers >= 1) & (numbers <= len(letters)) & (numbers == np.floor(numbers))):
        raise errors.ArgumentError(f"{name} must hold whole numbers from 1 to {len(letters)} in charlabels.")
    return Series.of(trials, labels=numbers.astype(np.int64) - 1, label_names=tuple(letters))


def _trial(values: Any, name: str) -> np.ndarray:
    """Returns a trial of shape (time, channels)."""
    found = as_numbers(f"mixout in {name}", values)
    if found.ndim != 2:
        raise errors.ArgumentError(f"mixout in {name} holds a trial of shape {found.shape}, but must be (3, time).")
    return single(found).T  # what float32 cannot hold is infinite, which a series refuses
