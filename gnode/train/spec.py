"""A run as one flat list of named settings: what the shell, a sweep and a results table all speak of.

`realise` turns such a list into a network, a task, training settings and a key. The command `gnode train` and every
member of a sweep go through it, so a member is the same run as one made alone.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from gnode import errors, tasks
from gnode.init import INITIALISERS, SMALL_BIAS_STD
from gnode.models import CELL_OPTIONS, build
from gnode.network import INITIAL_STATES, Network
from gnode.solve import ADJOINTS, INTERPOLATIONS, KERNELS, MEMORIES, METHODS, PRODUCTS
from gnode.tasks import Task
from gnode.train.settings import DECAYS, VALIDATE, Settings, growing
from gnode.types import Key


def _widths(text: str) -> tuple[int, ...]:
    return () if text in ("", "none") else tuple(int(part) for part in text.split("x"))


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(":"))


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(":") if part.strip())


def _schedule(text: str) -> tuple[tuple[int, int], ...]:
    return tuple((int(stage.split("@")[0]), int(stage.split("@")[1])) for stage in text.split("+"))


def _yes_or_no(text: str) -> bool:
    return {"yes": True, "true": True, "no": False, "false": False}[text.lower()]


@dataclasses.dataclass(frozen=True)
class Option:
    """One setting: which part of a run it belongs to, how its text is read, and what it means."""

    part: str
    read: Callable[[str], Any]
    help: str
    example: str = ""


OPTIONS: dict[str, Option] = {
    "bits": Option("task", int, "Channels of a flip-flop task."),
    "trials": Option("task", int, "Training trials."),
    "bins": Option("task", int, "Bins in a trial."),
    "dt": Option("task", float, "Length of a bin in seconds."),
    "span": Option("task", _numbers, "Range of the pulses' size, as low:high.", "0.5:1"),
    "start": Option(
        "task",
        _numbers,
        "Target before the first pulse, or where the noise starts (ou), as x:y (one per channel).",
        "2:0",
    ),
    "reading": Option("task", str, "Details by the paper's 'text' or its public 'code'."),
    "data_seed": Option("task", int, "Seed of the data."),
    "channels": Option("task", int, "Channels of the noise to fit (ou)."),
    "tau_ou": Option("task", float, "Time constant of the noise in seconds (ou)."),
    "lambda_ou": Option("task", float, "Decay of the noise, negative (ou)."),
    "sigma_ou": Option("task", float, "Scale of the noise (ou)."),
    "dropped": Option("task", float, "Share of bins that is missing (characters)."),
    "version": Option("task", int, "Version of the data (speech): 1 or 2."),
    "parts": Option("task", int, "How many thirds of the data to use (speech)."),
    "fill": Option("task", str, f"Missing inputs: {', '.join(tasks.FILLS)} (only hold looks back alone)."),
    "timestamp": Option("task", str, "Time as the first input: relative, seconds or none."),
    "counts": Option("task", _yes_or_no, "Inputs that count observations so far: yes or no.", "yes"),
    "ends": Option("task", str, "Bin that is judged (characters): last of the padded trial, or its own."),
    "standardise": Option("task", _yes_or_no, "Own file: inputs to mean 0 and deviation 1, yes or no.", "yes"),
    "trial_column": Option("task", str, "Own .csv: the column that tells trials apart."),
    "time_column": Option("task", str, "Own .csv: the column of times in seconds."),
    "input_columns": Option("task", _names, "Own .csv: input columns, as x:y.", "x:y"),
    "target_columns": Option("task", _names, "Own .csv: columns to predict, as x:y.", "x:y"),
    "label_column": Option("task", str, "Own .csv: the column of a trial's class."),
    "validation": Option("task", float, "Own file: share of trials to validate on; flip-flops: their number."),
    "test": Option("task", float, "Own file: share of trials to test on."),
    "model": Option("network", str, f"Network: {', '.join(CELL_OPTIONS)}."),
    "state": Option("network", int, "State size N."),
    "widths": Option("network", _widths, "Hidden layers of F, as 316x316.", "316x316"),
    "gate_widths": Option("network", _widths, "Hidden layers of G, as 100x100, or 'none'.", "100"),
    "hidden": Option("network", str, "Activation of hidden layers."),
    "final": Option("network", str, "Final activation of F."),
    "leak": Option("network", _yes_or_no, "Whether the leak -h is there: yes or no.", "no"),
    "activate_state": Option("network", _yes_or_no, "Send h through the activation before W0: yes or no.", "yes"),
    "gate": Option("network", _yes_or_no, "LEM with its gates: yes or no.", "no"),
    "tau": Option("network", float, "Time constant in seconds."),
    "learn_tau": Option("network", str, "Train tau: no, shared or per_unit."),
    "init": Option("network", str, f"Weights: {', '.join(INITIALISERS)}."),
    "bias_std": Option("network", float, "Standard deviation of the biases at the start."),
    "initial": Option("network", str, f"Initial state: {', '.join(INITIAL_STATES)}."),
    "readout_widths": Option("network", _widths, "Hidden layers of the readout, as 64x64.", "64"),
    "method": Option("solver", str, f"Integrator: {', '.join(METHODS)}."),
    "substeps": Option("solver", int, "Steps per bin of a fixed-step method."),
    "interpolation": Option("solver", str, f"Input between samples: {', '.join(INTERPOLATIONS)}."),
    "adjoint": Option("solver", str, f"Gradient: {', '.join(ADJOINTS)}."),
    "memory": Option("solver", str, f"Backward pass: {', '.join(MEMORIES)}."),
    "kernel": Option("solver", str, f"All bins by one GPU kernel or by a loop: {', '.join(KERNELS)}."),
    "products": Option("solver", str, f"Precision of products in the GPU kernels: {', '.join(PRODUCTS)}."),
    "cores": Option("solver", int, "Cores of a CPU that share the trials of a batch."),
    "rtol": Option("solver", float, "Relative tolerance of an adaptive method."),
    "atol": Option("solver", float, "Absolute tolerance of an adaptive method."),
    "epochs": Option("fit", int, "Passes over the training trials."),
    "lr": Option("fit", float, "Learning rate."),
    "weight_decay": Option("fit", float, "Weight decay."),
    "batch_size": Option("fit", int, "Trials per update."),
    "clip": Option("fit", float, "Largest norm of the gradient."),
    "penalty": Option("fit", float, "l2 penalty on the weights."),
    "state_penalty": Option("fit", float, "l2 penalty on the states."),
    "schedule": Option("fit", _schedule, "Growing time span, as bins@epochs+bins@epochs.", "14@100+28@100"),
    "shuffle": Option("fit", _yes_or_no, "New order of trials each epoch: yes or no.", "no"),
    "validate": Option("fit", str, f"When to validate: {', '.join(VALIDATE)}."),
    "decay": Option("fit", str, f"Weight decay times learning rate or not: {', '.join(DECAYS)}."),
    "patience": Option("fit", int, "Stop after that many epochs without improvement."),
    "seed": Option("seed", int, "Seed of the weights and of the order of trials."),
}
"""Every setting of a run, by name."""

TASK_DEFAULTS: dict[str, dict[str, Any]] = {
    "flipflop-fixed": {"state": 6, "widths": (100, 100, 100), "tau": 0.01, "initial": "random"},
    "flipflop-variable": {"state": 6, "widths": (100, 100, 100), "tau": 0.01, "initial": "random"},
}
TASK_DEFAULTS["ou"] = {
    "state": 100,
    "widths": (1000,),
    "tau": 1.0,
    "initial": "affine",
    "init": "glorot_normal",
    "bias_std": SMALL_BIAS_STD,
    "epochs": 2000,
    "batch_size": 1,
}
REAL_WORLD_DEFAULTS = {"state": 32, "widths": (316, 316), "initial": "affine"}
TASK_DEFAULTS |= {
    "characters": REAL_WORLD_DEFAULTS | {"batch_size": 32, "schedule": growing(182, 14, 100)},
    "walker2d": REAL_WORLD_DEFAULTS | {"batch_size": 256, "schedule": growing(84, 14, 100, last=200)},
    "speech": {
        "state": 100,
        "widths": (1000,),
        "gate_widths": (1000,),
        "initial": "affine",
        "batch_size": 256,
        "epochs": 300,
    },
}
"""Appendix H; tau is the length of a bin."""

TWO_BIT_DEFAULTS = {"state": 2, "widths": (316, 316), "tau": 0.01, "initial": "affine"}
"""What the paper uses: three bits with a fixed initial state, two bits with a learned one."""

DEFAULTS: dict[str, Any] = {"model": "gnode", "seed": 0, "data_seed": 0}


class Realised(NamedTuple):
    """A run, ready to be made: `gnode.fit(net, task, key=key, **settings)`."""

    net: Network
    task: Task
    settings: Settings
    key: Key


def read_one(name: str, text: str) -> Any:
    """The value of a setting of one run: a text with commas would be several, which is a sweep's."""
    if "," in text and OPTIONS[name].read is not _widths:
        raise errors.ArgumentError(
            f"{name} is {text!r}, several values; train them with gnode sweep, or write the parts of one value with colons."
        )
    return read(name, text.replace(",", "x"))


def write(name: str, value: Any) -> Any:
    """A value as `read` takes it; numbers and words as they are."""
    if not isinstance(value, tuple):
        return value
    if OPTIONS[name].read is _schedule:
        return "+".join(f"{bins}@{epochs}" for bins, epochs in value)
    words = [part if isinstance(part, str) else f"{part:g}" for part in value]
    return ("x" if OPTIONS[name].read is _widths else ":").join(words)


def read(name: str, text: str) -> Any:
    """The value of a setting from its text; a text that cannot be read is an error with an example."""
    option = OPTIONS[errors.one_of("setting", name, OPTIONS)]
    try:
        return option.read(text.strip())
    except (ValueError, KeyError, IndexError) as problem:
        example = option.example or {int: "3", float: "1e-3"}.get(option.read, "")  # type: ignore[call-overload]
        raise errors.ArgumentError(f"{name} is {text!r}, which cannot be read; write it like {example}.") from problem


def with_defaults(task: str, given: dict[str, Any], *, drop_unused: bool = False) -> dict[str, Any]:
    """All settings that `given` leaves open and that have a default for this task and model.

    With `drop_unused`, settings that the model does not have are left out (in a grid, the widths of an RNN) rather than
    refused.
    """
    for name in given:
        errors.one_of("setting", name, OPTIONS)
    task = tasks.ALIASES.get(task, task)
    defaults = TASK_DEFAULTS.get(task, TWO_BIT_DEFAULTS if task in tasks.TASKS else {})
    full = DEFAULTS | given
    model = errors.one_of("model", full["model"], CELL_OPTIONS)
    cell_settings = {name for options in CELL_OPTIONS.values() for name in options}
    unused = cell_settings - set(CELL_OPTIONS[model])
    full |= {name: value for name, value in defaults.items() if name not in given and name not in unused}
    if "epochs" in given and "schedule" not in given:
        full.pop("schedule", None)  # a task's own schedule is for its own number of epochs
    if full.get("schedule") and "epochs" not in given:
        full["epochs"] = sum(epochs for _, epochs in full["schedule"])
    return {name: value for name, value in full.items() if not (drop_unused and name in unused)}


def make_task(task: str, settings: dict[str, Any]) -> Task:
    """The task with those of the settings that are its own."""
    options = {name: settings[name] for name in settings if OPTIONS[name].part == "task" and name != "data_seed"}
    return tasks.make(task, key=settings.get("data_seed", 0), **options)


def realise(settings: dict[str, Any], task: Task) -> Realised:
    """The run that full settings (see `with_defaults`) describe, on a task that was made from them."""
    key_net, key_fit = jax.random.split(jax.random.key(settings["seed"]))
    part = {kind: _part(settings, kind) for kind in ("network", "solver", "fit")}
    network = {"tau": task.dt, "state": 2 * task.outputs} | part["network"]
    net = build(network.pop("model"), task.inputs, task.outputs, key=key_net, solver=part["solver"], **network)
    return Realised(net, task, Settings(**part["fit"]), key_fit)


def _part(settings: dict[str, Any], part: str) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if OPTIONS[name].part == part}
