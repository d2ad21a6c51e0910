"""Builds networks by name from a flat list of settings, such as a sweep or a command line provides."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from gnode import errors
from gnode.arguments import checked
from gnode.cells import registry
from gnode.init import RULES
from gnode.network.names import INITIAL_STATES
from gnode.options import Option, choice, optional, widths

if TYPE_CHECKING:
    from gnode.cells import Cell
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
        "layers": Option(
            "network",
            int,
            "Layers of the cell, one on top of the other.",
            check=partial(errors.whole, at_most=registry.MOST_LAYERS),
        ),
        "augment": Option(
            "network", int, "Units beside the N that the readout does not see.", check=partial(errors.whole, at_least=0)
        ),
        "initial": Option(
            "network", str, f"Initial state: {', '.join(INITIAL_STATES)}.", check=choice(tuple(INITIAL_STATES))
        ),
        "init_readout": Option(
            "network",
            str,
            "Initialiser of the readout and of an affine initial state; by default that of --init.",
            compiles=False,
            check=optional(choice(tuple(RULES))),
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
    layers: int = 1,
    augment: int = 0,
    initial: str = "zeros",
    readout_widths: Sequence[int] = (),
    method: "str | Solver | None" = None,
    solver: Mapping[str, Any] | None = None,
    init: "str | Initialiser | None" = None,
    init_readout: "str | Initialiser | None" = None,
    key: "Key | int",
    **options: Any,
) -> "Network":
    """Draws a network: the cell `gnode.cells.<model>` with an initial state and a readout.

    **Arguments:**

    - `model`: a name from `gnode.cells.CELLS`, or a cell of your own, as "FILE.py:NAME".
    - `inputs`, `outputs`, `state`: the numbers of input channels, output channels and units.
    - `layers`: the number of layers of the cell, one on top of the other.
    - `augment`: the number of units beside `state` that the readout does not see.
    - `initial`, `readout_widths`, `method`: as in `Network`.
    - `init`: the initialiser; None takes the cell's own, and Glorot's uniform one for the rest.
    - `init_readout`: the initialiser of the readout and of an affine initial state; that of `init` by default.
    - `solver`: further options of `gnode.Solver`.
    - `key`: a seed or a jax key.
    - `options`: options of the cell.

    **Returns:** a `Network`.

    **Raises:** `ArgumentError` for an option that the model does not have.

    >>> build("gru", 2, 2, state=6, tau=0.01, key=0).cell.units
    6
    """
    from gnode.init import initialiser  # these import jax, which the functions above do not need
    from gnode.init.parts import rule_of_part
    from gnode.network import Network
    from gnode.types import split_key

    if init is not None:
        options["init"] = init
    augment = errors.whole("augment", augment, at_least=0)
    key_cell, key_network = split_key(key)
    cell = _drawn_cell(model, inputs, errors.whole("state", state) + augment, layers, key_cell, options)
    rest = initialiser("glorot_uniform" if init is None else init)
    return Network(
        cell,
        outputs,
        augment=augment,
        initial=initial,
        readout_widths=readout_widths,
        init=rule_of_part("init_readout", init_readout, rest),
        key=key_network,
        **{"method": method} | dict(solver or {}),
    )


def _drawn_cell(model: str, inputs: int, units: int, layers: int, key: "Key", options: Mapping[str, Any]) -> "Cell":
    from gnode import cells

    entry = entry_with(model, options)
    if errors.whole("layers", layers, at_most=registry.MOST_LAYERS) == 1:
        return entry(inputs, units, key=key, **options)
    return cells.layers(model, inputs, units, count=layers, key=key, **options)
