"""The tables of all networks on the page of true-attractors, from what the committed result has stored."""

from pathlib import Path

import numpy as np

from gnode import files
from gnode.reproduce import attractor_tables

RESULT = Path(__file__).parents[2] / "docs" / "results" / "reproduce" / "true-attractors.json"


def test_every_network_of_every_task_has_a_row_with_its_medians():
    details = files.read_json(RESULT)["details"]
    made = attractor_tables.tables(details)
    assert len(made) == len(details["measured"])
    head, *rows = made["annulus, N = 2: medians over seeds"]
    assert [row[0].split(" (")[0] for row in rows] == list(details["measured"]["annulus"])
    assert {len(row) for row in rows} == {len(head)}
    gnode = next(row for row in rows if row[0] == "gnODE")
    seeds = details["measured"]["annulus"]["gnODE"]["seeds"]
    for column, key in (
        ("validation MSE", "mse"),
        ("memory time, s", "memory"),
        ("MSE on pulses 2 to 4", "mse on pulses 2 to 4"),
    ):
        assert gnode[head.index(column)] == f"{np.median([one[key] for one in seeds]):.3g}"


def test_what_diverged_or_was_not_measured_is_said():
    seeds = [
        {"mse": 1.0, "status": "diverged"},
        {"mse": np.nan, "status": "finished"},
        {"mse": np.nan, "status": "diverged"},
    ]
    other = [{"mse": 2.0, "gate": 0.5, "status": "finished"}]
    details = {"measured": {"square": {"nODE": {"seeds": seeds}, "GRU": {"seeds": other}}}}
    (table,) = attractor_tables.tables(details).values()
    assert table == [
        ["network", "validation MSE", "median gate"],
        ["nODE (2 of 3 diverged)", "diverges", ""],
        ["GRU", "2", "0.5"],
    ]
