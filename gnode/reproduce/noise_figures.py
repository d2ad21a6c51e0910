"""Figures of the fits of noise, drawn from a result's stored errors (the detail "points") alone."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gnode.expressivity import Curve
from gnode.plots.expressivity import ErrorPanel, error_panels
from gnode.reproduce.noise_claims import Point, values

MADE_OF = "points"
"""The detail that the figures are drawn from."""
SPREAD = (
    " Lines go through the medians of the seeds, which are points; where single seeds were not stored, through their means, "
    "with a bar of one standard deviation upwards (downwards a log axis would stretch it). All panels have one scale, but "
    "for those where an error is below a hundredth of another, which have a second one in common."
)
"""The end of a caption: what lines and bars are."""


def curve(points: Iterable[Point], along: str, **where: Any) -> Curve:
    """Returns the errors of the networks with these settings along an axis; those without hidden layers always match."""
    chosen = sorted((point for point in points if _matches(point, where)), key=lambda point: point[along])
    seeds = tuple(tuple(point["errors"]) for point in chosen if "errors" in point)
    x, mean, std = (np.array([point[name] for point in chosen], float) for name in (along, "mean", "std"))
    return Curve(x, mean, std, seeds if len(seeds) == len(chosen) else ())


def _matches(point: Point, where: Mapping[str, Any]) -> bool:
    return all(
        point[name] == value or (name in ("hidden", "layers") and not point["layers"]) for name, value in where.items()
    )


def by_model(points: list[Point], along: str, **where: Any) -> dict[str, Curve]:
    """Returns a curve for each network."""
    return {
        model: curve(points, along, model=model, **where) for model in dict.fromkeys(point["model"] for point in points)
    }


def by_value(points: list[Point], name: str, label: str, along: str, **where: Any) -> dict[str, Curve]:
    """Returns a curve for each value of a setting, labelled by it."""
    known = [value for value in values(points, name) if value]
    return {label.format(value): curve(points, along, **{name: value}, **where) for value in known}


def panel(title: str, curves: dict[str, Curve], along: str) -> ErrorPanel:
    """Returns a panel with those of the curves that have points."""
    return ErrorPanel(title, {name: one for name, one in curves.items() if len(one.x)}, along)


def figure(panels: Iterable[ErrorPanel], letters: str = "ABCDEFGHIJKL") -> Any:
    """Returns the panels as one figure."""
    return error_panels([one for one in panels if one.curves], letters)
