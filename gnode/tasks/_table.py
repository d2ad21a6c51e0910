"""A user's own table of samples as a task: a CSV file with a column that tells trials apart."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from gnode import errors
from gnode.tasks._arrays import arrays
from gnode.tasks._formats.csv_table import Table
from gnode.tasks._trials import Task

TRIAL, TIME, LABEL = "trial", "time", "label"
"""The columns that are taken if none are named."""


def table_file(
    path: str | Path,
    *,
    trial_column: str = TRIAL,
    time_column: str | None = None,
    input_columns: Sequence[str] | None = None,
    target_columns: Sequence[str] | None = None,
    label_column: str | None = None,
    dt: float | None = None,
    **options: Any,
) -> Task:
    """A task from a CSV file with a row per sample; an empty cell is a missing value.

    **Arguments:**

    - `trial_column`: which trial a row belongs to; any text. Rows of a trial are in the order of time.
    - `time_column`: the time of each row in seconds; by default "time", if there is such a column. Without one, rows are
      `dt` seconds apart.
    - `target_columns`: numbers to predict at every row (where they are not missing); or
    - `label_column`: a class, the same in all rows of a trial; by default "label", if there is such a column.
    - `input_columns`: by default all others.
    - `dt`, and other options: as in `arrays`.
    """
    table = Table(Path(path))
    time_column = time_column or (TIME if TIME in table.names else None)
    if target_columns is None and label_column is None and LABEL in table.names:
        label_column = LABEL
    if bool(target_columns) == bool(label_column):
        raise errors.ArgumentError(
            f"what is to be learned from {path}? Name either the columns of numbers (target_columns) or the column of "
            f"classes (label_column) out of: {', '.join(table.names)}."
        )
    named = (trial_column, time_column, label_column, *(target_columns or ()))
    chosen = [name for name in table.names if name not in named] if input_columns is None else list(input_columns)
    if not chosen:
        raise errors.ArgumentError(f"no column of {path} is left to be an input.")
    if time_column is None and dt is None:
        raise errors.ArgumentError(
            f"{path} has no column of times; name one (time_column), or pass dt, the step in seconds."
        )
    place, trials = _places(table.column(trial_column))
    learned: dict[str, Any]
    if label_column:
        labels, classes = _labels(table, label_column, place, trials)
        learned = {"targets": labels, "classes": classes}
    else:
        targets = _laid(table.numbers(target_columns or ()), place, np.nan)
        known = np.isfinite(targets).all(axis=2)
        learned = {"targets": targets, "mask": known}
    # Without times, rows are taken to be dt apart; both ways go through the same laying of samples on bins.
    times = table.numbers([time_column]) if time_column else place[:, 1:] * float(dt or 1)
    _check_times(times[:, 0], place[:, 0], table, time_column, trials)
    inputs = table.numbers(chosen)
    _check_inputs(inputs, place[:, 0], table, trials)
    task = arrays(
        _laid(inputs, place, np.nan),
        dt=dt,
        times=_laid(times, place, np.nan)[..., 0],
        lengths=np.bincount(place[:, 0]),
        name=str(path),
        **learned,
        **options,
    )
    columns = {
        "trial_column": trial_column,
        "time_column": time_column,
        "input_columns": None if input_columns is None else list(input_columns),
        "target_columns": None if target_columns is None else list(target_columns),
        "label_column": label_column,
    }
    return dataclasses.replace(task, options={**columns, "dt": dt, **options})


def _places(names: Sequence[str]) -> tuple[Int[np.ndarray, "rows 2"], list[str]]:
    """For every row its trial (counted in order of appearance) and its place in it; and the trials' names."""
    seen: dict[str, int] = {}
    counts: list[int] = []
    place = np.empty((len(names), 2), np.int64)
    for row, name in enumerate(names):
        trial = seen.setdefault(name, len(seen))
        if trial == len(counts):
            counts.append(0)
        place[row] = trial, counts[trial]
        counts[trial] += 1
    return place, list(seen)


def _laid(values: np.ndarray, place: np.ndarray, empty: float) -> np.ndarray:
    """Rows x columns as trials x time x columns, `empty` where a trial has ended."""
    trials, bins = place.max(axis=0) + 1
    laid = np.full((trials, bins, values.shape[1]), empty)
    laid[place[:, 0], place[:, 1]] = values
    return laid


def _labels(table: Table, column: str, place: np.ndarray, trials: list[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    cells = table.column(column)
    classes = tuple(sorted(set(cells), key=lambda cell: (len(cell), cell) if cell.isdigit() else (0, cell)))
    if "" in classes:
        raise errors.ArgumentError(f"{table.path} has no {column} in row {table.rows[cells.index('')][0]}.")
    labels = np.full(len(trials), -1)
    for (number, _), cell, trial in zip(table.rows, cells, place[:, 0]):
        label = classes.index(cell)
        if labels[trial] not in (-1, label):
            raise errors.ArgumentError(
                f"{table.path} has {column} {cell!r} in row {number}, but trial {trials[trial]!r} began as "
                f"{classes[labels[trial]]!r}; a trial has one class."
            )
        labels[trial] = label
    return labels, classes


def _check_times(times: np.ndarray, trial: np.ndarray, table: Table, column: str | None, trials: list[str]) -> None:
    """The same checks as those of `Series`, but in the words of the file: its rows and the names of its trials."""
    if np.isnan(times).any():
        row = table.rows[int(np.argmax(np.isnan(times)))][0]
        raise errors.ArgumentError(f"{table.path} has no time in row {row}, column {column!r}.")
    order = np.argsort(trial, kind="stable")
    wrong = np.flatnonzero((np.diff(times[order]) <= 0) & (np.diff(trial[order]) == 0))
    if wrong.size:
        before, after = order[wrong[0]], order[wrong[0] + 1]
        raise errors.ArgumentError(
            f"{table.path} has time {times[after]:g} s in row {table.rows[after][0]} after {times[before]:g} s in trial "
            f"{trials[trial[after]]!r}; times must increase within a trial."
        )


def _check_inputs(inputs: np.ndarray, trial: np.ndarray, table: Table, trials: list[str]) -> None:
    seen = np.bincount(trial, weights=np.isfinite(inputs).any(axis=1))
    if np.any(seen == 0):
        raise errors.ArgumentError(
            f"{table.path} has no number at all in the inputs of trial {trials[int(np.argmin(seen))]!r}; leave it out."
        )
