"""Tasks from a user's own CSV file, with one row per sample and a column that identifies the trial."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from gnode import errors
from gnode.arguments import checked
from gnode.tasks._arrays import arrays
from gnode.tasks._formats.csv_table import Table
from gnode.tasks._trials import Task

TRIAL, TIME, LABEL, SPLIT = "trial", "time", "label", "split"
"""Default names of the columns."""


@checked
def table_file(
    path: str | Path,
    *,
    trial_column: str = TRIAL,
    time_column: str | None = None,
    input_columns: Sequence[str] | None = None,
    target_columns: Sequence[str] | None = None,
    label_column: str | None = None,
    split_column: str | None = None,
    dt: float | None = None,
    **options: Any,
) -> Task:
    """Makes a task from a CSV file with one row per sample. An empty cell is a missing value.

    **Arguments:**

    - `path`: the file; its first row names the columns.
    - `trial_column`: column that identifies the trial of a row, with any text. Rows of a trial are ordered by time.
    - `time_column`: column with the time of each row in seconds; by default "time" if it exists. Without one, rows are `dt`
      seconds apart.
    - `input_columns`: columns of the inputs; by default all that have no other role.
    - `target_columns`: columns of numbers to predict at every row; a row with a missing target does not count.
    - `label_column`: column with the class of a trial, the same in all of its rows; by default "label" if it exists.
    - `split_column`: column with the part of a trial ("train", "validation", "test"), by default "split" if it exists; or
      with its group (speaker, session, animal), where `validate_on` and `test_on` name the groups that are held out.
    - `dt`, `options`: as in `arrays`.

    **Returns:** a `Task` whose name is the path, with the names of the columns.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "mine.csv").write_text("trial,x,y\\n1,0,0\\n1,1,1\\n2,0,0\\n2,2,2\\n")
    ...     table_file(f"{folder}/mine.csv", target_columns=["y"], dt=0.1, validation=0.5).train
    Trials(1 trial, 2 bins, 1 input, 1 target per bin)
    """
    if dt is not None:
        errors.positive("dt", dt)
    table = Table(Path(path))
    columns = _chosen_columns(
        table, trial_column, time_column, input_columns, target_columns, label_column, split_column
    )
    if columns.time is None and dt is None:
        raise errors.ArgumentError(
            f"{path} has no column of times; name one (time_column), or pass dt, the step in seconds."
        )
    task = arrays(**_trial_arrays(table, columns, dt), dt=dt, name=str(path), **options)
    named = {
        "trial_column": trial_column,
        "time_column": columns.time,
        "input_columns": None if input_columns is None else list(input_columns),
        "target_columns": None if target_columns is None else list(target_columns),
        "label_column": columns.label,
        "split_column": columns.split,
    }
    return dataclasses.replace(task, options={**named, "dt": dt, **options})


@dataclasses.dataclass(frozen=True)
class _Columns:
    """Which columns of a table are used, by role."""

    trial: str
    time: str | None
    inputs: list[str]
    targets: list[str]
    label: str | None
    split: str | None


def _chosen_columns(
    table: Table,
    trial: str,
    time: str | None,
    inputs: Sequence[str] | None,
    targets: Sequence[str] | None,
    label: str | None,
    split: str | None,
) -> _Columns:
    """Replaces None by the default columns."""
    time = time or (TIME if TIME in table.names else None)
    if targets is None and label is None and LABEL in table.names:
        label = LABEL
    if bool(targets) == bool(label):
        raise errors.ArgumentError(
            f"what is to be learned from {table.path}? Name either the columns of numbers (target_columns) or the column "
            f"of classes (label_column) out of: {table.listed()}."
        )
    used = {trial, time, label, *(targets or ())}
    if split is None and SPLIT in table.names and SPLIT not in used | set(inputs or ()):
        split = SPLIT
    if split is not None:
        table.place(split)  # first, or its column would be taken for an input of texts
    used.add(split)
    chosen = [name for name in table.names if name not in used] if inputs is None else list(inputs)
    if not chosen:
        raise errors.ArgumentError(f"no column of {table.path} is left to be an input.")
    return _Columns(trial, time, chosen, list(targets or ()), label, split)


def _trial_arrays(table: Table, columns: _Columns, dt: float | None) -> dict[str, Any]:
    """Returns the rows of a table as the array arguments of `arrays`."""
    place, trials = _place_rows(table.column(columns.trial))
    learned: dict[str, Any]
    if columns.label:
        labels, classes = _labels(table, columns.label, place, trials)
        learned = {"targets": labels, "classes": classes}
    else:
        targets = _padded(table.numbers(columns.targets), place)
        learned = {
            "targets": targets,
            "mask": ~np.isnan(targets).any(axis=2),
            "target_names": columns.targets,
        }
    # Without a column of times, rows are dt apart, and samples are put on bins in the same way.
    times = table.numbers([columns.time]) if columns.time else place[:, 1:] * float(dt or 1)
    _check_times(times[:, 0], place[:, 0], table, columns.time, trials)
    inputs = table.numbers(columns.inputs)
    _check_inputs(inputs, place[:, 0], table, trials)
    return {
        "inputs": _padded(inputs, place),
        "times": _padded(times, place)[..., 0],
        "lengths": np.bincount(place[:, 0]),
        "input_names": columns.inputs,
        "split": _by_trial(table, columns.split, place, trials, "belongs to one part") if columns.split else None,
        **learned,
    }


def _place_rows(names: Sequence[str]) -> tuple[Int[np.ndarray, "rows 2"], list[str]]:
    """Returns the trial of each row (in order of appearance) and its index in the trial, and the names of the trials."""
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


def _padded(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Rearranges (rows, columns) to (trials, time, columns), padded with NaN."""
    trials, bins = map(int, place.max(axis=0) + 1)
    shape = (trials, bins, values.shape[1])
    errors.affordable("the shape of the padded trials", shape, 3 * 8 * trials * bins * values.shape[1])  # with copies
    padded = np.full(shape, np.nan)
    padded[place[:, 0], place[:, 1]] = values
    return padded


def _labels(table: Table, column: str, place: np.ndarray, trials: list[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Returns the class index of each trial and the names of the classes."""
    cells = _by_trial(table, column, place, trials, "has one class")
    classes = tuple(sorted(set(cells), key=lambda cell: (len(cell), cell) if cell.isdigit() else (0, cell)))
    index = {name: label for label, name in enumerate(classes)}
    return np.array([index[cell] for cell in cells]), classes


def _by_trial(table: Table, column: str, place: np.ndarray, trials: list[str], rule: str) -> list[str]:
    """Returns the cell of each trial in a column that holds the same text in all rows of a trial."""
    found: dict[int, str] = {}
    for (number, _), cell, trial in zip(table.rows, table.column(column), place[:, 0].tolist()):
        if not cell:
            raise errors.ArgumentError(f"{table.path} has no {column} in row {number}.")
        if found.setdefault(trial, cell) != cell:
            raise errors.ArgumentError(
                f"{table.path} has {column} {errors.shown(cell)} in row {number}, but trial {errors.shown(trials[trial])} "
                f"began as {errors.shown(found[trial])}; a trial {rule}."
            )
    return [found[trial] for trial in range(len(trials))]


def _check_times(times: np.ndarray, trial: np.ndarray, table: Table, column: str | None, trials: list[str]) -> None:
    """Makes the checks of `Series` with messages that name the rows of the file and the names of its trials."""
    if np.isnan(times).any():
        row = table.rows[int(np.argmax(np.isnan(times)))][0]
        raise errors.ArgumentError(f"{table.path} has no time in row {row}, column {column!r}.")
    order = np.argsort(trial, kind="stable")
    wrong = np.flatnonzero((np.diff(times[order]) <= 0) & (np.diff(trial[order]) == 0))
    if wrong.size:
        before, after = order[wrong[0]], order[wrong[0] + 1]
        raise errors.ArgumentError(
            f"{table.path} has time {times[after]:g} s in row {table.rows[after][0]} after {times[before]:g} s in trial "
            f"{errors.shown(trials[trial[after]])}; times must increase within a trial."
        )


def _check_inputs(inputs: np.ndarray, trial: np.ndarray, table: Table, trials: list[str]) -> None:
    seen = np.bincount(trial, weights=np.isfinite(inputs).any(axis=1))
    if np.any(seen == 0):
        raise errors.ArgumentError(
            f"{table.path} has no number at all in the inputs of trial "
            f"{errors.shown(trials[int(np.argmin(seen))])}; leave it out."
        )
