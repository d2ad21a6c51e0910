"""Training with and without the fused kernel, from `docs/results/kernel.json`."""

from typing import Any

import numpy as np

from pages import read_result, table

PATH = "docs/results/kernel.md"

SWEEP = (
    "gnode sweep run flipflop-variable --bits 3 --model gnode --state 6{} --epochs 600 --lr 0.0001,0.001,0.01 "
    "--weight-decay 0.001,0.01,0.1 --batch-size 10,50,100 --out runs/kernel/{}"
)
COMMANDS = {
    "fused, tf32": SWEEP.format("", "grid-fused"),
    "fused, bfloat16": SWEEP.format(" --products bfloat16", "grid-bf16"),
    "loop": SWEEP.format(" --kernel loop", "grid-loop"),
}
"""The command of each sweep over the grid of the flip-flop task, by kernel."""

WALKER = (
    "gnode sweep run walker2d --model gnode --state 32 --widths 100x100 --kernel loop,fused --epochs 150 --lr 0.001 "
    "--weight-decay 0.1 --seed 0,1,2 --out runs/kernel/walker-kernel"
)
STABLE_LR = 1e-3
"""The largest learning rate of the comparison: with larger ones some settings diverge or nearly so, with any kernel."""


def grid_section(stored: dict[str, Any]) -> str:
    losses = {name: {tuple(row[:3]): row[3] for row in stored["losses"][name]} for name in COMMANDS}
    stable = [setting for setting in losses["loop"] if setting[0] <= STABLE_LR]
    summary = []
    for name in COMMANDS:
        ratio = "1"
        if name != "loop":
            ratios = np.array([losses[name][setting] / losses["loop"][setting] for setting in stable])
            ratio = f"{np.exp(np.log(ratios).mean()):.3f} ({ratios.min():.2f} to {ratios.max():.2f})"
        best, diverged = min(losses[name].values()), stored["diverged"][name]
        summary.append([name, f"{stored['seconds'][name]:.0f}", f"{best:.4g}", f"{diverged} of 27", ratio])
    settings = [
        [f"{value:g}" for value in setting] + [f"{losses[name][setting]:.4f}" for name in COMMANDS]
        for setting in losses["loop"]
    ]
    head = ["kernel", "training, s", "best", "diverged", "loss / loop's, geometric mean (lowest to highest)"]
    commands = "\n".join(f"    {command}" for command in COMMANDS.values())
    return f"""## The whole grid of gnODE, N = 6: 27 settings, 600 epochs

{table(head, summary)}

The last column is over the {len(stable)} settings with lr <= {STABLE_LR:g}. The first run had the device to itself; the
others shared it with five more processes, so their times are upper bounds. Commands:

{commands}

Minimum validation loss by setting, one seed:

{table(["lr", "decay", "B", *COMMANDS], settings)}
"""


def walker_section(stored: dict[str, Any]) -> str:
    by_kernel: dict[str, list[dict[str, Any]]] = {}
    for row in stored["rows"]:
        by_kernel.setdefault(row["kernel"], []).append(row)
    rows = []
    for kernel, members in by_kernel.items():
        scores = [[member[score] for member in members] for score in ("best_loss", "test_loss")]
        cells = [f"{np.mean(values):.4f} ± {np.std(values):.4f}" for values in scores]
        rows.append([kernel, f"{stored['seconds'][kernel]:.0f}", *cells])
    seeds = len(next(iter(by_kernel.values())))
    return f"""## Walker2D, {seeds} seeds

{table(["kernel", "training, s", "minimum validation MSE", "test MSE"], rows)}

Both shared the device with other processes. Command:

    {WALKER}
"""


def page() -> str:
    stored = read_result("kernel")
    devices = ", ".join(stored["devices"])
    head = f"# The fused kernel in training\n\nMade by `make docs` from [kernel.json](kernel.json). Trained on {devices}.\n"
    return "\n".join([head, grid_section(stored["grid"]), walker_section(stored["walker2d"])])
