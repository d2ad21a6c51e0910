"""One look for all figures: colours that colour-blind readers can tell apart, small type, no box."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gnode import errors

# Okabe and Ito's palette, without its black.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")

STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "savefig.dpi": 200,
    "figure.dpi": 100,
    "pdf.fonttype": 42,
}


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1, **options) -> tuple[Figure, list[Axes]]:
    """A figure in the house style and its axes, row by row. Nothing of matplotlib's global state changes."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.flat)


def add_legend(figure: Figure, handles: list[Any] | None = None, where: str = "upper center", columns: int = 3) -> None:
    """A legend outside the axes, where nothing that is drawn can run through it."""
    if handles is None:
        handles = figure.axes[0].get_legend_handles_labels()[0]
    place: Any = f"outside {where}"
    figure.legend(handles=handles, loc=place, ncols=columns, frameon=False, fontsize=8)


def colour(index: int) -> str:
    """The index-th colour, starting over after the last."""
    return COLOURS[index % len(COLOURS)]


def save(figure: Figure, path: str | Path, formats: tuple[str, ...] = ("png",)) -> list[Path]:
    """Writes a figure in each format, `path` without ending; returns the files."""
    base = Path(path)
    files = [base.with_name(f"{base.name}.{ending}") for ending in formats]
    try:
        base.parent.mkdir(parents=True, exist_ok=True)
        with mpl.rc_context(STYLE):
            for file in files:
                figure.savefig(file)
    except OSError as problem:
        raise errors.StoreError(f"cannot write the figure {files[0]} ({problem}).") from problem
    return files
