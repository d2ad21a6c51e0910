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
    "widths": (64, 64, 64),
    "epochs": 300,
    "lr": 1e-2,
    "lr_schedule": "warmup:5+cosine",
    "weight_decay": 1e-2,
    "batch_size": 10,
    "clip": 1.0,
    "ema": 0.999,
    "fresh": "epoch",
    "seed": 1,
}
"""New trials in every epoch, a falling learning rate and averaged weights are what wins on this task (the artefact
fresh-trials). The layers are narrower than the paper's, so that a laptop needs a minute and not an hour. With this weight
decay the flow outside the square is faster than with a smaller one, so that the square is easier to see."""

EXPECTED_MSE = 1e-3
TRIALS_DRAWN = 12
MEMORY_TOLERANCE, MEMORY_HORIZON = 0.1, 60.0
"""A memory ends when an output has moved by so much; the longest time in seconds that is simulated."""


def outline_square(figure: Any) -> None:
    """Draws the values that the task asks for, from -1 to 1 in both outputs, around the states that hold them."""
    axis = figure.axes[0]
    axis.plot([-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1], color="#FF9F1C", linewidth=1.6, zorder=4)
    axis.text(0.0, 1.06, "the task's values", color="#FF9F1C", fontsize=8, ha="center", va="bottom", zorder=4)


class Demo(NamedTuple):
    """The trained run, the pictures of it, and how long it remembers."""

    run: Run
    files: list[Path]
    memory: analysis.MemoryLifetime


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
    outline_square(figures["flow"])
    files = [file for name, figure in figures.items() for file in plots.save(figure, out / name)]
    memory = analysis.memory_lifetime(
        run.net, run.states[:, -1], dt=run.dt, tolerance=MEMORY_TOLERANCE, horizon=MEMORY_HORIZON
    )
    return Demo(run, files, memory)
