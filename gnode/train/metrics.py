"""The metrics of every epoch, and their CSV file."""

from pathlib import Path

import numpy as np

from gnode import files

METRIC_NAMES = ("train", "validation", "gradient")
"""Mean training loss over the updates of an epoch, validation loss, mean gradient norm."""

Curves = dict[str, np.ndarray]
"""A value per epoch, by the name of the metric."""


def no_curves() -> Curves:
    """Returns the curves of a run before its first epoch."""
    return {name: np.zeros(0) for name in METRIC_NAMES}


def curves_as_csv(curves: Curves) -> str:
    """Writes one row per epoch.

    >>> curves_as_csv({"train": np.ones(1), "validation": np.ones(1), "gradient": np.zeros(1)})
    'epoch,train,validation,gradient\\n1,1.0,1.0,0.0\\n'
    """
    rows = ["epoch," + ",".join(METRIC_NAMES)]
    columns = [curves[name] for name in METRIC_NAMES]
    rows += [f"{epoch}," + ",".join(repr(float(value)) for value in row) for epoch, row in enumerate(zip(*columns), 1)]
    return "\n".join(rows) + "\n"


def read_curves(path: Path) -> Curves:
    """Reads what `curves_as_csv` wrote; a file that is missing has no epochs.

    **Raises:** `StoreError` if the file is broken.
    """
    if not path.exists():
        return no_curves()
    try:
        lines = files.read_text(path).splitlines()[1:]
        rows = np.loadtxt(lines, delimiter=",", ndmin=2) if lines else np.zeros((0, 1 + len(METRIC_NAMES)))
        return {name: rows[:, column] for column, name in enumerate(METRIC_NAMES, 1)}
    except (ValueError, IndexError) as problem:
        raise files.damaged(path, str(problem)) from problem
