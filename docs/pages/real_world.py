"""The sweeps on real data, from `docs/results/real-world.json` and, for errors further ahead, `real-world-horizon.json`.

The sweeps' folders and their networks are not kept. So the errors further ahead are stored as `error_by_horizon` gave them
when they were printed, to three digits.
"""

from typing import Any

from gnode.cells.registry import cell_label
from pages import read_result, table

PATH = "docs/results/real-world.md"

TITLES = {
    "walker2d": "Walker2D: test mean squared error of the next state",
    "speech": "SpeechCommands, version 1, one third of it: test accuracy (the paper: version 2, all of it)",
    "characters": "CharacterTrajectories, 30% dropped: test accuracy",
}
SCORES = {"walker2d": "test_loss", "speech": "test_accuracy", "characters": "test_accuracy"}
WORDS = 10
"""How many words there are to tell apart."""
PAPER_EPOCHS = 1300
"""What the paper trains for on the letters."""

Entry = dict[str, Any]

HEAD = """# The real-world tasks

Made by `make docs` from [real-world.json](real-world.json), which holds all members of the sweeps below, and
[real-world-horizon.json](real-world-horizon.json), the errors further ahead, to the three digits that were printed. One seed
each; the results with several seeds are those of [table 1](reproduce/table1.md).
"""


def row(entry: Entry, score: str) -> list[str]:
    best = entry["best"]
    settings = [best["lr"], best["weight_decay"], best["init"], best.get("final") or ""]
    scores = [f"{best['mean']:.4g}", f"{best[score]:.4g}", f"{entry['paper']:.3f}"]
    return [cell_label(best["model"]), *map(str, settings), *scores]


def section(task: str, entries: list[Entry]) -> str:
    score = SCORES[task]
    head = ["network", "lr", "decay", "init", "F ends in", "best validation loss", score.replace("_", " "), "paper"]
    rows = [row(entry, score) for entry in sorted(entries, key=lambda entry: entry["best"][score])]
    sweeps = {entry["command"]: entry for entry in entries}
    commands = "\n".join(f"    {command}" for command in sweeps)
    members = sum(len(entry["rows"]) for entry in sweeps.values())
    seconds = sum(entry["seconds"] for entry in sweeps.values())
    where = ", ".join(sorted({device for entry in entries for device in entry["devices"]}))
    version = ", ".join(sorted({f"commit {entry['commit']}, jax {entry['versions']['jax']}" for entry in entries}))
    return f"""## {TITLES[task]}

{table(head, rows)}

{members} members, {seconds:.0f} s of training in all (several processes shared the device) on {where} ({version}). Commands:

{commands}

{AFTER[task](entries)}"""


def after_walker(entries: list[Entry]) -> str:
    found = read_result("real-world-horizon")
    errors = [*found["errors"].values(), found["last_value"]]
    rows = [[str(ahead), *(f"{error[k]:.3g}" for error in errors)] for k, ahead in enumerate(found["ahead"])]
    return f"""On their own: after {found["warm_up"]} bins of data each network goes on from its own predictions
(`gnode.train.error_by_horizon`, the best network of each sweep).

{table(["bins ahead", *(cell_label(model) for model in found["errors"]), "last value"], rows)}

![Error against how many bins ahead](walker2d-horizon.png)
"""


def after_speech(entries: list[Entry]) -> str:
    return f"""How many times as good as guessing one word of {WORDS} the nODE is, on the test clips:

{table(["nODE, init", "F ends in", "here", "paper"], [times_chance(one) for one in entries if is_node(one)])}

![Who is taken for whom by gnODE](speech-confusion.png)
"""


def is_node(entry: Entry) -> bool:
    return entry["best"]["model"] == "node"


def times_chance(entry: Entry) -> list[str]:
    best = entry["best"]
    scores = [f"{WORDS * score:.1f}" for score in (best["test_accuracy"], entry["paper"])]
    return [best["init"], best.get("final") or "", *scores]


def after_characters(entries: list[Entry]) -> str:
    epochs = " and ".join(sorted({str(entry["best"]["epochs"]) for entry in entries}))
    return f"""The schedule is the paper's with fewer epochs per stage ({epochs} in all instead of {PAPER_EPOCHS}).
It was stopped and resumed; the time is that of the last call.

![Who is taken for whom by gnODE](characters-confusion.png)
"""


AFTER = {"walker2d": after_walker, "speech": after_speech, "characters": after_characters}
"""What follows the table of a task."""


def page() -> str:
    """Returns the text of the page."""
    found = read_result("real-world")
    return "\n".join([HEAD, *(section(task, found[task]) for task in TITLES)])
