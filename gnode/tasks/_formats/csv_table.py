"""Reader of CSV tables with a header row."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from gnode import errors
from gnode.tasks._formats.plain import plain_file, told

MISSING = ("", "nan", "na", "null", "none", "?")
"""Texts that stand for a missing value, in lower case."""
MOST_LISTED = 20
"""Number of columns that a message lists."""


class Table:
    """The cells of a CSV file as text, by the names of its columns.

    `rows` holds the number of each row and its cells. Numbers count as in an editor: the header is row 1.
    """

    def __init__(self, path: Path):
        self.path = plain_file(path, "task file")
        try:
            with self.path.open(newline="", encoding="utf-8-sig") as file:
                rows = list(csv.reader(file))
        except UnicodeDecodeError as problem:
            raise errors.ArgumentError(
                f"task file {path} cannot be read as CSV: it is not text in UTF-8 ({told(problem)})."
            ) from problem
        except (OSError, csv.Error) as problem:
            raise errors.ArgumentError(f"task file {path} cannot be read as CSV ({told(problem)}).") from problem
        self.names = [name.strip() for name in rows[0]] if rows else []
        self._places = {name: place for place, name in enumerate(self.names)}
        self._check_names()
        if len(self.names) == 1 and any(mark in self.names[0] for mark in ";\t"):
            raise errors.ArgumentError(f"task file {path} separates its columns by ';' or tabs; use commas.")
        self.rows = [(number, row) for number, row in enumerate(rows[1:], start=2) if any(cell.strip() for cell in row)]
        for number, row in self.rows:
            if len(row) != len(self.names):
                raise errors.ArgumentError(
                    f"task file {path} has {len(row)} cells in row {number}, but {len(self.names)} columns."
                )
        if not self.rows:
            raise errors.ArgumentError(f"task file {path} holds no rows.")

    def _check_names(self) -> None:
        needs = f"task file {self.path} needs a first row that names its columns, each once"
        if not self.names:
            raise errors.ArgumentError(f"{needs}, but that row is empty.")
        if "" in self._places and len(self.names) > 1:
            raise errors.ArgumentError(f"{needs}; column {self._places[''] + 1} has no name.")
        if len(self._places) != len(self.names):
            again = next(name for place, name in enumerate(self.names) if self._places[name] != place)
            raise errors.ArgumentError(f"{needs}; {errors.shown(again)} names several.")

    def listed(self) -> str:
        """Returns the names of the columns for a message: all of them, or the first ones."""
        more = len(self.names) - MOST_LISTED
        names = [errors.shortened(name, 40) for name in self.names[:MOST_LISTED]]
        return ", ".join(names) + (f" and {more} more" if more > 0 else "")

    def place(self, name: str) -> int:
        """Returns the number of a column.

        **Raises:** `ArgumentError` if there is none of that name.
        """
        found = self._places.get(name) if isinstance(name, str) else None
        if found is None:
            guess = errors.nearest(name, self.names) if isinstance(name, str) else None
            hint = f" Did you mean {errors.shown(guess)}?" if guess else ""
            raise errors.ArgumentError(
                f"column is {errors.shown(name)}, but must be one of: {self.listed()} (of {self.path}).{hint}"
            )
        return found

    def column(self, name: str) -> list[str]:
        """Returns the cells of a column."""
        place = self.place(name)
        return [row[place].strip() for _, row in self.rows]

    def numbers(self, names: Sequence[str]) -> Float[np.ndarray, "rows columns"]:
        """Returns columns of numbers, NaN where a cell is empty.

        **Raises:** `ArgumentError` for a text that is not a number; the message names row and column.
        """
        places = [self.place(name) for name in names]
        found = np.empty((len(self.rows), len(names)))
        for index, (_, row) in enumerate(self.rows):  # row by row: a column of a wide table lies all over the memory
            found[index] = [self._number(row[place], index, place) for place in places]
        return found

    def _number(self, cell: str, index: int, place: int) -> float:
        try:
            return float(cell)
        except ValueError as problem:
            if cell.strip().lower() in MISSING:
                return np.nan
            raise errors.ArgumentError(
                f"task file {self.path} has {errors.shown(cell)} in row {self.rows[index][0]}, column "
                f"{errors.shown(self.names[place])}, which is not a number."
            ) from problem
