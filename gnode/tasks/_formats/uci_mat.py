"""Reader of UCI's Character Trajectories, a MATLAB file."""

import io
from typing import Any

import numpy as np
import scipy.io

from gnode import errors
from gnode.tasks._series import Series


def read_uci(content: bytes, name: str = "mixoutALL_shifted.mat") -> Series:
    """Reads the trials and their letters.

    The file holds a cell array `mixout` of arrays of shape (3, time) and a struct `consts`. Its field `charlabels` is the
    class of each trial, counted from 1, and its field `key` the letter of each class.

    **Arguments:**

    - `content`: bytes of the file.
    - `name`: name of the file, for messages.
    """
    try:
        stored: dict[str, Any] = scipy.io.loadmat(
            io.BytesIO(content), variable_names=["mixout", "consts"], squeeze_me=True, struct_as_record=False
        )
    except Exception as problem:  # scipy raises many types for a truncated file
        raise errors.ArgumentError(f"{name} cannot be read as a MATLAB file ({problem}).") from problem
    for field in ("mixout", "consts"):
        if field not in stored:
            raise errors.ArgumentError(f"{name} lacks the variable {field!r} of UCI's Character Trajectories.")
    trials = [np.atleast_2d(np.asarray(trial, np.float32)).T for trial in np.atleast_1d(stored["mixout"])]
    numbers = np.atleast_1d(np.asarray(stored["consts"].charlabels)).astype(np.int64)
    letters = tuple(str(letter) for letter in np.atleast_1d(stored["consts"].key))
    if len(numbers) != len(trials):
        raise errors.ArgumentError(f"{name} holds {len(trials)} trials but {len(numbers)} labels.")
    return Series.of(trials, labels=numbers - 1, label_names=letters)
