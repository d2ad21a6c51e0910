"""In what a result at less than paper scale is less: its settings beside those of the paper's scale."""

from collections.abc import Mapping
from typing import Any

from gnode.reproduce import result_files
from gnode.reproduce.artefact import Artefact
from gnode.train.spec import TASK_DEFAULTS

SHOWN = {
    "state": "N",
    "widths": "hidden layers",
    "tau": "tau",
    "lr": "learning rate",
    "weight_decay": "decay",
    "batch_size": "batch size",
    "penalty": "l2",
    "parts": "thirds of the recordings",
    "seed": "seeds",
    "epochs": "epochs",
}
"""Settings that scales differ in, as a reader would call them."""

PAPER = "paper"


def smaller_than_paper(of: Artefact, scale: str, sweeps: Mapping[str, Mapping[str, Any]]) -> str:
    """What differs in the `sweeps` of a result from the paper's scale, which stands in brackets; nothing if nothing does."""
    if PAPER not in of.scales:
        return ""
    whole = {plan.name: result_files.plan_of(plan) for plan in of.plans(PAPER)}
    names = [plan.name for plan in of.plans(scale)]
    # A sweep whose name tells a size has another name at another scale, and the same place.
    in_place = dict(zip(names, whole)) if len(names) == len(whole) else {}
    found: dict[str, None] = {}
    for name, own in sweeps.items():
        theirs = whole.get(name) or whole.get(in_place.get(name, ""), own)
        for setting, label in SHOWN.items():
            here, there = _told(own, setting), _told(theirs, setting)
            if here != there:
                found[f"{label} {here} ({there})"] = None
    missing = [] if in_place else [name for name in whole if name not in names]
    return "; ".join([*found, *([f"without {', '.join(missing)}"] if missing else [])])


def _told(plan: Mapping[str, Any], setting: str) -> str:
    """A setting of a sweep in words: its values, or how many there are."""
    settings = TASK_DEFAULTS.get(plan["task"], {}) | dict(plan)
    if setting == "seed":
        seeds = settings.get("seed", 0)
        return str(len(seeds)) if isinstance(seeds, list | tuple) else "1"
    if setting == "epochs" and settings.get("schedule") and "epochs" not in plan:
        return str(sum(epochs for _, epochs in settings["schedule"]))
    return result_files.plain(settings.get(setting, "all" if setting == "parts" else ""))
