"""Cells of CSV files that a spreadsheet would run."""

import csv
import io

import pytest

from gnode.files import csv_cell
from gnode.sweeps._table import as_csv


@pytest.mark.parametrize(
    "text", ["=1+1", "+1-1", "-a", "@SUM(A1)", "\t=1", "\r=1", "  =1", "=cmd|' /C calc'!A0.csv", "＝1"]
)
def test_what_a_spreadsheet_would_run_is_a_text(text):
    assert csv_cell(text) == "'" + text


@pytest.mark.parametrize("value", [-1, -1.5, "-1.5", "-1e-3", "+2", "-inf", "ring", "a=b", "2:-1", "", None, True])
def test_numbers_and_other_texts_stay(value):
    assert csv_cell(value) is value


def test_the_table_of_a_sweep():
    rows = [{"task": "=HYPERLINK(1).csv", "lr": -0.1, "status": "finished"}, {"task": "a.csv", "lr": 1, "status": "-"}]
    (first, second) = csv.DictReader(io.StringIO(as_csv(rows)))
    assert first == {"task": "'=HYPERLINK(1).csv", "lr": "-0.1", "status": "finished"}
    assert second == {"task": "a.csv", "lr": "1", "status": "'-"}
