"""The registry of cells by name.

To add a cell, write its file and add one entry to `CELLS` (or call `register`). Commands, grids, run folders, reports and
figures read this table; the names of cells are listed nowhere else. What a cell may be asked for is in `_options.py`.
"""

from typing import Any

from gnode import errors, own_code
from gnode.arguments import checked
from gnode.cells._entry import CellEntry, own_entry
from gnode.cells._options import GATINGS, LEARN_TAU, MOST_LAYERS, OPTIONS, OWN_OPTIONS, RATES, SPECTRUM_NAMES

__all__ = [
    "CELLS",
    "GATINGS",
    "LEARN_TAU",
    "MOST_LAYERS",
    "OPTIONS",
    "OWN_OPTIONS",
    "RATES",
    "SPECTRUM_NAMES",
    "CellEntry",
    "cell_colour",
    "cell_entry",
    "cell_label",
    "name_of_factory",
    "register",
]

_COMMON = ("tau", "learn_tau", "init", "bias_std")
_PARTS = ("init_input", "drive")
_GATED = (*_COMMON, *_PARTS, "hidden", "final", "activate_state", "leak")


def _gated(factory: str, label: str, colour: str, options: tuple[str, ...], summary: str) -> CellEntry:
    return CellEntry(f"gnode.cells._gated:{factory}", "gnode.cells._gated:Gated", label, colour, options, summary)


CELLS: dict[str, CellEntry] = {
    "rnn": _gated("rnn", "RNN", "#E69F00", _GATED, "Vanilla (Elman) network, tau dh/dt = -h + tanh(W h + U x + b)."),
    "rate_rnn": _gated(
        "rate_rnn",
        "rate RNN",
        "#F0E442",
        (*_COMMON, *_PARTS, "hidden"),
        "Rate network, tau dh/dt = -h + W tanh(h) + U x + b.",
    ),
    "mgru": _gated(
        "mgru",
        "mGRU",
        "#56B4E9",
        (*_GATED, "init_gate"),
        "Minimal gated unit, tau dh/dt = G * (-h + F), no hidden layers.",
    ),
    "gru": CellEntry(
        "gnode.cells._gru:gru",
        "gnode.cells._gru:GRU",
        "GRU",
        "#009E73",
        _COMMON,
        "Gated recurrent unit, tau dh/dt = g * (-h + n).",
    ),
    "lstm": CellEntry(
        "gnode.cells._lstm:lstm",
        "gnode.cells._lstm:LSTM",
        "LSTM",
        "#CC79A7",
        (*_COMMON, "forget_bias"),
        "Long short-term memory, a flow of (h, c) in 2 N dimensions.",
    ),
    "lem": CellEntry(
        "gnode.cells._lem:lem",
        "gnode.cells._lem:LEM",
        "LEM",
        "#999999",
        (*_COMMON, "gate"),
        "Long expressive memory, a flow of (y, z) in 2 N dimensions.",
    ),
    "node": _gated(
        "node",
        "nODE",
        "#D55E00",
        (*_GATED, "widths"),
        "Neural ODE with leak, tau dh/dt = -h + F, F with hidden layers.",
    ),
    "dale": CellEntry(
        "gnode.cells._dale:dale",
        "gnode.cells._dale:Dale",
        "E-I RNN",
        "#882255",
        (*_COMMON, "hidden", "excitatory", "density", "self_connections", "baseline"),
        "Rate network of excitatory and inhibitory units (Dale's law), tau dh/dt = -h + W r + U x + b, r = relu(h).",
    ),
    "lowrank": CellEntry(
        "gnode.cells._low_rank:lowrank",
        "gnode.cells._low_rank:LowRank",
        "low-rank RNN",
        "#44AA99",
        (*_COMMON, "hidden", "rank"),
        "Rate network of low rank, tau dh/dt = -h + M N^T tanh(h) / N_units + U x + b.",
    ),
    "gru_ode": CellEntry(
        "gnode.cells._gru_ode:gru_ode",
        "gnode.cells._gru_ode:GRUODE",
        "GRU-ODE",
        "#117733",
        (*_COMMON, "minimal"),
        "Continuous GRU whose reset gate acts on h before W_n, tau dh/dt = g * (-h + n).",
    ),
    "cornn": CellEntry(
        "gnode.cells._cornn:cornn",
        "gnode.cells._cornn:CoRNN",
        "coRNN",
        "#6699CC",
        (*_COMMON, "gamma", "epsilon"),
        "Damped coupled oscillators, a flow of (y, z) in 2 N dimensions.",
    ),
    "hbnode": CellEntry(
        "gnode.cells._heavy_ball:hbnode",
        "gnode.cells._heavy_ball:HeavyBall",
        "HBNODE",
        "#AA4466",
        (*_COMMON, "widths", "hidden", "final"),
        "Heavy-ball neural ODE, a flow of (y, z) in 2 N dimensions with a trained damping.",
    ),
    "ghbnode": CellEntry(
        "gnode.cells._heavy_ball:ghbnode",
        "gnode.cells._heavy_ball:HeavyBall",
        "GHBNODE",
        "#661100",
        (*_COMMON, "widths", "hidden", "final"),
        "Heavy-ball neural ODE with a bounded velocity and a trained pull to zero.",
    ),
    "ode_lstm": CellEntry(
        "gnode.cells._ode_lstm:ode_lstm",
        "gnode.cells._ode_lstm:ODELSTM",
        "ODE-LSTM",
        "#DDAA33",
        (*_COMMON, "widths", "hidden", "final", "masked"),
        "An LSTM at samples, a flow tau dh/dt = F(h) between them, in 2 N dimensions.",
    ),
    "gru_ode_bayes": CellEntry(
        "gnode.cells._gru_ode_bayes:gru_ode_bayes",
        "gnode.cells._gru_ode_bayes:GRUODEBayes",
        "GRU-ODE-Bayes",
        "#999933",
        (*_COMMON, "minimal", "impute", "masked"),
        "Continuous GRU that its samples correct when they arrive.",
    ),
    "ncde": CellEntry(
        "gnode.cells._cde:ncde",
        "gnode.cells._cde:NeuralCDE",
        "NCDE",
        "#BB5566",
        (*_COMMON, "widths", "hidden", "final", "time_channel"),
        "Neural CDE, dh = F(h) d(t / tau, X): driven by changes of the input.",
    ),
    "gated_ncde": CellEntry(
        "gnode.cells._cde:gated_ncde",
        "gnode.cells._cde:GatedNeuralCDE",
        "gated NCDE",
        "#004488",
        (*_COMMON, "widths", "hidden", "final", "gate_widths"),
        "Gated neural CDE, dh = G * ((-h + F_0(h)) dt / tau + F_1(h) dX).",
    ),
    "nsde": CellEntry(
        "gnode.cells._sde:nsde",
        "gnode.cells._sde:NeuralSDE",
        "NSDE",
        "#EE7733",
        (*_GATED, "widths", "noise_widths"),
        "Neural SDE, tau dh = (-h + F) dt + s dW, with noise s(h, x) that is trained.",
    ),
    "gated_nsde": CellEntry(
        "gnode.cells._sde:gated_nsde",
        "gnode.cells._sde:NeuralSDE",
        "gated NSDE",
        "#0077BB",
        (*_GATED, "init_gate", "widths", "gate_widths", "noise_widths"),
        "Gated neural SDE, tau dh = G * (-h + F) dt + s dW, with noise s(h, x) that is trained.",
    ),
    "unicornn": CellEntry(
        "gnode.cells._unicornn:unicornn",
        "gnode.cells._unicornn:UnICORNN",
        "UnICORNN",
        "#33BBEE",
        (*_COMMON, "alpha"),
        "Undamped oscillators with trained time constants, coupled by --layers, in 2 N dimensions.",
    ),
    "ltc": CellEntry(
        "gnode.cells._ltc:ltc",
        "gnode.cells._ltc:LTC",
        "LTC",
        "#CC3311",
        ("tau", "learn_tau"),
        "Liquid time-constant network: leaky units with graded synapses, which set their time constants.",
    ),
    "cfc": CellEntry(
        "gnode.cells._cfc:cfc",
        "gnode.cells._cfc:CfC",
        "CfC",
        "#EE3377",
        (*_COMMON, "widths"),
        "Closed-form continuous-time network: a formula for the state at the end of a bin.",
    ),
    "lmu": CellEntry(
        "gnode.cells._lmu:lmu",
        "gnode.cells._lmu:LMU",
        "LMU",
        "#225522",
        (*_COMMON, "order", "memories", "theta", "gating"),
        "Legendre memory unit, theta m' = g * (A m + B u), and units beside the memories.",
    ),
    "s4d": CellEntry(
        "gnode.cells._s4d:s4d",
        "gnode.cells._s4d:S4D",
        "S4D",
        "#663333",
        (*_COMMON, "modes", "spectrum", "gating", "mix"),
        "Diagonal state space, tau ds/dt = g * (A s + B u), with complex modes for each feature.",
    ),
    "lru": CellEntry(
        "gnode.cells._lru:lru",
        "gnode.cells._lru:LRU",
        "LRU",
        "#222255",
        (*_COMMON, "modes", "gating", "mix", "slowest", "fastest"),
        "Linear recurrent unit: complex modes on a ring, shared by all features, with a gate or without.",
    ),
    "gnode": _gated(
        "gnode",
        "gnODE",
        "#0072B2",
        (*_GATED, "init_gate", "widths", "gate_widths"),
        "Gated neural ODE, tau dh/dt = G * (-h + F), F with hidden layers.",
    ),
}
"""All registered cells, by the name that commands and grids use."""


@checked
def register(name: str, entry: CellEntry) -> None:
    """Adds a cell to `CELLS`, so that commands, grids, run folders and figures accept its name.

    **Raises:** `ArgumentError` if the name is taken or an option is not in `OPTIONS`.

    >>> import dataclasses
    >>> register("my_gru", dataclasses.replace(CELLS["gru"], label="my GRU"))
    >>> cell_label("my_gru"), CELLS.pop("my_gru").options
    ('my GRU', ('tau', 'learn_tau', 'init', 'bias_std'))
    """
    if not name.replace("-", "_").isidentifier() or len(name) > 60:
        raise errors.ArgumentError(f"name is {errors.shown(name)}, but must be a short word, such as 'my_gru'.")
    if name in CELLS:
        raise errors.ArgumentError(f"there is already a cell named {name!r}; choose another name.")
    for option in entry.options:
        errors.one_of(f"an option of cell {name!r}", option, OPTIONS)
    CELLS[name] = entry


@checked
def cell_entry(name: str) -> CellEntry:
    """Returns the registry entry of a cell; for a user's own, "FILE.py:NAME", one that is made from its arguments.

    **Raises:** `ArgumentError` for an unknown name, with the nearest one suggested.

    >>> cell_entry("lem").label
    'LEM'
    """
    return own_entry(name) if own_code.is_own(name) else CELLS[errors.one_of("model", name, CELLS)]


def name_of_factory(value: Any) -> str:
    """Returns the name by which a cell's class or factory can be used: a registered one's own, or that of own code.

    >>> from gnode.cells import gru
    >>> name_of_factory(gru)
    'gru'
    """
    place = f"{getattr(value, '__module__', '')}:{getattr(value, '__name__', '')}"
    registered = (name for name, entry in CELLS.items() if entry.factory == place)
    return next(registered, None) or own_code.name_of_object(value)


def cell_label(name: Any) -> str:
    """Returns the label of a cell in figures and tables; any other value is converted to text.

    >>> cell_label("gnode"), cell_label(3)
    ('gnODE', '3')
    """
    if own_code.is_own(name):
        return own_code.own_name(name)
    return CELLS[name].label if isinstance(name, str) and name in CELLS else str(name)


def cell_colour(name: Any, otherwise: str) -> str:
    """Returns the colour of a cell in figures, or `otherwise` if `name` is not a cell."""
    return CELLS[name].colour if isinstance(name, str) and name in CELLS else otherwise
