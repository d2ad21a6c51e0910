"""The files of a result: `NAME.json` with all numbers, `NAME.md` with tables, `NAME-PANEL.png` and `.pdf` with figures.

Everything in the JSON file is determined by code and seeds, except for the section `run`: date, duration and device.
"""

import dataclasses
import datetime
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnode import files, plots, provenance
from gnode.reproduce.artefact import Outcome, SweepPlan, Trained
from gnode.reproduce.drawing import FORMATS
from gnode.reproduce.request import Request
from gnode.reproduce.verdicts import FAILS, of_stored

RUN = "run"
"""The only section that differs between two runs of the same artefact."""


def write_result(
    path: Path, request: Request, outcome: Outcome, trained: Trained, seconds: float, training_code: str | None
) -> None:
    """Writes the JSON file `path` of a result, and beside it its Markdown file and its figures."""
    artefact = request.artefact
    with files.writing(path.parent):
        pictures = []
        for panel, figure in outcome.figures.items():
            pictures += plots.save(figure, path.with_name(f"{path.stem}-{panel}"), FORMATS)
    environment = provenance.environment()
    content = {
        "name": artefact.name,
        "kind": artefact.kind,
        "title": artefact.title,
        "place": artefact.place,
        "scale": request.scale,
        "seeds": request.seeds,
        "command": request.command,
        "sweeps": {plan.name: plan_settings(plan) for plan in request.plans},
        "sweeps_left_out": request.left_out,
        "numbers": [dataclasses.asdict(number) for number in outcome.numbers],
        "checks": [dataclasses.asdict(claim) for claim in outcome.claims],
        "details": outcome.details,
        "figures": [file.name for file in pictures if file.suffix == ".png"],
        RUN: {
            "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
            "seconds": round(seconds, 1),
            **_training_time(trained),
            "training_code": training_code,
            "devices": environment["devices"],
            "commit": environment["commit"],
            "versions": environment["versions"],
        },
    }
    files.write_json(path, content)
    files.write_text(path.with_suffix(".md"), markdown(files.read_json(path)))


def markdown(content: dict[str, Any]) -> str:
    """Returns the Markdown file of a result."""
    return f"# {content.get('title', content['name'])}\n\n{tables(content)}\n"


def plan_settings(plan: SweepPlan) -> dict[str, Any]:
    """Returns the task and the settings of a sweep, as a result stores them."""
    searched = {"search": plan.search, "search_with": dict(plan.search_with)}
    return {"task": plan.task, **plan.settings} | {name: value for name, value in searched.items() if value}


def _training_time(trained: Trained) -> dict[str, Any]:
    """Returns how long the networks were trained and on which devices, also if an earlier run trained them."""
    sweeps = trained.sweeps.values()
    devices = [device for sweep in sweeps for device in sweep.devices()]
    seconds = sum(sweep.seconds() for sweep in sweeps)
    return {"training_seconds": round(seconds, 1), "trained_on": list(dict.fromkeys(devices))}


def without_run_section(content: dict[str, Any]) -> dict[str, Any]:
    """Returns the part of a result that is the same in every run of the same request."""
    return {name: value for name, value in content.items() if name != RUN}


NOT_JUDGED = "(smoke scale)"
"""The verdict at smoke scale, where the networks are too small to decide a claim."""


def tables(content: dict[str, Any]) -> str:
    """Returns the numbers and the claims of a result as Markdown tables."""
    return "\n\n".join(table for table in (numbers_table(content), claims_table(content)) if table)


def numbers_table(content: Mapping[str, Any]) -> str:
    """Returns the numbers of a result as a table, with a column for the published ones if there are any."""
    if not content["numbers"]:
        return ""
    rows = [(n["name"], _mean_and_std(n), n["published"] or "") for n in content["numbers"]]
    if any(published for *_, published in rows):
        lines = ["| | here | the paper |", "|---|---|---|", *(row(*cells) for cells in rows)]
    else:
        lines = ["| | here |", "|---|---|", *(row(*cells[:2]) for cells in rows)]
    return "\n".join(lines)


def claims_table(content: Mapping[str, Any]) -> str:
    """Returns the claims of a result as a table, with their verdicts and what they were decided by."""
    if not content["checks"]:
        return ""
    whose = "claim" if content.get("kind") == "extension" else "the paper's claim"
    lines = [f"| {whose} | holds here | measured |", "|---|---|---|"]
    for claim in content["checks"]:
        judged = NOT_JUDGED if content["scale"] == "smoke" else verdict(claim)
        lines.append(row(claim["claim"], judged, measured(claim)))
    return "\n".join(lines)


def measured(claim: Mapping[str, Any]) -> str:
    """Returns what a stored claim was decided by, and its note, as the text of a table's cell."""
    found = "; ".join(f"{name}: {cell_text(value)}" for name, value in claim["measured"].items())
    return found + (f" ({claim['note']})" if claim.get("note") else "")


def row(*cells: str) -> str:
    """Returns a row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def verdict(claim: Mapping[str, Any]) -> str:
    """Returns the verdict of a stored claim in a word or two of Markdown."""
    said = of_stored(claim)
    return f"**{said}**" if said == FAILS else said


def cell_text(value: Any) -> str:
    """Returns a value as the text of a table's cell."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:.3g}" if math.isfinite(value) else ("none" if math.isnan(value) else "infinite")
    if isinstance(value, list | tuple):
        return ", ".join(cell_text(part) for part in value)
    return str(value)


def _mean_and_std(number: dict[str, Any]) -> str:
    text = cell_text(number["ours"])
    if number["std"] is not None and (number["seeds"] or 1) > 1:
        text += f" ± {cell_text(number['std'])} ({number['seeds']} seeds)"
    return text
