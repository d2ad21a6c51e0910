"""Makes docs/results/kernel.md from sweeps that a GPU trained with and without the fused kernel.

    python docs/make_kernel.py runs/grid-fused runs/grid-bf16 runs/grid-loop runs/walker-kernel

The first three are one grid of the flip-flop task, the last one has both kernels and several seeds.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from make_results import command

from gnode import Sweep
from gnode.sweeps._folder import SPEC

HERE = Path(__file__).parent / "results"
NAMES = ("fused, tf32", "fused, bfloat16", "loop")
CALM = 1e-3
"""Learning rates up to this one: beyond, some settings of the grid diverge or nearly so, by any kernel."""


def losses(sweep: Sweep) -> dict[tuple, float]:
    """Minimum validation loss by setting."""
    return {(row["lr"], row["weight_decay"], row["batch_size"]): row["best_loss"] for row in sweep.rows()}


def grid_section(sweeps: list[Sweep]) -> tuple[str, dict[str, Any]]:
    found = {name: losses(sweep) for name, sweep in zip(NAMES, sweeps)}
    times = {name: sweep.seconds() for name, sweep in zip(NAMES, sweeps)}
    diverged = {name: sum(row["status"] == "diverged" for row in s.rows()) for name, s in zip(NAMES, sweeps)}
    lines = ["| lr | decay | B | " + " | ".join(NAMES) + " |", "|" + "---|" * (3 + len(NAMES))]
    for setting in found["loop"]:
        cells = [f"{value:g}" for value in setting] + [f"{found[name][setting]:.4f}" for name in NAMES]
        lines.append("| " + " | ".join(cells) + " |")
    calm = [setting for setting in found["loop"] if setting[0] <= CALM]
    against = {name: np.array([found[name][s] / found["loop"][s] for s in calm]) for name in NAMES if name != "loop"}
    summary = ["| kernel | training, s | best | diverged | loss / loop's, geometric mean (lowest to highest) |"]
    summary += ["|" + "---|" * 5]
    for name in NAMES:
        ratio = "1"
        if name in against:
            mean = np.exp(np.log(against[name]).mean())
            ratio = f"{mean:.3f} ({against[name].min():.2f} to {against[name].max():.2f})"
        best = min(found[name].values())
        summary.append(f"| {name} | {times[name]:.0f} | {best:.4g} | {diverged[name]} of 27 | {ratio} |")
    text = (
        "## The whole grid of gnODE, N = 6: 27 settings, 600 epochs\n\n" + "\n".join(summary) + "\n\n"
        f"The last column is over the {len(calm)} settings with lr <= {CALM:g}. The first run had the device to itself, the "
        "others shared it with five more processes, so their times are upper bounds. Commands:\n\n"
        + "\n".join(f"    {command(sweep)}" for sweep in sweeps)
        + "\n\nMinimum validation loss by setting, one seed:\n\n"
        + "\n".join(lines)
        + "\n"
    )
    stored = {name: [[*setting, loss] for setting, loss in found[name].items()] for name in NAMES}
    return text, {"losses": stored, "seconds": times, "diverged": diverged}


def walker_section(sweep: Sweep) -> tuple[str, dict[str, Any]]:
    by_kernel: dict[str, list[dict[str, Any]]] = {}
    for row in sweep.rows():
        by_kernel.setdefault(row["kernel"], []).append(row)
    time = {kernel: sum(sweep.result(row["member"])["seconds"] for row in rows) for kernel, rows in by_kernel.items()}
    lines = ["| kernel | training, s | minimum validation MSE | test MSE |", "|" + "---|" * 4]
    for kernel, rows in by_kernel.items():
        cells = [
            f"{np.mean(v):.4f} ± {np.std(v):.4f}" for v in ([r[k] for r in rows] for k in ("best_loss", "test_loss"))
        ]
        lines.append(f"| {kernel} | {time[kernel]:.0f} | " + " | ".join(cells) + " |")
    text = (
        f"## Walker2D, {len(next(iter(by_kernel.values())))} seeds\n\n" + "\n".join(lines) + "\n\n"
        "Both shared the device with other processes. Command:\n\n    " + command(sweep) + "\n"
    )
    return text, {"rows": sweep.rows(), "seconds": time}


def main(folders: list[str]) -> None:
    *grids, walker = (Sweep(folder) for folder in folders)
    grid_text, grid = grid_section(grids)
    walker_text, walked = walker_section(walker)
    devices = json.loads((grids[0].folder / SPEC).read_text())["devices"]
    head = f"# The fused kernel in training\n\nMade by `docs/make_kernel.py`, on {', '.join(devices)}.\n\n"
    (HERE / "kernel.md").write_text(head + grid_text + "\n" + walker_text)
    (HERE / "kernel.json").write_text(
        json.dumps({"devices": devices, "grid": grid, "walker2d": walked}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
