"""The letters of panels that are figures of their own, and of the panels of one of several figures."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from gnode.plots._style import add_letter


def lettered(figures: Mapping[str, Figure]) -> dict[str, Figure]:
    """Writes above each figure its letter, which it is stored by."""
    for letter, figure in figures.items():
        add_letter(figure, letter.upper())
    return dict(figures)


def numbered(letter: str, panels: int) -> list[str]:
    """Returns the letters of the panels of one of several figures.

    >>> numbered("B", 3)
    ['B1', 'B2', 'B3']
    """
    return [f"{letter}{number + 1}" for number in range(panels)]
