"""Describes how a result at a smaller scale differs from the paper's scale: the settings of both, side by side."""

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
"""The settings that differ between scales, each with its name on the page."""

PAPER = "paper"


def smaller_than_paper(artefact: Artefact, scale: str, sweeps: Mapping[str, Mapping[str, Any]]) -> str:
    """Lists the settings of a result's `sweeps` that differ from those of the paper's scale, which stand in brackets.

    **Returns:** the list as text; it is empty if nothing differs.
    """
    if PAPER not in artefact.scales:
        return ""
    full = {plan.name: result_files.plan_settings(plan) for plan in artefact.plans(PAPER)}
    names = [plan.name for plan in artefact.plans(scale)]
    # A sweep whose name contains a size has another name at another scale, but the same position among the sweeps.
    by_position = dict(zip(names, full)) if len(names) == len(full) else {}
    found: dict[str, None] = {}
    for name, own in sweeps.items():
        theirs = full.get(name) or full.get(by_position.get(name, ""), own)
        for setting, label in SHOWN.items():
            here, there = _setting_text(own, setting), _setting_text(theirs, setting)
            if here != there:
                found[f"{label} {here} ({there})"] = None
    missing = [] if by_position else [name for name in full if name not in names]
    return "; ".join([*found, *([f"without {', '.join(missing)}"] if missing else [])])


def _setting_text(plan: Mapping[str, Any], setting: str) -> str:
    """Returns the values of a setting as text; for seeds, their number."""
    settings = TASK_DEFAULTS.get(plan["task"], {}) | dict(plan)
    if setting == "seed":
        seeds = settings.get("seed", 0)
        return str(len(seeds)) if isinstance(seeds, list | tuple) else "1"
    if setting == "epochs" and settings.get("spans") and "epochs" not in plan:
        return str(sum(epochs for _, epochs in settings["spans"]))
    return result_files.cell_text(settings.get(setting, "all" if setting == "parts" else ""))
