"""Figures of a data set: example trials with their missing values, and the number of trials per class."""

from collections.abc import Mapping, Sequence

import numpy as np
from jax.typing import ArrayLike
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gnode import errors
from gnode.arguments import checked
from gnode.plots._style import add_legend, check_panels, colour, new_figure, shown_name

SHOWN_CHANNELS = 4
"""The largest number of channels in a panel; more lines cannot be distinguished."""


@checked
def example_series(
    observed: ArrayLike,
    filled: ArrayLike,
    dt: float = 1.0,
    titles: Sequence[str] = (),
    names: Sequence[str] = (),
) -> Figure:
    """Draws a panel per trial: observed values as dots, the network's input as lines, bins without any value in grey.

    Only the first four channels are drawn.

    **Arguments:**

    - `observed`: trials x bins x channels, with NaN where a value is missing.
    - `filled`: the same trials after filling.
    - `dt`: the length of a bin in seconds.
    - `titles`: a label for each trial; its number by default.
    - `names`: a name for each channel; its number by default.

    **Returns:** the figure.

    >>> observed = np.array([[[1.0], [np.nan], [3.0]]])
    >>> figure = example_series(observed, np.array([[[1.0], [1.0], [3.0]]]), dt=0.1, titles=["left"])
    >>> figure.axes[0].get_ylabel()
    'left'
    """
    observed = errors.array("observed", observed, ("trials", "bins", "channels"), finite=False)
    filled = errors.array("filled", filled, observed.shape, finite=False)
    errors.positive("dt", dt)
    trials, bins, channels = observed.shape
    check_panels("observed", "trials", trials)
    time = np.arange(bins) * dt
    figure, axes = new_figure(6.4, 0.6 + 1.5 * trials, trials, 1, sharex=True)
    for trial, axis in enumerate(axes):
        for empty in np.flatnonzero(np.isnan(observed[trial]).all(axis=1)):
            axis.axvspan(time[empty] - dt / 2, time[empty] + dt / 2, color="0.9", lw=0)
        for channel in range(min(channels, SHOWN_CHANNELS)):
            axis.plot(time, filled[trial, :, channel], color=colour(channel), lw=0.9)
            axis.plot(time, observed[trial, :, channel], ".", color=colour(channel), ms=2.5)
        axis.set_ylabel(titles[trial] if trial < len(titles) else f"Trial {trial + 1}", parse_math=False)
        axis.margins(x=0.01)
    axes[-1].set_xlabel("Time (s)")
    handles = [
        Line2D([], [], color="0.3", lw=0.9, label="as the network gets it"),
        Line2D([], [], color="0.3", ls="", marker=".", ms=4, label="observed"),
        Line2D([], [], color="0.9", lw=5, label="missing"),
    ]
    numbered = [f"channel {channel + 1}" for channel in range(channels)]
    channel_handles = [
        Line2D([], [], color=colour(channel), lw=2, label=shown_name(([*names, *numbered[len(names) :]])[channel]))
        for channel in range(min(channels, SHOWN_CHANNELS))
    ]
    add_legend(figure, handles + channel_handles, columns=4, plain_text=True)
    return figure


@checked
def class_counts(counts: Mapping[str, Sequence[int]], parts: Sequence[str]) -> Figure:
    """Draws stacked bars with the number of trials of each class in each part of the data.

    **Arguments:**

    - `counts`: the numbers of trials by class name, one number per part.
    - `parts`: the names of the parts, such as "training" and "test".

    **Returns:** the figure.

    >>> len(class_counts({"left": [5, 2], "right": [4, 3]}, ["training", "test"]).axes[0].patches)
    4
    """
    if not counts:
        raise errors.ArgumentError("counts is empty: there is nothing to draw.")
    check_panels("counts", "classes", len(counts))
    for name, numbers in counts.items():
        if len(numbers) != len(parts):
            raise errors.ArgumentError(
                f"counts[{errors.shown(name)}] has {len(numbers)} numbers, but there are {len(parts)} parts."
            )
        for number in numbers:
            errors.whole(f"counts[{errors.shown(name)}]", number, at_least=0)
    figure, (axis,) = new_figure(1.2 + 0.3 * max(len(counts), 8), 2.6)
    below = np.zeros(len(counts))
    for index, part in enumerate(parts):
        heights = np.array([values[index] for values in counts.values()])
        axis.bar(range(len(counts)), heights, bottom=below, color=colour(index), width=0.75, label=part)
        below = below + heights
    axis.set_xticks(range(len(counts)), [shown_name(name) for name in counts], parse_math=False)
    axis.set_ylabel("Trials")
    add_legend(figure, plain_text=True)
    return figure
