"""Figures of what several seeds of each condition gave."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from gnode import errors
from gnode.arguments import checked
from gnode.cells.registry import CELLS
from gnode.plots._style import NEUTRAL, check_colour, check_panels
from gnode.plots.seed_rows import Row, RowPanel, seed_rows


@checked
def seeds(
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    colours: Mapping[str, str] | None = None,
    shared: bool = False,
) -> Figure:
    """Draws every seed as a point and the median of each condition as a bar, a panel for each quantity, on log axes.

    **Arguments:**

    - `panels`: by title, the positive values of the seeds of each condition.
    - `colours`: the colours of conditions; by default those of networks by their labels, and dark grey.
    - `shared`: whether all panels have one scale, because they show the same quantity.

    **Returns:** the figure.

    >>> len(seeds({"error": {"before": [0.1, 0.2], "after": [0.01]}}).axes)
    1
    """
    if not panels or not all(panels.values()):
        raise errors.ArgumentError("panels is empty: there is nothing to draw.")
    check_panels("panels", "panels", len(panels))
    known = {cell.label: cell.colour for cell in CELLS.values()}
    known |= {name: check_colour("colours", value) for name, value in (colours or {}).items()}
    return seed_rows(
        [
            RowPanel(
                title,
                [Row(name, values, known.get(name, NEUTRAL)) for name, values in conditions.items()],
                "",
                "all" if shared else f"panel {number}",
            )
            for number, (title, conditions) in enumerate(panels.items())
        ],
        letters=[chr(ord("A") + number % 26) for number in range(len(panels))],
    )
