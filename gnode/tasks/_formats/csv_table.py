"""Reader of CSV tables with a header row."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float

from gnode import errors

MISSING = ("", "nan", "na", "null", "none", "?")
"""Texts that stand for a missing value, in lower case."""


class Table:
    """The cells of a CSV file as text, by the names of its columns.

    `rows` holds the number of each row and its cells. Numbers count as in an editor: the header is row 1.
    """

    def __init__(self, path: Path):
        self.path = Path(path)
        if not self.path.is_file():
            raise errors.ArgumentError(f"task file {path} does not exist.")
        try:
            with self.path.open(newline="", encoding="utf-8-sig") as file:
                rows = list(csv.reader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as problem:
            raise errors.ArgumentError(f"task file {path} cannot be read as CSV ({problem}).") from problem
        self.names = [name.strip() for name in rows[0]] if rows else []
        if len(set(self.names)) != len(self.names) or not self.names:
            raise errors.ArgumentError(f"task file {path} needs a first row that names its columns, each once.")
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

    def column(self, name: str) -> list[str]:
        """Returns the cells of a column."""
        place = self.names.index(errors.one_of("column", name, self.names))
        return [row[place].strip() for _, row in self.rows]

    def numbers(self, names: Sequence[str]) -> Float[np.ndarray, "rows columns"]:
        """Returns columns of numbers, NaN where a cell is empty.

        **Raises:** `ArgumentError` for a text that is not a number; the message names row and column.
        """
        found = np.empty((len(self.rows), len(names)))
        for place, name in enumerate(names):
            for index, cell in enumerate(self.column(name)):
                found[index, place] = self._number(cell, index, name)
        return found

    def _number(self, cell: str, index: int, name: str) -> float:
        if cell.lower() in MISSING:
            return np.nan
        try:
            return float(cell)
        except ValueError as problem:
            raise errors.ArgumentError(
                f"task file {self.path} has {cell!r} in row {self.rows[index][0]}, column {name!r}, which is not a number."
            ) from problem
