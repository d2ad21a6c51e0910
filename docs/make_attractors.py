"""Makes docs/results/two-bit.md from analysed runs: no number on it is typed by hand.

    for each task:  gnode sweep flipflop-TASK ... --out runs/two-bit-TASK;  gnode analyse runs/two-bit-TASK/members/BEST
    python docs/make_attractors.py FOLDER

FOLDER holds a folder per task with `best/` (the run of the best member), `analysis/` (what `gnode analyse` wrote of it) and
`sweep.json` of the sweep that it comes from.
"""

import json
import shutil
import sys
from pathlib import Path

from gnode import load

HERE = Path(__file__).parent / "results"
TASKS = {"fixed": "Fixed amplitude", "square": "Square", "rectangle": "Rectangle", "annulus": "Annulus", "ring": "Ring"}
PAPER_LOSS = {"fixed": 3.203e-8, "square": 0.008, "rectangle": 0.0137, "annulus": 1.910e-4, "ring": 0.007}
"""Minimum validation MSE in the paper's Appendix F; ring: with the target starting at (2, 0)."""
PAPER_AMPLITUDES = {(0.0, 0.5): 0.028, (0.5, 1.0): 0.005, (2.0, 4.0): 0.490}
"""The paper's errors of the annulus network on pulses whose norm it was not trained on."""


def number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}g}"


def row(name: str, folder: Path) -> str:
    found, run = json.loads((folder / "analysis" / "analysis.json").read_text()), load(folder / "best")
    points, slow = found["fixed_points"], found["slow_set"]
    memory = slow["memory"]["median_lifetime_s"]
    checks = {check["item"]: check["holds"] for check in slow["definition"] if "," not in check["item"]}
    extent = ", ".join(f"{low:.2f} to {high:.2f}" for low, high in zip(slow["output_low"], slow["output_high"]))
    cells = [
        TASKS[name],
        f"{run.best_loss:.3g}",
        f"{PAPER_LOSS[name]:.3g}",
        str(points["points_by_status"]["equilibrium"]),
        f"{slow['shape']}, {slow['dimension']}",
        extent,
        number(slow["median_speed"]),
        f"over {slow['memory']['horizon_s']:g}" if memory == "infinite" else number(memory),
        " ".join(f"{item}: {'yes' if holds else 'no'}" for item, holds in checks.items()),
    ]
    return "| " + " | ".join(cells) + " |"


def amplitudes(folder: Path) -> str:
    found = json.loads((folder / "analysis" / "analysis.json").read_text())
    lines = ["| norm of the pulses | here | the paper |", "|---|---|---|"]
    for entry in found["errors_by_amplitude"]:
        paper = PAPER_AMPLITUDES.get((entry["low"], entry["high"]))
        trained = " (trained)" if paper is None else ""
        lines.append(
            f"| {entry['low']:g} to {entry['high']:g}{trained} | {entry['mean_square']:.3g} | {number(paper)} |"
        )
    return "\n".join(lines)


def gates(folder: Path, name: str) -> str:
    gating = json.loads((folder / "analysis" / "analysis.json").read_text())["slow_set"]["gating"]
    gate = ", ".join(f"{value:.3f}" for value in gating["median_gate"])
    return f"| {TASKS[name]} | {gate} | {gating['median_gate_norm']:.3g} | {gating['median_drift_norm']:.3g} |"


def page(folder: Path) -> str:
    names = [name for name in TASKS if (folder / name / "analysis").is_dir()]
    sweep = json.loads((folder / names[0] / "sweep.json").read_text())
    best = {name: load(folder / name / "best").config["spec"] for name in names}
    line = "- {}: lr {lr:g}, weight decay {weight_decay:g}, batch size {batch_size}"
    settings = "\n".join(line.format(TASKS[name], **best[name]) for name in names)
    figures = "\n".join(f"**{TASKS[name]}**\n\n![{TASKS[name]}](two-bit-{name}-flow.png)\n" for name in names)
    rows = "\n".join(row(name, folder / name) for name in names)
    gate_rows = "\n".join(gates(folder / name, name) for name in names)
    columns = ["task", "validation MSE", "paper", "equilibria", "slow set: shape, dimension", "its extent, by output"]
    columns += ["median speed (1/s)", "median memory (s)", "Appendix C"]
    head = "| " + " | ".join(columns) + " |\n" + "|" + "---|" * len(columns)
    slow = {name: json.loads((folder / name / "analysis" / "analysis.json").read_text())["slow_set"] for name in names}
    named = [name for name in names if slow[name]["shape"] == name]
    exact = [name for name in names if slow[name]["is_continuous_attractor"]]
    verdict = (
        f"The shape that the task asks for was found for {', '.join(named)}; a continuous attractor to the letter of the "
        f"definition for {', '.join(exact) or 'none of them'}: slow sets drift."
    )
    return f"""# The attractors that two-dimensional gated neural ODEs learn (Figure 2, ring figure)

For each task the best of the paper's 27 settings, 200 epochs, two hidden layers of 316 units, one seed:

    gnode sweep flipflop-TASK --model gnode --state 2 --widths 316x316 --lr 1e-4,1e-3,1e-2 --weight-decay 1e-3,1e-2,1e-1 \\
        --batch-size 10,50,100 --epochs 200 --out runs/two-bit-TASK
    gnode analyse runs/two-bit-TASK/members/BEST

(fixed: `--bits 2 --initial affine`; ring: `--start 2:0`), trained on {", ".join(sweep["devices"])}, analysed on a CPU.
Best settings:

{settings}

{head}
{rows}

*Slow set*: the states in which trials settle when the input stays off. *Memory*: how long until an output is off by 0.1.
*Appendix C*: the paper's definition of a continuous attractor item by item: 1, a connected manifold; 2, no flow on it;
3, spectral abscissa zero on it; to the tolerances that `docs/analysis.md` gives. {verdict}

## Pulses that the annulus network was not trained on
Mean squared error on 200 new trials in each range:

{amplitudes(folder / "annulus")}

## The gate on the attractor
Medians over the slow set: each component of G, its norm, and the norm of -h + F:

| task | G | norm of G | norm of -h + F |
|---|---|---|---|
{gate_rows}

## Flow fields
In output coordinates, for the state space is two-dimensional and the readout affine. Colour is |dh/dt|; lines are trials.

{figures}"""


def main() -> None:
    folder = Path(sys.argv[1])
    for name in TASKS:
        if (folder / name / "analysis").is_dir():
            shutil.copy(folder / name / "analysis" / "flow.png", HERE / f"two-bit-{name}-flow.png")
            shutil.copy(folder / name / "results.csv", HERE / f"two-bit-{name}.csv")
            shutil.copy(folder / name / "analysis" / "analysis.json", HERE / f"two-bit-{name}.json")
    (HERE / "two-bit.md").write_text(page(folder))


if __name__ == "__main__":
    main()
