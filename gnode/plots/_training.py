"""Figures of training: the network's output on a trial, and the learning curves."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jax.typing import ArrayLike
from matplotlib.figure import Figure

from gnode import errors
from gnode.arguments import checked
from gnode.os_errors import as_path
from gnode.plots._scores import confusion_matrix
from gnode.plots._style import add_legend, check_colour, check_panels, colour, new_figure, save, shown_name
from gnode.train import Run

ALIKE = 10
"""The largest ratio between the ranges of channels that share a scale."""


@checked
def example_trial(
    inputs: ArrayLike,
    outputs: ArrayLike,
    targets: ArrayLike | None = None,
    dt: float = 1.0,
    time: ArrayLike | None = None,
    *,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    line: str | None = None,
) -> Figure:
    """Draws one trial, a row per channel: the input in black, the target as a pale band, the output in colour.

    Channels of similar size share one scale, which makes their errors comparable.

    **Arguments:**

    - `inputs`, `outputs`, `targets`: time x channels; NaN is not drawn.
    - `dt`: the length of a bin in seconds.
    - `time`: the end of each bin in seconds; by default multiples of `dt`.
    - `input_names`, `output_names`: names of the channels; their numbers by default.
    - `line`: the colour of the outputs; by default channels have colours of their own.

    **Returns:** the figure.

    >>> len(example_trial(np.zeros((5, 1)), np.ones((5, 2))).axes)
    2
    """
    inputs = errors.array("inputs", inputs, ("time", "channels"), finite=False)
    outputs = errors.array("outputs", outputs, (len(inputs), "channels"), finite=False)
    targets = None if targets is None else errors.array("targets", targets, (len(inputs), "channels"), finite=False)
    rows = max(inputs.shape[1], outputs.shape[1])
    check_panels("inputs", "channels", rows)
    line = line if line is None else check_colour("line", line)
    ends = (np.arange(len(inputs)) + 1) * float(errors.positive("dt", dt))
    time = ends if time is None else errors.array("time", time, (len(inputs),))
    shown = outputs if targets is None or np.all(np.isnan(targets)) else targets
    sizes = np.nanmax(shown, axis=0) - np.nanmin(shown, axis=0)
    is_alike = np.max(sizes) <= ALIKE * np.min(sizes)
    named = [*(input_names or ()), *(output_names or ())]
    width = 5.2 + max((0.07 * len(shown_name(name)) for name in named), default=0.0)
    figure, axes = new_figure(width, 0.5 + 1.15 * rows, rows, 1, sharex=True, sharey=bool(is_alike))
    lying: dict[str, Any] = {"rotation": 0, "ha": "right", "va": "center"} if named else {}
    for channel, axis in enumerate(axes):
        if targets is not None and channel < targets.shape[1]:
            axis.step(time, targets[:, channel], where="mid", color="0.82", lw=4, label="target")
        if channel < inputs.shape[1]:
            axis.step(time, inputs[:, channel], where="mid", color="black", lw=1, label="input")
        if channel < outputs.shape[1]:
            axis.plot(time, outputs[:, channel], color=line or colour(channel), lw=1.6, label="output")
        axis.set_ylabel(_row_name(channel, input_names, output_names), parse_math=False, **lying)
        axis.margins(x=0.01, y=0.12)
    axes[-1].set_xlabel("Time (s)")
    add_legend(figure)
    return figure


@checked
def validation_trial(run: Run, *, line: str | None = None) -> Figure:
    """Draws the first validation trial of a run on a regression task, without padding; `line` is the colour of outputs.

    No example: it needs a trained run.
    """
    if run.task.loss != "mse":
        raise errors.ArgumentError(
            f"the run's task {run.task.name} is a classification, which has no targets to draw; use confusion_matrix."
        )
    trials = run.task.validation.take(slice(0, 1))
    outputs = run.net.run(trials.inputs, dt=trials.dt).outputs
    unpadded = slice(0, int(trials.lengths[0]))
    targets = np.where(trials.mask[0][:, None] > 0, trials.targets[0], np.nan)
    time = np.cumsum(np.broadcast_to(trials.dt, trials.mask.shape)[0])
    return example_trial(
        trials.inputs[0][unpadded],
        outputs[0][unpadded],
        targets[unpadded],
        time=time[unpadded],
        input_names=run.task.input_names,
        output_names=run.task.output_names,
        line=line,
    )


def _row_name(channel: int, inputs: Sequence[str] | None, outputs: Sequence[str] | None) -> str:
    """Returns the label of a row: the name of its output, and that of its input in the next line."""
    drawn = [shown_name(names[channel]) for names in (outputs, inputs) if names is not None and channel < len(names)]
    if outputs is not None and inputs is not None and len(set(drawn)) == 2:
        drawn[1] = f"(in: {drawn[1]})"
    return "\n".join(dict.fromkeys(drawn)) or f"Channel {channel + 1}"


@checked
def loss_curves(
    curves: Mapping[str, ArrayLike],
    colours: Sequence[str] | None = None,
    ylabel: str = "Loss",
    *,
    metrics: Mapping[str, ArrayLike] | None = None,
) -> Figure:
    """Draws losses against epochs on a logarithmic scale, one line per entry.

    **Arguments:**

    - `curves`: the losses by name; the names are the labels of the legend.
    - `colours`: the colours of the lines.
    - `ylabel`: the label of the axis.
    - `metrics`: further curves by name, such as the accuracy, in a panel below with a linear scale.

    **Returns:** the figure.

    >>> len(loss_curves({"training": np.array([1.0, 0.5])}).axes[0].lines)
    1
    """
    metrics = metrics or {}
    if not curves:
        raise errors.ArgumentError("curves is empty: there is nothing to draw.")
    check_panels("curves", "lines", len(curves) + len(metrics))
    if colours is not None and len(colours) < len(curves):
        raise errors.ArgumentError(f"colours has {len(colours)} colours, but curves has {len(curves)} lines.")
    for tint in () if colours is None else colours:
        check_colour("colours", tint)
    lines = {name: errors.array(f"curves[{name!r}]", own, ("epochs",), finite=False) for name, own in curves.items()}
    below = {name: errors.array(f"metrics[{name!r}]", own, ("epochs",), finite=False) for name, own in metrics.items()}
    rows = 2 if below else 1
    figure, axes = new_figure(4.4, 3.0 if rows == 1 else 4.6, rows, 1, sharex=True)
    for index, (name, values) in enumerate([*lines.items(), *below.items()]):
        line_colour = colour(index) if colours is None or index >= len(lines) else colours[index]
        axis = axes[0] if index < len(lines) else axes[1]
        axis.plot(np.arange(1, len(values) + 1), values, color=line_colour, lw=1.3, label=name)
    axes[0].set_yscale("log")
    axes[0].set_ylabel(ylabel, parse_math=False)
    if below:
        label = shown_name(next(iter(below))).capitalize() if len(below) == 1 else "Metric"
        axes[1].set_ylabel(label, parse_math=False)
    axes[-1].set_xlabel("Epoch")
    handles = [handle for axis in axes for handle in axis.get_legend_handles_labels()[0]]
    add_legend(figure, handles, where="right upper", columns=1, plain_text=True)
    return figure


@checked
def save_run(run: Run, folder: str | Path) -> list[Path]:
    """Draws the figures of a run and writes them to a folder.

    These are its losses, with further metrics below them if it has any, and a validation trial of a regression or the
    confusion matrix of a classification.

    **Returns:** the paths of the files.

    No example: it needs a trained run.
    """
    folder, written = as_path("folder", folder), list[Path]()
    if len(run.curves["train"]) > 0:
        named = {"train": "training", "validation": "validation", "validation_raw": "validation, not averaged"}
        losses = {label: run.curves[name] for name, label in named.items() if name in run.curves}
        further = {name: own for name, own in run.curves.items() if name not in (*named, "gradient")}
        written += save(loss_curves(losses, metrics=further), folder / "losses")
    if run.task.loss == "mse":
        return written + save(validation_trial(run), folder / "trial")
    confusion = run.evaluation(run.task.validation if run.task.test is None else run.task.test).confusion
    assert confusion is not None
    return written + save(confusion_matrix(confusion, run.task.classes), folder / "confusion")
