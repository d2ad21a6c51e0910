"""The grid of the flip-flop with six units, from `docs/results/variable-n6.csv` (its members) and `.json` (where it ran)."""

import csv
import operator
from collections.abc import Callable

from gnode.cells.registry import cell_label
from pages import RESULTS, read_result, table

PATH = "docs/results/variable-n6.md"
NAME = "variable-n6"

Row = dict[str, str]
CLAIMS: dict[str, tuple[str, Callable[[float, float], bool], float]] = {
    "gnode": ("<", operator.lt, 0.01),
    "rnn": (">=", operator.ge, 0.025),
    "mgru": (">=", operator.ge, 0.025),
    "gru": (">=", operator.ge, 0.025),
    "node": (">=", operator.ge, 0.025),
}
"""What the paper's Figure 1B shows of each model's minimum validation loss."""


def members() -> list[Row]:
    """Returns every member of the sweep, as its table has it."""
    with (RESULTS / f"{NAME}.csv").open() as file:
        return list(csv.DictReader(file))


def best_by_model(rows: list[Row]) -> dict[str, Row]:
    """Returns the member with the lowest loss of each model, in the order of the sweep."""
    best: dict[str, Row] = {}
    for row in rows:
        known = best.get(row["model"])
        if known is None or float(row["best_loss"]) < float(known["best_loss"]):
            best[row["model"]] = row
    return best


def loss(row: Row) -> str:
    return f"{float(row['best_loss']):.4g}"


def claims(best: dict[str, Row]) -> list[list[str]]:
    rows = []
    for model, (sign, holds, bound) in CLAIMS.items():
        verdict = "yes" if holds(float(best[model]["best_loss"]), bound) else "**no**"
        rows.append([f"{cell_label(model)} {sign} {bound}", loss(best[model]), verdict])
    return rows


def page() -> str:
    """Returns the text of the page."""
    rows, ran = members(), read_result(NAME)
    best = best_by_model(rows)
    diverged = sum(row["status"] == "diverged" for row in rows)
    settings = ["model", "widths", "lr", "weight_decay", "batch_size"]
    lines = [[row[name] for name in settings] + [loss(row), row["best_epoch"], row["member"]] for row in best.values()]
    versions = ran["versions"]
    return f"""# Variable amplitude, three bits, N = 6 (Figure 1B and 1C)

Made by `make docs` from [{NAME}.csv]({NAME}.csv), the table of all members, and [{NAME}.json]({NAME}.json), which says where
they ran:

    {ran["command"]}

{len(rows)} members, {diverged} of them diverged; {ran["seconds"]:.0f} s of training on {", ".join(ran["devices"])}
(gnode {versions["gnode"]}, jax {versions["jax"]}, commit {ran["commit"]}). Loss: mean squared error on the
{ran["validation_trials"]} validation trials, its minimum over epochs.

{table([*settings, "min. validation loss", "epoch", "member"], lines)}

{table(["the paper", "here", "holds"], claims(best))}

![Minimum validation loss of every member, by model]({NAME}-strip.png)

![Validation loss of each model's best member]({NAME}-curves.png)
"""
