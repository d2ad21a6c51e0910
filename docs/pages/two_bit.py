"""The attractors of two-dimensional gated neural ODEs, from `docs/results/two-bit-*.json` and `.csv`."""

import csv
from typing import Any

from pages import RESULTS, read_result, table

PATH = "docs/results/two-bit.md"

TASKS = {"fixed": "Fixed amplitude", "square": "Square", "rectangle": "Rectangle", "annulus": "Annulus", "ring": "Ring"}
PAPER_LOSS = {"fixed": 3.203e-8, "square": 0.008, "rectangle": 0.0137, "annulus": 1.910e-4, "ring": 0.007}
"""The minimum validation MSE in the paper's Appendix F; for the ring, with the target starting at (2, 0)."""
PAPER_AMPLITUDES = {(0.0, 0.5): 0.028, (0.5, 1.0): 0.005, (2.0, 4.0): 0.490}
"""The paper's errors of the annulus network on pulses whose norm it was not trained on."""


def significant(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def best_setting(name: str) -> str:
    """Returns the settings of the member with the lowest validation loss."""
    with (RESULTS / f"two-bit-{name}.csv").open() as file:
        best = min(csv.DictReader(file), key=lambda row: float(row["best_loss"]))
    lr, decay, batch_size = float(best["lr"]), float(best["weight_decay"]), int(best["batch_size"])
    return f"- {TASKS[name]}: lr {lr:g}, weight decay {decay:g}, batch size {batch_size}"


def attractor_row(name: str, found: dict[str, Any]) -> list[str]:
    slow = found["slow_set"]
    memory = slow["memory"]["median_lifetime_s"]
    items = {check["item"]: check["holds"] for check in slow["definition"] if "," not in check["item"]}
    return [
        TASKS[name],
        significant(found["best_loss"]),
        significant(PAPER_LOSS[name]),
        str(found["fixed_points"]["points_by_status"]["equilibrium"]),
        f"{slow['shape']}, {slow['dimension']}",
        ", ".join(f"{low:.2f} to {high:.2f}" for low, high in zip(slow["output_low"], slow["output_high"])),
        significant(slow["median_speed"]),
        f"over {slow['memory']['horizon_s']:g}" if memory == "infinite" else significant(memory),
        " ".join(f"{item}: {'yes' if holds else 'no'}" for item, holds in items.items()),
    ]


def amplitude_row(entry: dict[str, float]) -> list[str]:
    paper = PAPER_AMPLITUDES.get((entry["low"], entry["high"]))
    trained = " (trained)" if paper is None else ""
    return [f"{entry['low']:g} to {entry['high']:g}{trained}", significant(entry["mean_square"]), significant(paper)]


def gate_row(name: str, gating: dict[str, Any]) -> list[str]:
    gate = ", ".join(f"{value:.3f}" for value in gating["median_gate"])
    return [TASKS[name], gate, significant(gating["median_gate_norm"]), significant(gating["median_drift_norm"])]


def verdict(found: dict[str, dict[str, Any]]) -> str:
    named = [name for name in TASKS if found[name]["slow_set"]["shape"] == name]
    exact = [name for name in TASKS if found[name]["slow_set"]["is_continuous_attractor"]]
    return (
        f"The slow set has the shape that the task asks for in {', '.join(named)}. It is a continuous attractor in the "
        f"strict sense of the definition in {', '.join(exact) or 'none of them'}: slow sets drift."
    )


def page() -> str:
    found = {name: read_result(f"two-bit-{name}") for name in TASKS}
    settings = "\n".join(best_setting(name) for name in TASKS)
    figures = "\n".join(f"**{title}**\n\n![{title}](two-bit-{name}-flow.png)\n" for name, title in TASKS.items())
    columns = ["task", "validation MSE", "paper", "equilibria", "slow set: shape, dimension", "its extent, by output"]
    columns += ["median speed (1/s)", "median memory (s)", "Appendix C"]
    amplitudes = [amplitude_row(entry) for entry in found["annulus"]["errors_by_amplitude"]]
    gates = [gate_row(name, one["slow_set"]["gating"]) for name, one in found.items()]
    return f"""# The attractors that two-dimensional gated neural ODEs learn (Figure 2, ring figure)

Made by `make docs` from `two-bit-TASK.json` (the analysis) and `two-bit-TASK.csv` (all members of the sweep). For each task
the best of the paper's 27 settings, 200 epochs, two hidden layers of 316 units, one seed:

    gnode sweep run flipflop-TASK --model gnode --state 2 --widths 316x316 --lr 1e-4,1e-3,1e-2 \\
        --weight-decay 1e-3,1e-2,1e-1 --batch-size 10,50,100 --epochs 200 --out runs/two-bit-TASK
    gnode analyse runs/two-bit-TASK/members/BEST

(fixed: `--bits 2 --initial affine`; ring: `--start 2:0`), trained on NVIDIA H200, analysed on a CPU.
Best settings:

{settings}

{table(columns, [attractor_row(name, one) for name, one in found.items()])}

*Slow set*: the states in which trials settle when the input stays off. *Memory*: the time until an output is off by 0.1.
*Appendix C*: the items of the paper's definition of a continuous attractor: 1, a connected manifold; 2, no flow on it;
3, spectral abscissa zero on it; to the tolerances that `docs/analysis.md` gives. {verdict(found)}

## Pulses that the annulus network was not trained on
Mean squared error on 200 new trials in each range:

{table(["norm of the pulses", "here", "the paper"], amplitudes)}

## The gate on the attractor
Medians over the slow set of each component of G, of its norm, and of the norm of -h + F:

{table(["task", "G", "norm of G", "norm of -h + F"], gates)}

## Flow fields
In output coordinates, since the state space is two-dimensional and the readout affine. Colour is |dh/dt|; lines are trials.

{figures}"""
