"""Builds networks by name from a flat list of settings, such as a sweep or a command line provides."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gnode import errors
from gnode.arguments import checked
from gnode.cells import registry
from gnode.network.names import INITIAL_STATES
from gnode.options import Option, choice, widths

if TYPE_CHECKING:
    from gnode.init import Initialiser
    from gnode.network import Network
    from gnode.solve import Solver
    from gnode.types import Key

__all__ = ["build", "network_options"]


def network_options() -> dict[str, Option]:
    """Returns the options of `build` that describe the network, including those of all registered cells.

    >>> "widths" in network_options()
    True
    """
    return {
        "model": Option(
            "network",
            str,
            f"Network: {', '.join(registry.CELLS)}; or your own, as FILE.py:NAME.",
            synonyms=("cell", "network"),
        ),
        "state": Option("network", int, "State size N.", check=errors.whole, synonyms=("units", "hidden_size", "size")),
        **registry.OPTIONS,
        "initial": Option(
            "network", str, f"Initial state: {', '.join(INITIAL_STATES)}.", check=choice(tuple(INITIAL_STATES))
        ),
        "readout_widths": Option(
            "network", widths, "Widths of the hidden layers of the readout, such as 64x64.", "64", check=errors.wholes
        ),
    }


def entry_with(model: str, options: Iterable[str]) -> registry.CellEntry:
    """Returns the entry of a cell that has these options.

    **Raises:** `ArgumentError` for an unknown model, or for an option that it does not have.

    >>> entry_with("dale", ["density"]).label
    'E-I RNN'
    """
    entry = registry.cell_entry(model)
    for option in options:
        if option not in entry.options:
            has = [name for name, other in registry.CELLS.items() if option in other.options]
            where = f"it belongs to {', '.join(has)}" if has else f"it has {', '.join(entry.options)}"
            raise errors.ArgumentError(f"model {model!r} has no setting {option!r}; {where}.")
    return entry


@checked
def build(
    model: str,
    inputs: int,
    outputs: int,
    *,
    state: int,
    initial: str = "zeros",
    readout_widths: Sequence[int] = (),
    method: "str | Solver | None" = None,
    solver: Mapping[str, Any] | None = None,
    init: "str | Initialiser" = "glorot_uniform",
    key: "Key | int",
    **options: Any,
) -> "Network":
    """Draws a network: the cell `gnode.cells.<model>` with an initial state and a readout.

    **Arguments:**

    - `model`: a name from `gnode.cells.CELLS`, or a cell of your own, as "FILE.py:NAME".
    - `inputs`, `outputs`, `state`: the numbers of input channels, output channels and units.
    - `initial`, `readout_widths`, `method`, `init`: as in `Network`.
    - `solver`: further options of `gnode.Solver`.
    - `key`: a seed or a jax key.
    - `options`: options of the cell.

    **Returns:** a `Network`.

    **Raises:** `ArgumentError` for an option that the model does not have.

    >>> build("gru", 2, 2, state=6, tau=0.01, key=0).cell.units
    6
    """
    from gnode.network import Network  # imports jax, which the functions above do not need
    from gnode.types import split_key

    entry = entry_with(model, options)
    key_cell, key_network = split_key(key)
    return Network(
        entry(inputs, state, init=init, key=key_cell, **options),
        outputs,
        initial=initial,
        readout_widths=readout_widths,
        init=init,
        key=key_network,
        **{"method": method} | dict(solver or {}),
    )
