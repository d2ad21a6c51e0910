"""A figure of a forecast: one trial, and the error by how far it looks ahead."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from gnode import errors
from gnode.arguments import checked
from gnode.plots._style import add_legend, colour, new_figure, shown_name
from gnode.train import Forecast

SHOWN_CHANNELS = 4
"""The largest number of channels that are drawn."""


@checked
def forecast(found: Forecast, trial: int = 0, names: Sequence[str] | None = None) -> Figure:
    """Draws a trial of a forecast, a row per channel, and below it the error of all trials by bins ahead.

    Only the first four channels are drawn.

    **Arguments:**

    - `found`: the forecast, from `Run.forecast`.
    - `trial`: the number of the trial to draw.
    - `names`: names of the channels; their numbers by default.

    **Returns:** the figure.

    >>> from gnode import build, tasks, train
    >>> task = tasks.arrays(np.zeros((4, 6, 2)), np.zeros((4, 6, 2)), 0.1)
    >>> found = train.forecast(build("rnn", 2, 2, state=3, key=0), task.train, warm_up=4)
    >>> len(forecast(found).axes)
    3
    """
    trial = errors.whole("trial", trial, at_least=0, at_most=len(found.truth) - 1)
    channels = min(found.truth.shape[2], SHOWN_CHANNELS)
    rows, given = channels + 1, [] if names is None else list(names)
    labels = [*given, *(f"Channel {channel + 1}" for channel in range(len(given), channels))]
    heights = {"height_ratios": [1.0] * channels + [1.6]}
    figure, axes = new_figure(6.0, 1.1 + 1.15 * channels + 1.9, rows, 1, sharex=True, gridspec_kw=heights)
    before, ahead = np.arange(1 - found.warm_up, 1), np.arange(1, found.horizon + 1)
    for channel, axis in enumerate(axes[:channels]):
        axis.axvspan(before[0] - 0.5, 0.5, color="0.94", lw=0)
        axis.plot(before, found.observed[trial, :, channel], color="black", lw=1, label="observed")
        axis.plot(ahead, found.truth[trial, :, channel], color="0.75", lw=4, label="truth")
        axis.plot(ahead, found.closed_loop[trial, :, channel], color=colour(0), lw=1.5, label="closed loop")
        one_ahead = found.teacher_forced[trial, :, channel]
        axis.plot(ahead, one_ahead, color=colour(1), lw=1, ls=":", label="one bin ahead")
        axis.set_ylabel(shown_name(labels[channel]), parse_math=False)
        axis.margins(x=0.01, y=0.1)
    last = axes[-1]
    last.plot(ahead, found.error, color=colour(0), lw=1.5, label="closed loop")
    last.plot(ahead, found.teacher_forced_error, color=colour(1), lw=1, ls=":", label="one bin ahead")
    last.plot(ahead, found.last_value_error, color="0.4", lw=1.2, ls="--", label="last value carried forward")
    curves = np.stack([found.error, found.teacher_forced_error, found.last_value_error])
    if np.any(curves[np.isfinite(curves)] > 0):
        last.set_yscale("log")
    last.set_ylabel("Mean squared error")
    last.set_xlabel("Bins after the last observed one")
    add_legend(figure, [*axes[0].lines, last.lines[-1]], columns=3)
    return figure
