"""The colours of flow fields: the speed, on one logarithmic scale for all fields that compare."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

from gnode.analysis import FlowField

SPEED = "speed |dh/dt| (state / s)"
DECADES = 4
"""The colours span at most as many; slower states are drawn like the slowest of these."""


def colour_range(fields: Sequence[FlowField]) -> tuple[float, float]:
    """Returns the lowest and the highest speed of the colours of fields on one scale."""
    speeds = np.concatenate([field.speed[field.speed > 0] for field in fields])
    if speeds.size == 0:
        return 0.1, 1.0
    highest = float(speeds.max())
    return max(float(speeds.min()), highest * 10.0**-DECADES), highest


def draw_speed(axes: Axes, field: FlowField, speeds: tuple[float, float]) -> Any:
    """Draws the speed of a field as colours from the lowest to the highest speed, and returns the picture."""
    lowest, highest = speeds
    norm = LogNorm(lowest, highest * (1 + 1e-9))  # speeds may all be equal
    shown = np.clip(field.speed, lowest, highest)
    image = axes.pcolormesh(field.u, field.v, shown, norm=norm, cmap="viridis", shading="gouraud")
    image.set_rasterized(True)
    return image
