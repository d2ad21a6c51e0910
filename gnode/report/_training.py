"""The part of a report about training: what was trained, with which settings, and how the loss fell."""

import dataclasses
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gnode import errors, plots
from gnode.network import AbstractNetwork
from gnode.report._page import Section
from gnode.tasks import Task
from gnode.train import Run, Settings
from gnode.trained import trained_values
from gnode.wording import plural

ALWAYS_SHOWN = ("epochs", "lr", "batch_size", "weight_decay")
"""Settings that are shown even at their defaults."""
NAMES = {"lr": "learning rate", "lr_schedule": "its schedule", "clip": "largest gradient", "ema": "weight averaging"}
"""Settings whose names say too little."""
MOST_CHANNELS = 6
"""The largest number of channels of the example trial; more make a figure taller than any screen."""


def training_sections(run: Run, figures: dict[str, Figure]) -> list[Section]:
    """Describes the settings and the training of a run, with the figures "losses" and "trial" where they are there."""
    section = Section("Training", [run.summary()])
    captions = {
        "losses": "The loss in every epoch, on a logarithmic scale.",
        "trial": "The first validation trial: input, target and the network's output.",
    }
    section.figures = [(figures[name], caption) for name, caption in captions.items() if name in figures]
    return [section, Section("Settings", rows=_settings(run), folded=True)]


def training_figures(run: Run) -> dict[str, Figure]:
    """Draws the losses, and for a regression an example trial."""
    figures = {}
    named = {"train": "training", "validation": "validation", "validation_raw": "validation, not averaged"}
    known = {name: own for name, own in run.curves.items() if np.any(np.isfinite(own))}
    losses = {label: known[name] for name, label in named.items() if name in known}
    if losses:
        further = {name: own for name, own in known.items() if name not in (*named, "gradient")}
        figures["losses"] = plots.loss_curves(losses, metrics=further)
    if run.task.loss != "cross_entropy":
        figures["trial"] = _trial(run)
    return figures


def _trial(run: Run) -> Figure:
    task = run.task
    if max(task.inputs, task.outputs) <= MOST_CHANNELS:
        return plots.validation_trial(run)
    trials = task.validation.take(slice(0, 1))
    until = slice(0, int(trials.lengths[0]))
    outputs = np.asarray(run.net.run(trials.inputs, dt=trials.dt).outputs)
    targets = np.where(trials.mask[0][:, None] > 0, trials.targets[0], np.nan)
    time = np.cumsum(np.broadcast_to(trials.dt, trials.mask.shape)[0])
    xs, ys, wanted = (values[until, :MOST_CHANNELS] for values in (trials.inputs[0], outputs[0], targets))
    names: dict[str, Any] = {"input_names": task.input_names, "output_names": task.output_names}
    return plots.example_trial(xs, ys, wanted, time=time[until], **names)


def _settings(run: Run) -> list[tuple[str, Any]]:
    return [*_about_network(run.net), *_about_task(run.task), *_about_training(run.settings)]


def _about_network(net: AbstractNetwork) -> list[tuple[str, Any]]:
    solver = getattr(net, "solver", None)
    rows = [("network", f"{type(net.cell).__name__}, {plural(net.cell.state_size, 'dimension')}")]
    rows.append(("trained parameters", f"{trained_values(net):,}"))
    return rows + ([] if solver is None else [("method", solver.method)])


def _about_task(task: Task) -> list[tuple[str, Any]]:
    parts = {"training": task.train, "validation": task.validation, "test": task.test}
    counted = ", ".join(f"{len(trials)} {name}" for name, trials in parts.items() if trials is not None)
    kinds = "classes" if task.loss == "cross_entropy" else "outputs"
    named = {"inputs": task.input_names, kinds: task.classes or task.output_names}
    names = [(kind, errors.shortened(", ".join(given), 300)) for kind, given in named.items() if given]
    return [
        ("task", f"{task.name}, {plural(task.inputs, 'input')}, {task.outputs} {kinds}"),
        ("trials", counted),
        ("a trial", f"{plural(task.bins, 'bin')} of {task.dt:g} s"),
        *names,
    ]


def _about_training(settings: Settings) -> list[tuple[str, Any]]:
    """The settings that are not at their defaults, and those that everybody asks for."""
    rows = []
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if field.name in ALWAYS_SHOWN or not _is(value, field.default):
            rows.append(
                (
                    NAMES.get(field.name, field.name.replace("_", " ")),
                    errors.shown(value) if isinstance(value, tuple) else _text(value),
                )
            )
    return rows


def _is(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, str | int | float | tuple) and value == default)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else errors.shown(value)
