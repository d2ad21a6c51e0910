"""The common style of all figures: colours that colour-blind readers can distinguish, small type, no box."""

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import is_color_like, to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from gnode import errors, files
from gnode.arguments import checked
from gnode.os_errors import as_path

# The palette of Okabe and Ito without black.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")

NEUTRAL = "#404040"
"""The colour of what is no network, so that a colour stands for one network everywhere."""

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Of the panels of a figure."""

LIGHTEST = 0.85
"""How far the colours of things in an order go along the colour map, whose end is too light for lines."""

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


FORMATS = ("png", "pdf", "svg", "svgz", "eps", "ps", "jpg", "jpeg", "tif", "tiff", "webp")
"""The formats that need no other program."""


SAVED: dict[str, dict[str, Any]] = {
    "png": {"pil_kwargs": {"optimize": True}},
    "pdf": {"metadata": {"CreationDate": None}},  # the same figure is the same file
}
"""How figures are saved, by format: small, and without a date."""


SHOWN_DPI = 120
"""Of a figure at the end of a notebook's cell."""


class ShownFigure(Figure):
    """A figure that shows itself at the end of a notebook's cell, also if nobody has imported matplotlib.pyplot.

    Such a figure belongs to nobody: pyplot neither keeps it in memory nor draws it a second time.
    """

    def _repr_png_(self) -> bytes:
        drawn = io.BytesIO()
        self.savefig(drawn, format="png", dpi=SHOWN_DPI)
        return drawn.getvalue()


def new_figure(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: Any
) -> tuple[Figure, list[Axes]]:
    """Creates a figure in the common style with its axes, row by row, without changing matplotlib's global state."""
    with mpl.rc_context(STYLE):
        figure = ShownFigure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, list(axes.flat)


LONGEST_NAME = 29
"""In characters, of a channel or class in a figure."""
MOST_PANELS = 1000
"""More panels, lines or classes in a figure are a mistake, and take minutes to draw."""


def check_panels(name: str, what: str, number: int) -> None:
    """Raises an `ArgumentError` if there is more to draw than a figure can hold."""
    if number > MOST_PANELS:
        raise errors.ArgumentError(f"{name} has {number} {what}, but a figure can show at most {MOST_PANELS}.")


def check_colour(name: str, value: str) -> str:
    """Returns a colour that matplotlib knows; refuses others."""
    if not is_color_like(value):
        raise errors.ArgumentError(
            f"{name} is {errors.shown(value)}, but must be a colour, such as 'black' or '#0072B2'."
        )
    return value


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


def plain(text: Any) -> str:
    """Returns a text that matplotlib draws as it is, where it would read what is between two dollar signs as mathematics.

    >>> plain("$5_{$")
    '\\\\$5_{\\\\$'
    """
    return str(text).replace("$", r"\$")


def shown_name(name: Any) -> str:
    """Returns a name of the user's data in one short line, as a label has room for.

    >>> shown_name("a name that was\\nwritten at great length")
    'a name that was written at...'
    """
    return errors.shortened(str(name), LONGEST_NAME)


def colour(index: int) -> str:
    """Returns the colour with this index, starting over after the last one."""
    return COLOURS[index % len(COLOURS)]


def ordered_colour(index: int, number: int) -> str:
    """Returns the colour of one of several things in an order, such as time constants: from dark to light."""
    return to_hex(mpl.colormaps["viridis"](LIGHTEST * index / max(number - 1, 1)))


def letter_title(letter: str, title: str) -> str:
    """Returns the title of a panel with its letter in bold before it.

    >>> print(letter_title("A", "errors"))
    $\\mathbf{A}$  errors
    """
    return rf"$\mathbf{{{letter}}}$  {plain(title)}" if letter else plain(title)


def add_letter(figure: Figure, letter: str) -> None:
    """Writes the letter of a panel that is a figure of its own above it, at the left."""
    with mpl.rc_context(STYLE):
        figure.suptitle(letter, x=0.012, ha="left", fontweight="bold", fontsize=10)


FEW_DECADES, NARROW = 2.0, 0.7
"""In decades: on a log axis with fewer, ticks lie at 1, 2 and 5 of each; on a narrow one wherever there is room."""


def few_log_ticks(axis: Axis, low: float, high: float) -> None:
    """Sets the ticks of a log axis that spans few decades to plain numbers, such as 0.5."""
    decades = np.log10(high / low)
    if decades >= FEW_DECADES:
        return
    axis.set_major_locator(MaxNLocator(4) if decades < NARROW else LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


@checked
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
    base = as_path("path", path)
    if not base.name:
        raise errors.StoreError(f"path is {errors.shown(path)}, but must be the name of a file without its extension.")
    for ending in formats:
        errors.one_of("formats", ending, FORMATS)
    pictures = {base.with_name(f"{base.name}.{ending}"): ending for ending in formats}
    with files.writing(base.parent), mpl.rc_context(STYLE):
        for picture, ending in pictures.items():
            drawn = io.BytesIO()  # in memory first: matplotlib's own writer hides that a disk is full
            figure.savefig(drawn, format=ending, **SAVED.get(ending, {}))
            with files.write_by(picture) as temporary:
                temporary.write_bytes(drawn.getvalue())
    return list(pictures)
