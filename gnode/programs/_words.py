"""What a cell is called, and its equation in a line."""

from typing import Any

from gnode.arguments import checked
from gnode.cells import CELLS, Cell, HeavyBall, Layers, NeuralSDE
from gnode.wording import plural


@checked
def words_of(cell: Cell) -> tuple[str, str]:
    """Returns the name of the kind of a cell and its equation in a line: those of the registry, or of its docstring.

    >>> import gnode
    >>> words_of(gnode.cells.gru_ode(1, 2, key=0))
    ('GRU-ODE', 'Continuous GRU whose reset gate acts on h before W_n, tau dh/dt = g * (-h + n).')
    """
    return _label(cell), _equation(cell)


def _label(cell: Cell) -> str:
    if isinstance(cell, Layers):
        return f"{plural(len(cell.layers), 'layer')} of {_label(cell.layers[0])}"
    entry = _entry(cell)
    return type(cell).__name__ if entry is None else entry.label


def _equation(cell: Cell) -> str:
    if isinstance(cell, Layers):
        return _equation(cell.layers[0])
    entry = _entry(cell)
    if entry is not None:
        return entry.summary
    return (
        (type(cell).__doc__ or "").strip().split("\n")[0]
        if type(cell).__module__ != "gnode.analysis"
        else "dh/dt = f(h, x)"
    )


def _entry(cell: Cell) -> Any:
    """The registered cell of the same class; of several with one class, the one that has these parts."""
    same = {name: entry for name, entry in CELLS.items() if entry.cell_class.endswith(f":{type(cell).__name__}")}
    if len(same) <= 1:
        return next(iter(same.values()), None)
    if isinstance(cell, HeavyBall):
        return same.get("ghbnode" if cell.bounded else "hbnode")
    F, G = getattr(cell, "F", None), getattr(cell, "G", None)
    if isinstance(cell, NeuralSDE):
        return same.get("nsde" if G is None else "gated_nsde")
    if F is None:
        return None
    if getattr(F, "activate_state", False) and G is None and F.depth == 1:
        return same.get("rate_rnn")
    name = ("gnode" if F.depth > 1 else "mgru") if G is not None else ("node" if F.depth > 1 else "rnn")
    return same.get(name)
