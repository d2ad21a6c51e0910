"""The table of a sweep: its columns, the best settings, and its CSV and Markdown forms."""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnode import files, own_code
from gnode.train.spec import OPTIONS

OUTCOMES = ("status", "best_loss", "best_epoch", "diverged_at", "epochs_done")
TESTED = "test_"
"""How the names of the columns of test scores begin."""
COUNTS = "counts"
"""Whether a member of a search is one that results are made of."""

Row = dict[str, Any]


def best_settings(rows: Sequence[Row], by: str) -> dict[Any, Row]:
    """Returns, for each value of `by`, the setting with the lowest mean loss over seeds, as `Sweep.best` describes it."""
    found: dict[Any, Row] = {}
    for same in _over_seeds(rows).values():
        entry = _entry(same)
        value = entry["setting"].get(by, entry["best_member"].get(by))
        if value not in found or entry["mean"] < found[value]["mean"]:
            found[value] = entry
    return found


def _entry(same: Sequence[Row]) -> Row:
    """Describes a setting by the rows of its seeds: what they share, means over them, and the best of them."""
    losses = np.array([row["best_loss"] for row in same])
    best = min(same, key=lambda row: (row["best_loss"], row["member"]))
    return {
        "setting": _shared(best),
        "mean": float(losses.mean()),
        "std": float(losses.std()) if np.all(np.isfinite(losses)) else float("nan"),  # a seed that diverged at once
        "seeds": len(same),
        "test": _test_means(same),
        "best_member": {name: best.get(name) for name in ("member", "seed", *OUTCOMES)},
    }


def _test_means(same: Sequence[Row]) -> dict[str, float]:
    """The means over seeds of the test scores that all of them have: test trials never choose."""
    means: dict[str, float] = {}
    for score in filter(_is_test_score, same[0]):
        if all(row.get(score) is not None for row in same):
            scores = np.array([row[score] for row in same])
            name = score.removeprefix(TESTED)
            means |= {name: float(scores.mean()), f"{name}_std": float(scores.std())}
    return means


def as_markdown(best: dict[Any, Row], by: str, shown: Sequence[str]) -> str:
    """Writes the best settings as a Markdown table with the settings `shown`."""
    names = {name: None for entry in best.values() for name in entry["test"]}
    tested = [name for name in names if f"{name}_std" in names]
    scores_named = [f"test {name.replace('_', ' ')}" for name in tested]
    head = [by, *shown, "min. validation loss", *scores_named, "best member", "its best epoch"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for value, entry in best.items():
        several, test = entry["seeds"] > 1, entry["test"]
        spread = f" ± {entry['std']:.2g} ({entry['seeds']} seeds)" if several else ""
        scores = [
            f"{test[name]:.4g}" + (f" ± {test[f'{name}_std']:.2g}" if several else "") if name in test else ""
            for name in tested
        ]
        cells = [
            _short(value),
            *(_short(entry["setting"].get(name, "")) for name in shown),
            f"{entry['mean']:.4g}{spread}",
            *scores,
            entry["best_member"]["member"],
            entry["best_member"]["best_epoch"],
        ]
        lines.append("| " + " | ".join("" if cell is None else str(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _short(value: Any) -> Any:
    """The name of a user's own code without its file."""
    return own_code.own_name(value) if own_code.is_own(value) else value


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
        found.setdefault(json.dumps(_shared(row), sort_keys=True), []).append(row)
    return found


def _shared(row: Row) -> Row:
    """The settings of a row without its seed, and without how the run ended."""
    own = {"seed", "member", "task", *OUTCOMES}
    own |= {COUNTS} if isinstance(row.get(COUNTS), bool) else set()  # else it is the option of that name
    return {name: value for name, value in row.items() if name not in own and not _is_test_score(name)}


def _is_test_score(name: str) -> bool:
    return name.startswith(TESTED) and name not in OPTIONS  # as test_on is
