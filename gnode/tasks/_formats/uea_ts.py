"""Reader of `.ts` files, the text format of the UEA and UCR archives of time series.

Header lines begin with @. Every other line is a trial: its channels, separated by colons, and its class. A channel is a list
of numbers, separated by commas.
"""

import numpy as np

from gnode import errors
from gnode.tasks._formats.plain import told
from gnode.tasks._series import Series
from gnode.tasks._trials import single

MISSING = ("?", "NaN", "nan")
"""Texts that stand for a missing value."""


def read_ts(text: str, name: str = "file") -> Series:
    """Reads the trials and their classes from the text of a file; `name` is for messages.

    >>> read_ts("@classLabel true a b\\n@data\\n1,2:3,?:a\\n4,5:6,7:b").values[0].tolist()
    [1.0, 3.0]
    """
    classes: list[str] = []
    trials: list[np.ndarray] = []
    labels: list[int] = []
    in_data = False
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("@"):
            in_data = in_data or line.lower() == "@data"
            classes = _header(line, name) or classes
            continue
        if not in_data:
            raise errors.ArgumentError(f"{name} has data in line {number}, before any @data; it is not a .ts file.")
        if not classes:
            raise errors.ArgumentError(f"{name} names no classes (@classLabel true a b ...), which are needed.")
        *channels, label = line.split(":")
        if label.strip() not in classes:
            raise errors.ArgumentError(
                f"{name} has the class {errors.shown(label.strip())} in line {number}, which its header does not name."
            )
        trials.append(_trial(channels, name, number))
        labels.append(classes.index(label.strip()))
    if not trials:
        raise errors.ArgumentError(f"{name} holds no trials; it is not a .ts file, or is truncated.")
    return Series.of(trials, labels=np.array(labels), label_names=tuple(classes))


def _header(line: str, name: str) -> list[str]:
    """Returns the classes if this line of the header names them, otherwise an empty list."""
    words = line.split()
    key, value = words[0].lower(), words[1:]
    if key == "@timestamps" and value[:1] and value[0].lower() == "true":
        raise errors.ArgumentError(f"{name} has time stamps in its data, which this reader does not support.")
    return value[1:] if key == "@classlabel" and value[:1] and value[0].lower() == "true" else []


def _trial(channels: list[str], name: str, number: int) -> np.ndarray:
    columns = []
    for channel, text in enumerate(channels):
        words = [word.strip() for word in text.split(",")]
        try:
            columns.append([np.nan if word in MISSING else float(word) for word in words])
        except ValueError as problem:
            raise errors.ArgumentError(
                f"{name} has text in line {number}, channel {channel} ({told(problem)})."
            ) from problem
    lengths = [len(column) for column in columns]
    if len(set(lengths)) != 1:
        raise errors.ArgumentError(
            f"{name} has channels of lengths {errors.shown(lengths)} in line {number}; they must be equal."
        )
    return single(np.array(columns)).T  # what float32 cannot hold is infinite, which a series refuses
