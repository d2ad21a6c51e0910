"""The files of a result: `NAME.json` with all numbers, `NAME.md` with tables, `NAME-PANEL.png` and `.pdf` with figures.

Everything in the JSON file is determined by code and seeds, except for the section `run`: date, duration and device.
"""

import dataclasses
import datetime
import math
from pathlib import Path
from typing import Any

from gnode import files, plots, provenance
from gnode.reproduce.artefact import Outcome, SweepPlan, Trained
from gnode.reproduce.request import Request

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
            pictures += plots.save(figure, path.with_name(f"{path.stem}-{panel}"), ("png", "pdf"))
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
    parts = []
    if content["numbers"]:
        rows = [(n["name"], _mean_and_std(n), n["published"] or "") for n in content["numbers"]]
        if any(published for *_, published in rows):
            lines = ["| | here | the paper |", "|---|---|---|", *(_row(*row) for row in rows)]
        else:
            lines = ["| | here |", "|---|---|", *(_row(*row[:2]) for row in rows)]
        parts.append("\n".join(lines))
    if content["checks"]:
        whose = "claim" if content.get("kind") == "extension" else "the paper's claim"
        lines = [f"| {whose} | holds here | measured |", "|---|---|---|"]
        for claim in content["checks"]:
            measured = "; ".join(f"{name}: {cell_text(value)}" for name, value in claim["measured"].items())
            holds = NOT_JUDGED if content["scale"] == "smoke" else verdict(claim["holds"])
            lines.append(_row(claim["claim"], holds, measured))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def verdict(holds: bool | None) -> str:
    """Returns whether a claim holds, in a word or two of Markdown."""
    return {True: "yes", False: "**no**", None: "not decided"}[holds]


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
