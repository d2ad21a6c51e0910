"""The demo: a two-dimensional gated neural ODE learns the square two-bit flip-flop task.

Command: `gnode demo` (what `make demo` runs). Cost: about a minute on two CPU cores.

The network has two state variables and two outputs, so its whole phase space fits into one picture. Each channel holds the
value of its last pulse, anywhere in [-1, 1]: what has to be remembered is a point in a square, and the square of slow
states is what the flow field shows (Figure 2B of the paper).
"""

from pathlib import Path
from typing import Any, NamedTuple

from gnode import analysis, plots
from gnode.train import Run, RunSpec, train_spec

TASK = "flipflop-square"
SETTINGS: dict[str, Any] = {
    "model": "gnode",
    "state": 2,
    "widths": (100, 100),
    "epochs": 500,
    "lr": 3e-3,
    "weight_decay": 1e-3,
    "batch_size": 25,
    "clip": 1.0,
    "seed": 1,
}
"""Narrower than the paper's 316 x 316 and with clipped gradients, so that a laptop needs a minute and not an hour."""

EXPECTED_MSE = 0.02
TRIALS_DRAWN = 12


class Demo(NamedTuple):
    """The trained run and the pictures of it."""

    run: Run
    files: list[Path]


def run_demo(out: Path, progress: bool | None = None, **changes: Any) -> Demo:
    """Trains, then draws an example trial, the losses and the flow field in output coordinates into `out`."""
    run = train_spec(RunSpec.of(TASK, SETTINGS | changes), out, progress=progress)
    figures = {
        "trial": plots.validation_trial(run),
        "losses": plots.loss_curves(
            {"training": run.curves["train"], "validation": run.curves["validation"]}, ylabel="MSE"
        ),
        "flow": plots.flow_field(
            run.net,
            trajectories=run.states[:TRIALS_DRAWN],
            plane=analysis.output_plane(run.net),
            limits=((-1.6, 1.6), (-1.6, 1.6)),
            nullclines=False,
        ),
    }
    files = [file for name, figure in figures.items() for file in plots.save(figure, out / name)]
    return Demo(run, files)
