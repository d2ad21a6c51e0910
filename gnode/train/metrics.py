"""The metrics of every epoch, and their CSV file."""

from pathlib import Path
from typing import Any

import numpy as np

from gnode import files
from gnode.train.named import name_of
from gnode.train.settings import Settings

METRIC_NAMES = ("train", "validation", "gradient")
"""What every run has: mean training loss over the updates of an epoch, validation loss, mean gradient norm."""

AT_ONCE = ("rounds", "by_loop")
"""Of networks whose bins are computed at once: the rounds of Newton's method, and the share of updates in which they did not
converge, so that the loop over bins replaced them."""

Curves = dict[str, np.ndarray]
"""A value per epoch, by the name of the metric."""


def metric_names(choices: Settings, loss: Any, at_once: bool = False) -> tuple[str, ...]:
    """Returns the names of all metrics of a run, in the order of their columns."""
    named = [name_of(metric) for metric in choices.metrics]
    of_classes = ["accuracy"] if loss == "cross_entropy" and "accuracy" not in named else []
    return (
        *METRIC_NAMES,
        *(["validation_raw"] if choices.ema else []),
        *(AT_ONCE if at_once else []),
        *of_classes,
        *named,
    )


def no_curves(names: tuple[str, ...] = METRIC_NAMES) -> Curves:
    """Returns the curves of a run before its first epoch."""
    return {name: np.zeros(0) for name in names}


def with_epoch(curves: Curves, epoch: int, values: dict[str, float]) -> Curves:
    """Returns curves with one more epoch. A metric that is new, in a run of an earlier version, has no values before."""
    before = {name: curves.get(name, np.full(epoch - 1, np.nan)) for name in values}
    return {name: np.append(before[name], value) for name, value in values.items()}


def curves_as_csv(curves: Curves) -> str:
    """Writes one row per epoch.

    >>> curves_as_csv({"train": np.ones(1), "validation": np.ones(1), "gradient": np.zeros(1)})
    'epoch,train,validation,gradient\\n1,1.0,1.0,0.0\\n'
    """
    rows = ["epoch," + ",".join(curves)]
    columns = list(curves.values())
    rows += [f"{epoch}," + ",".join(repr(float(value)) for value in row) for epoch, row in enumerate(zip(*columns), 1)]
    return "\n".join(rows) + "\n"


def read_curves(path: Path) -> Curves:
    """Reads what `curves_as_csv` wrote; a file that is missing has no epochs.

    **Raises:** `StoreError` if the file is broken.
    """
    if not path.exists():
        return no_curves()
    try:
        head, *lines = files.read_text(path).splitlines()
        names = head.split(",")[1:]
        if not set(METRIC_NAMES) <= set(names):
            raise ValueError(f"its first line must name {', '.join(METRIC_NAMES)}")
        rows = np.loadtxt(lines, delimiter=",", ndmin=2) if lines else np.zeros((0, 1 + len(names)))
        return {name: rows[:, column] for column, name in enumerate(names, 1)}
    except (ValueError, IndexError) as problem:
        raise files.damaged(path, str(problem)) from problem
