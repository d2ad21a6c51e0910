"""Artefacts as files: NAME.json (the numbers), NAME.md (the same as tables), NAME-panel.png and .pdf (figures).

Everything in the JSON file follows from code and seeds, but for the section `run`: when, where, how long.
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


def write(path: Path, request: Request, made: Outcome, trained: Trained, seconds: float) -> None:
    """Writes the JSON file of an artefact, and the others beside it under the same name."""
    of = request.of
    with files.writing(path.parent):
        pictures = []
        for panel, figure in made.figures.items():
            pictures += plots.save(figure, path.with_name(f"{path.stem}-{panel}"), ("png", "pdf"))
    environment = provenance.environment()
    content = {
        "name": of.name,
        "kind": of.kind,
        "title": of.title,
        "place": of.place,
        "scale": request.scale,
        "seeds": request.seeds,
        "command": request.command,
        "sweeps": {plan.name: plan_of(plan) for plan in request.plans},
        "sweeps_left_out": request.left_out,
        "numbers": [dataclasses.asdict(number) for number in made.numbers],
        "checks": [dataclasses.asdict(check) for check in made.checks],
        "details": made.details,
        "figures": [file.name for file in pictures if file.suffix == ".png"],
        RUN: {
            "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
            "seconds": round(seconds, 1),
            **_training(trained),
            "devices": environment["devices"],
            "commit": environment["commit"],
            "versions": environment["versions"],
        },
    }
    files.write_json(path, content)
    files.write_text(path.with_suffix(".md"), f"# {of.title}\n\n" + tables(files.read_json(path)) + "\n")


def plan_of(plan: SweepPlan) -> dict[str, Any]:
    """A sweep's task and settings."""
    searched = {"search": plan.search, "search_with": dict(plan.search_with)}
    return {"task": plan.task, **plan.settings} | {name: value for name, value in searched.items() if value}


def _training(trained: Trained) -> dict[str, Any]:
    """How long the networks were trained, whenever that was, and on what."""
    sweeps = trained.sweeps.values()
    devices = [device for sweep in sweeps for device in sweep.devices()]
    seconds = sum(sweep.seconds() for sweep in sweeps)
    return {"training_seconds": round(seconds, 1), "trained_on": list(dict.fromkeys(devices))}


def compared(content: dict[str, Any]) -> dict[str, Any]:
    """The part of a JSON file that two runs of the same artefact have in common."""
    return {name: value for name, value in content.items() if name != RUN}


NOT_JUDGED = "(smoke scale)"
"""In place of a verdict where the networks are too small to tell."""


def tables(content: dict[str, Any]) -> str:
    """Numbers and checks in Markdown."""
    parts = []
    if content["numbers"]:
        lines = ["| | here | the paper |", "|---|---|---|"]
        lines += [_row(n["name"], _ours(n), n["published"] or "") for n in content["numbers"]]
        parts.append("\n".join(lines))
    if content["checks"]:
        lines = ["| the paper's claim | holds here | measured |", "|---|---|---|"]
        for check in content["checks"]:
            measured = "; ".join(f"{name}: {plain(value)}" for name, value in check["measured"].items())
            holds = NOT_JUDGED if content["scale"] == "smoke" else verdict(check["holds"])
            lines.append(_row(check["claim"], holds, measured))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def verdict(holds: bool | None) -> str:
    """In a word."""
    return {True: "yes", False: "**no**", None: "not decided"}[holds]


def plain(value: Any) -> str:
    """A value in a table's cell."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:.3g}" if math.isfinite(value) else ("none" if math.isnan(value) else "infinite")
    if isinstance(value, list | tuple):
        return ", ".join(plain(part) for part in value)
    return str(value)


def _ours(number: dict[str, Any]) -> str:
    text = plain(number["ours"])
    if number["std"] is not None and (number["seeds"] or 1) > 1:
        text += f" ± {plain(number['std'])} ({number['seeds']} seeds)"
    return text
