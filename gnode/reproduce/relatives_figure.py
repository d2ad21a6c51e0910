"""The figure of `relatives`: a row for each network, gated below ungated, and a panel for each data set."""

from collections.abc import Mapping
from typing import Any

from gnode.cells import CELLS
from gnode.plots.seed_rows import Row, RowPanel, seed_rows
from gnode.reproduce.relatives import DATA, KINDS, PAIRS, label_of

COLUMNS = 4
"""How many data sets are side by side."""
NAMES = {"filled": "a seed", "hollow": "a seed of a network without the gate of its pair"}
NAMES |= {"published": "published mean"}
CAPTION = (
    "The score of every network on every data set. A network has the colour that it has everywhere; thin lines enclose a "
    "network without a gate (circles) and with one (points), and below them are networks without such a partner. Points "
    "are seeds, bars their medians, the diamond a published mean. Panels of one task have one scale; on the left of it "
    "are lower errors, and on the right higher accuracies."
)


def draw(details: Mapping[str, Any], published: Mapping[tuple[str, str], float]) -> dict[str, Any]:
    """Draws the scores that are stored, beside published means by data set and network."""
    stored = {data: details[data] for data in DATA if data in details}
    found = {kind for own in stored.values() for kind in own}
    pairs = [[kind for kind in pair if kind in found] for pair in PAIRS.values()]
    paired = [kind for pair in pairs for kind in pair]
    order = paired + [kind for kind in KINDS if kind in found and kind not in paired]
    ungated = {plain for plain, _ in PAIRS.values()}
    panels = []
    for data, own in stored.items():
        rows = [
            Row(
                label_of(kind),
                own.get(kind, {}).get("scores", ()),
                CELLS[KINDS[kind].model].colour,
                hollow=kind in ungated,
                published=(published[data, kind], 0.0) if (data, kind) in published else None,
            )
            for kind in order
        ]
        of = DATA[data]
        quantity = of.score[0].upper() + of.score[1:]
        rules = [label_of(pair[-1]) for pair in pairs if pair]
        panels.append(RowPanel(data, rows, quantity, of.task, log=not of.more_is_better, rules=rules))
    return {"a": seed_rows(panels, columns=COLUMNS, names=NAMES)} if panels else {}
