"""Checks of the arrays of compact files, when they are made and when they are read: anybody may have written them."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np

from gnode import errors
from gnode.tasks._series import Series

Arrays = Mapping[str, np.ndarray]
Made = TypeVar("Made")


@contextmanager
def in_order(what: str) -> Generator[None, None, None]:
    """Says of which file an `ArgumentError` inside the block is."""
    try:
        yield
    except errors.ArgumentError as problem:
        raise errors.ArgumentError(f"{what} is not in order: {problem}") from problem


def usable(path: Path, make: Callable[[], Made]) -> Made:
    """Returns what `make` makes of the arrays of a compact file; its errors name the file."""
    with in_order(f"data set {path}"):
        return make()


def as_series(arrays: Arrays) -> Series:
    """Returns the series in the arrays `values` and `lengths`, with `labels` and `label_names` if they are there."""
    names = arrays.get("label_names", np.empty(0, str))
    if names.ndim != 1 or ("labels" in arrays and not len(names)):
        raise errors.ArgumentError(f"label_names has shape {names.shape}, but must hold the name of each class.")
    return Series(
        arrays["values"], arrays["lengths"], labels=arrays.get("labels"), label_names=tuple(map(str, names.tolist()))
    )


def check_labels(labels: np.ndarray, classes: int) -> None:
    """Raises an `ArgumentError` unless `labels` are class indices, one for each trial."""
    if labels.ndim != 1 or labels.dtype.kind not in "iu" or np.any((labels < 0) | (labels >= classes)):
        raise errors.ArgumentError(f"a label is not from 0 to {classes - 1}.")


def check_features(arrays: Arrays, classes: int) -> None:
    """Raises an `ArgumentError` unless the arrays of a file of sound clips agree."""
    features = arrays["mfcc"]
    lengths = {values.shape[:1] for values in arrays.values()}
    if len(lengths) != 1 or features.ndim != 3 or 0 in features.shape or not np.isfinite(features).all():
        raise errors.ArgumentError("its arrays differ in length, or its features are not finite.")
    if any(values.ndim != 1 for name, values in arrays.items() if name != "mfcc"):
        raise errors.ArgumentError("an array beside the features is not one value for each clip.")
    check_labels(arrays["labels"], classes)
