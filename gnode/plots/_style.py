"""The common style of all figures: colours that colour-blind readers can distinguish, small type, no box."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gnode import errors

# The palette of Okabe and Ito without black.
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


def new_figure(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: Any
) -> tuple[Figure, list[Axes]]:
    """Creates a figure in the common style with its axes, row by row, without changing matplotlib's global state."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.flat)


def add_legend(
    figure: Figure,
    handles: list[Any] | None = None,
    where: str = "upper center",
    columns: int = 3,
    plain_text: bool = False,
) -> None:
    """Adds a legend outside the axes, where it cannot overlap the data.

    With `plain_text` the labels are drawn as they are, without mathtext.
    """
    if handles is None:
        handles = figure.axes[0].get_legend_handles_labels()[0]
    place: Any = f"outside {where}"
    legend = figure.legend(handles=handles, loc=place, ncols=columns, frameon=False, fontsize=8)
    if plain_text:
        for label in legend.get_texts():
            label.set_parse_math(False)


def colour(index: int) -> str:
    """Returns the colour with this index, starting over after the last one."""
    return COLOURS[index % len(COLOURS)]


def save(figure: Figure, path: str | Path, formats: tuple[str, ...] = ("png",)) -> list[Path]:
    """Writes a figure to files.

    **Arguments:**

    - `figure`: the figure.
    - `path`: the path of the files without their extension. Missing folders are created.
    - `formats`: the file formats, such as ("png", "pdf").

    **Returns:** the paths of the files, one per format.

    **Raises:** `StoreError` if a file cannot be written.

    No example: it writes files.
    """
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
