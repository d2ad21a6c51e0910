"""Whole networks by name: one flat list of settings, as a sweep or a shell command gives them, becomes a `Network`."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax

from gnode import errors
from gnode.cells import CELLS
from gnode.init import Initialiser
from gnode.network import Network
from gnode.solve import Solver
from gnode.types import Key, as_key

COMMON = ("tau", "learn_tau", "init", "bias_std")
GATED = ("hidden", "final", "activate_state", "leak")

CELL_OPTIONS: dict[str, tuple[str, ...]] = {
    "rnn": (*COMMON, *GATED),
    "rate_rnn": (*COMMON, "hidden"),
    "mgru": (*COMMON, *GATED),
    "gru": COMMON,
    "lstm": COMMON,
    "lem": (*COMMON, "gate"),
    "node": (*COMMON, *GATED, "widths"),
    "gnode": (*COMMON, *GATED, "widths", "gate_widths"),
}
"""Which settings each model has."""


def build(
    model: str,
    inputs: int,
    outputs: int,
    *,
    state: int,
    initial: str = "zeros",
    readout_widths: Sequence[int] = (),
    method: str | Solver | None = None,
    solver: Mapping[str, Any] | None = None,
    init: str | Initialiser = "glorot_uniform",
    key: Key | int,
    **options: Any,
) -> Network:
    """The network of that model: `gnode.cells.<model>` with an initial state and a readout.

    **Arguments:** `model`, a name from `CELL_OPTIONS`; `inputs`, `outputs`, `state`, the sizes; `initial`,
    `readout_widths`, `method` as in `Network`; `solver`,
    further options of `gnode.Solver`; the rest are options of the cell (those that the model does not have are
    an error).

    >>> build("gru", 2, 2, state=6, tau=0.01, key=0).cell.units
    6
    """
    errors.one_of("model", model, CELL_OPTIONS)
    for option in options:
        if option not in CELL_OPTIONS[model]:
            has = [name for name in CELL_OPTIONS if option in CELL_OPTIONS[name]]
            where = f"it belongs to {', '.join(has)}" if has else f"its settings are {', '.join(CELL_OPTIONS[model])}"
            raise errors.ArgumentError(f"model {model!r} has no setting {option!r}; {where}.")
    key_cell, key_network = jax.random.split(as_key(key))
    cell = CELLS[model](inputs, state, init=init, key=key_cell, **options)
    return Network(
        cell,
        outputs,
        initial=initial,
        readout_widths=readout_widths,
        init=init,
        key=key_network,
        **{"method": method} | dict(solver or {}),
    )
