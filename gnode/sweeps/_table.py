"""The table of a sweep: its columns, the best settings, and its CSV and Markdown forms."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnode import files

OUTCOMES = ("status", "best_loss", "best_epoch", "diverged_at", "epochs_done")
TESTED = ("test_loss", "test_accuracy")
COUNTS = "counts"
"""Whether a member of a search is one that results are made of."""

Row = dict[str, Any]


def best_settings(rows: Sequence[Row], by: str) -> dict[Any, Row]:
    """Returns, for each value of `by`, the best member of the setting with the lowest mean loss over seeds.

    The mean, the standard deviation and the number of seeds are added, and test scores are means over the same seeds.
    """
    found: dict[Any, Row] = {}
    for same in _over_seeds(rows).values():
        losses = np.array([row["best_loss"] for row in same])
        best = min(same, key=lambda row: (row["best_loss"], row["member"]))
        std = float(losses.std()) if np.all(np.isfinite(losses)) else float("nan")  # a seed that diverged at once
        entry = best | {"mean": float(losses.mean()), "std": std, "seeds": len(same)}
        for score in TESTED:  # of the same runs: test trials never choose
            if all(row.get(score) is not None for row in same):
                scores = np.array([row[score] for row in same])
                entry |= {score: float(scores.mean()), f"{score}_std": float(scores.std())}
        value = best.get(by)
        if value not in found or entry["mean"] < found[value]["mean"]:
            found[value] = entry
    return found


def as_markdown(best: dict[Any, Row], by: str, shown: Sequence[str]) -> str:
    """Writes the best settings as a Markdown table with the settings `shown`."""
    tested = [score for score in TESTED if any(entry.get(score) is not None for entry in best.values())]
    head = [by, *shown, "min. validation loss", *(name.replace("_", " ") for name in tested), "epoch", "member"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for value, entry in best.items():
        several = entry["seeds"] > 1
        spread = f" ± {entry['std']:.2g} ({entry['seeds']} seeds)" if several else ""
        scores = [
            f"{entry[name]:.4g}" + (f" ± {entry[f'{name}_std']:.2g}" if several else "") if name in entry else ""
            for name in tested
        ]
        cells = [
            value,
            *(entry.get(name, "") for name in shown),
            f"{entry['mean']:.4g}{spread}",
            *scores,
            entry["best_epoch"],
            entry["member"],
        ]
        lines.append("| " + " | ".join("" if cell is None else str(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def as_csv(rows: Sequence[Row]) -> str:
    """Writes one line per row; nothing if there is none."""
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: files.csv_cell(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def _over_seeds(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Groups rows that differ in nothing but the seed."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        same = {
            name: value for name, value in row.items() if name not in ("seed", "member", COUNTS, *OUTCOMES, *TESTED)
        }
        found.setdefault(json.dumps(same, sort_keys=True), []).append(row)
    return found
