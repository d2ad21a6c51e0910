"""Beyond the paper: what new trials and noise do to a memory (square task, N = 2, and variable three-bit task, N = 6).

Shows: the validation error of gnODEs that are trained on the same 500 trials throughout, on 500 new ones in every epoch, or
on new ones in every update, and with noise on the states, the inputs or the initial states; and how the memories of each
last. A memory is the output at the end of a validation trial. From then on the network runs without input; its drift is how
far the output has moved after one second, its memory time when it has moved by more than 0.1 (at most 60 s are simulated).
Networks with noise are trained on new trials in every update, 30,000 of them, so the row to compare them with is "square,
new every update". Noise on inputs makes the network ignore small pulses, so its error without noise is larger.

Command: gnode reproduce run fresh-trials --scale paper
Cost at paper scale: 55 networks of 30,000 updates and 30 of 100,000, 10 minutes on one H200; smoke: 80 s on two cores.

Published: nothing; the paper trains on 500 trials without noise.
"""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from gnode import analysis
from gnode.cells import CELLS
from gnode.plots.seed_rows import Row, RowPanel, seed_rows
from gnode.reproduce.artefact import Artefact, Claim, Number, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Evidence
from gnode.reproduce.selection import mean_over_seeds, trained_members
from gnode.reproduce.verdicts import plainly
from gnode.sweeps import Sweep

TASKS = {"square": ("flipflop-square", 2), "variable": ("flipflop-variable", 6)}
TRAINING: dict[str, Any] = {
    "model": "gnode",
    "widths": (100, 100, 100),
    "lr": 3e-3,
    "weight_decay": 1e-3,
    "batch_size": 10,
    "clip": 1.0,
    "ema": 0.999,
    "lr_schedule": "cosine",
}
LENGTHS = {"": 600, "-long": 2000}
"""Epochs of 50 updates: 30,000 and 100,000 updates."""
SEEDS = [0, 1, 2, 3, 4]
FRESH = ["no", "epoch", "update"]
NOISE = {"state_noise": [3e-4, 1e-3], "input_noise": [0.02, 0.1], "initial_noise": [0.1]}
"""A state noise of 1e-3 moves a memory by 0.01 in every bin: sigma sqrt(dt) / tau with dt = tau = 0.01 s."""
SMOKE = {"widths": (16, 16), "epochs": 20, "trials": 40, "validation": 20, "bins": 40}

TOLERANCE, HORIZON = 0.1, 60.0
LONG = ", 100,000"
LABELS = {
    "no": "same trials",
    "epoch": "new every epoch",
    "update": "new every update",
    "state_noise": "state noise",
    "input_noise": "input noise",
    "initial_noise": "initial noise",
}


def plans(scale: str) -> list[SweepPlan]:
    small = SMOKE | {"seed": SEEDS[:2]} if scale == "smoke" else {"seed": SEEDS}
    made = []
    for name, (task, state) in TASKS.items():
        for length, epochs in LENGTHS.items():
            own = TRAINING | {"state": state, "epochs": epochs} | small | {"fresh": FRESH}
            made.append(SweepPlan(f"fresh-{name}{length}", task, own))
    for noise, values in NOISE.items():
        task, state = TASKS["square"]
        own = TRAINING | {"state": state, "epochs": LENGTHS[""]} | small | {"fresh": "update", noise: values}
        made.append(SweepPlan(f"{noise.replace('_', '-')}-square", task, own))
    return made


def memory_of(sweep: Sweep, member: int, horizon: float) -> dict[str, float]:
    """Measures how the memories of a network last from the end of its validation trials."""
    run = sweep.load(member)
    states = np.asarray(run.states[:, -1], np.float64)
    memory = analysis.memory_lifetime(run.net, states, dt=run.dt, tolerance=TOLERANCE, horizon=horizon)
    second = min(round(1 / run.dt), len(memory.times) - 1)
    return {
        "mse": run.best_loss,
        "drift": float(memory.error_quartiles[1, second]),
        "memory": float(np.median(np.minimum(memory.lifetimes, horizon))),
    }


def conditions(sweep: Sweep) -> dict[str, dict[str, Any]]:
    """The settings that are compared in a sweep, by what a reader calls them."""
    axis = next((name for name in NOISE if name in sweep.members[0]), "fresh")
    values = dict.fromkeys(member[axis] for member in sweep.members)
    return {LABELS[value] if axis == "fresh" else f"{LABELS[axis]} {value:g}": {axis: value} for value in values}


def analyse(trained: Trained) -> Outcome:
    horizon = 2.0 if trained.is_smoke else HORIZON
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    for plan in plans(trained.scale):
        for sweep in trained.available(plan.name):
            task = next(name for name in TASKS if name in plan.name)
            for label, where in conditions(sweep).items():
                measured = [memory_of(sweep, member, horizon) for member in trained_members(sweep, **where)]
                found.setdefault(task, {})[label + (LONG if plan.name.endswith("-long") else "")] = measured
    numbers = [number for task, own in found.items() for number in _numbers(task, own)]
    details = {"measured": found}
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), draw(details), details)


QUANTITIES = {"mse": "Validation MSE", "memory": "Memory time (s)"}


def draw(details: Mapping[str, Any]) -> dict[str, Any]:
    found, blue = details["measured"], CELLS["gnode"].colour
    panels = [
        RowPanel(
            f"{task} task, N = {TASKS[task][1]}",
            [
                Row(label.removesuffix(LONG), [one[key] for one in seeds], blue, hollow=not label.endswith(LONG))
                for label, seeds in own.items()
            ],
            quantity,
            bounds={"longest simulation": HORIZON} if key == "memory" else {},
        )
        for key, quantity in QUANTITIES.items()
        for task, own in found.items()
    ]
    names = {"hollow": "a seed, 30,000 updates", "filled": "a seed, 100,000 updates"}
    return {"a": seed_rows(panels, columns=len(found), names=names)} if panels else {}


def _numbers(task: str, own: dict[str, list[dict[str, float]]]) -> list[Number]:
    rows = []
    for label, seeds in own.items():
        rows.append(mean_over_seeds(f"{task}, {label}: validation MSE", [one["mse"] for one in seeds]))
        rows.append(mean_over_seeds(f"{task}, {label}: drift in one second", [one["drift"] for one in seeds]))
        rows.append(mean_over_seeds(f"{task}, {label}: memory time (s)", [one["memory"] for one in seeds]))
    return rows


def judge(evidence: Evidence) -> list[Claim]:
    found: dict[str, dict[str, list[dict[str, float]]]] = evidence.detail("measured")

    def median(task: str, label: str, key: str) -> float:
        return float(np.median([one[key] for one in found[task][label]]))

    claims = []
    for task, length in itertools.product(TASKS, ("", LONG)):
        same, new = LABELS["no"] + length, LABELS["update"] + length
        if not {same, new} <= found.get(task, {}).keys():
            continue
        after_updates = f"{task}{length or ', 30,000'} updates"
        before, after = median(task, same, "mse"), median(task, new, "mse")
        lasted, lasts = median(task, same, "memory"), median(task, new, "memory")
        claims.append(
            Claim(
                f"New trials in every update lower the median validation error at least tenfold ({after_updates}).",
                plainly(10 * after <= before),
                {same: before, new: after},
            )
        )
        claims.append(
            Claim(
                f"They at least double the median memory time ({after_updates}).",
                plainly(lasts >= 2 * lasted),
                {same: lasted, new: lasts},
            )
        )
    return claims


ARTEFACT = Artefact(
    name="fresh-trials",
    kind="extension",
    title="New trials, noise and memory",
    place="beyond the paper",
    scales={"smoke": "80 s on two cores", "paper": "10 min on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    may_be_partial=True,
    draw=draw,
    captions={
        "a": "What the same 500 trials, new trials and noise make of gnODEs. (A, B) Validation error. (C, D) Memory "
        "time: how long the output at the end of a trial stays within 0.1 of where it was; it is simulated for 60 s at "
        "most (dashed). Points are seeds, bars their medians. Networks with noise were trained for 30,000 updates, and "
        "on the square alone.",
    },
)
