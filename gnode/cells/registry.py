"""The registry of cells by name.

To add a cell, write its file and add one entry to `CELLS` (or call `register`). Commands, grids, run folders, reports and
figures read this table; the names of cells are listed nowhere else.
"""

import dataclasses
import inspect
from functools import partial
from pkgutil import resolve_name
from typing import Any

from gnode import errors, own_code
from gnode.arguments import checked, checked_class
from gnode.init import RULES
from gnode.options import Option, choice, option_like, single, widths, yes_or_no

__all__ = [
    "CELLS",
    "GATINGS",
    "LEARN_TAU",
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

LEARN_TAU = ("no", "shared", "per_unit")
"""The values of the option `learn_tau`: tau is constant, one trained number, or one trained number per unit."""

RATES = ("relu", "softplus", "sigmoid")
"""The activations of cells with firing rates, which are not negative."""

GATINGS: dict[str, str] = {
    "no": "none: the memory is linear",
    "input": "a gate of the input, by which the memory stays linear in its state",
    "state": "a gate of the input and of what the readout sees",
}
"""The gates of linear memories."""

SPECTRUM_NAMES = ("legs", "lin", "inv", "real")
"""The first eigenvalues of a diagonal state space, by the names of its authors."""

OPTIONS: dict[str, Option] = {
    "widths": Option(
        "network", widths, "Widths of the hidden layers of F, such as 316x316.", "316x316", check=errors.wholes
    ),
    "gate_widths": Option(
        "network", widths, "Widths of the hidden layers of G, such as 100x100, or 'none'.", "100", check=errors.wholes
    ),
    "hidden": Option("network", str, "Activation of the hidden layers."),
    "final": Option("network", str, "Final activation of F."),
    "leak": Option("network", yes_or_no, "Include the leak -h: yes or no.", "no"),
    "activate_state": Option("network", yes_or_no, "Apply the hidden activation to h before W0: yes or no.", "yes"),
    "gate": Option("network", yes_or_no, "Include the gates of LEM: yes or no.", "no"),
    "minimal": Option("network", yes_or_no, "Let the reset gate of gru_ode be 1 - g: yes or no.", "yes"),
    "gamma": Option("network", float, "Stiffness gamma of cornn.", compiles=False, check=single(errors.not_negative)),
    "epsilon": Option("network", float, "Damping epsilon of cornn.", compiles=False, check=single(errors.not_negative)),
    "alpha": Option(
        "network", float, "Stiffness alpha of unicornn.", compiles=False, check=single(errors.not_negative)
    ),
    "noise_widths": Option(
        "network", widths, "Widths of the hidden layers of the noise of neural SDEs.", "100", check=errors.wholes
    ),
    "masked": Option(
        "network", yes_or_no, "The first half of the inputs of gru_ode_bayes is a mask: yes or no.", "yes"
    ),
    "impute": Option("network", yes_or_no, "Let the flow of gru_ode_bayes see its own prediction: yes or no.", "yes"),
    "time_channel": Option("network", yes_or_no, "Give F of ncde a column for time: yes or no.", "no"),
    "order": Option("network", int, "Legendre coefficients of each memory of lmu.", check=errors.whole),
    "memories": Option("network", int, "Number of memories of lmu.", check=errors.whole),
    "theta": Option(
        "network",
        float,
        "Time in seconds that the memories of lmu hold.",
        compiles=False,
        check=single(errors.positive),
    ),
    "modes": Option("network", int, "Complex modes: of each feature of s4d, of all of lru.", check=errors.whole),
    "spectrum": Option(
        "network",
        str,
        f"First eigenvalues of s4d: {', '.join(SPECTRUM_NAMES)}.",
        compiles=False,
        check=choice(SPECTRUM_NAMES),
    ),
    "gating": Option("network", str, f"Gate of a linear memory: {', '.join(GATINGS)}.", check=choice(tuple(GATINGS))),
    "mix": Option("network", yes_or_no, "Let a gated linear unit mix the features of s4d and lru: yes or no.", "no"),
    "slowest": Option("network", float, "Largest first |lambda| of lru.", compiles=False, check=errors.share),
    "fastest": Option("network", float, "Smallest first |lambda| of lru.", compiles=False, check=errors.share),
    "rank": Option("network", int, "Rank R of the recurrent matrix of lowrank.", check=errors.whole),
    "excitatory": Option(
        "network",
        float,
        "Share of excitatory units of dale.",
        compiles=False,
        check=errors.share,
        synonyms=("excitatory_fraction", "inhibitory"),
    ),
    "density": Option(
        "network",
        float,
        "Share of the connections of dale that exist.",
        compiles=False,
        check=partial(errors.share, zero=False),
        synonyms=("connectivity", "sparsity"),
    ),
    "self_connections": Option(
        "network", yes_or_no, "Let units of dale connect to themselves: yes or no.", "no", compiles=False
    ),
    "baseline": Option(
        "network", float, "Initial bias of every unit of dale.", compiles=False, check=single(errors.finite)
    ),
    "tau": Option("network", float, "Time constant in seconds.", compiles=False, check=single(errors.positive)),
    "learn_tau": Option("network", str, f"Train tau: {', '.join(LEARN_TAU)}.", check=choice(LEARN_TAU)),
    "init": Option("network", str, f"Initialiser: {', '.join(RULES)}.", compiles=False, synonyms=("initialiser",)),
    "bias_std": Option(
        "network",
        float,
        "Standard deviation of the initial biases.",
        compiles=False,
        check=single(errors.not_negative),
    ),
}
"""The options of cells, in the order in which `--help` shows them."""

OWN_OPTIONS: dict[str, Option] = {}
"""Arguments of users' own cells that no other cell has, added when such a cell is named."""

_COMMON = ("tau", "learn_tau", "init", "bias_std")
_GATED = (*_COMMON, "hidden", "final", "activate_state", "leak")


@checked_class
@dataclasses.dataclass(frozen=True)
class CellEntry:
    """The registry entry of a cell. Calling it draws a cell: `entry(inputs, state, key=0, **options)`.

    **Arguments:**

    - `factory`: the location of the function that draws the cell, as "module:name"; it is imported on first use.
    - `cell_class`: the location of the cell's class, likewise.
    - `label`: the name of the cell in figures and tables.
    - `colour`: its colour in figures.
    - `options`: the names in `OPTIONS` that the factory accepts.
    - `summary`: one line for `gnode list`.

    >>> CELLS["gru"](2, 3, key=0).units
    3
    """

    factory: str
    cell_class: str
    label: str
    colour: str
    options: tuple[str, ...]
    summary: str

    def __post_init__(self):
        object.__setattr__(self, "options", tuple(map(str, self.options)))
        for name in ("factory", "cell_class", "label", "colour", "summary"):
            text = getattr(self, name)
            if not text.isprintable() or len(text) > 300:
                raise errors.ArgumentError(f"{name} is {errors.shown(text)}, but must be a short text in one line.")

    @checked
    def __call__(self, inputs: int, state: int, **options: Any) -> Any:
        """Draws a cell at random."""
        return _imported("factory", self.factory)(inputs, state, **options)

    def load_type(self) -> type:
        """Imports the cell's class."""
        return _imported("cell_class", self.cell_class)


def _imported(what: str, place: str) -> Any:
    """Imports "module:name", or a user's own "FILE.py:NAME"."""
    if own_code.is_own(place):
        return own_code.resolve(place)
    try:
        return resolve_name(place)
    except (ImportError, AttributeError, ValueError) as problem:
        raise errors.ArgumentError(
            f"{what} is {errors.shown(place)}, which cannot be imported as 'module:name' ({errors.shortened(str(problem))})."
        ) from problem


def _gated(factory: str, label: str, colour: str, options: tuple[str, ...], summary: str) -> CellEntry:
    return CellEntry(f"gnode.cells._gated:{factory}", "gnode.cells._gated:Gated", label, colour, options, summary)


CELLS: dict[str, CellEntry] = {
    "rnn": _gated("rnn", "RNN", "#E69F00", _GATED, "Vanilla (Elman) network, tau dh/dt = -h + tanh(W h + U x + b)."),
    "rate_rnn": _gated(
        "rate_rnn", "rate RNN", "#F0E442", (*_COMMON, "hidden"), "Rate network, tau dh/dt = -h + W tanh(h) + U x + b."
    ),
    "mgru": _gated(
        "mgru", "mGRU", "#56B4E9", _GATED, "Minimal gated unit, tau dh/dt = G * (-h + F), no hidden layers."
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
        _COMMON,
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
        (*_COMMON, "widths", "hidden", "final"),
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
        (*_GATED, "widths", "gate_widths", "noise_widths"),
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
        (*_GATED, "widths", "gate_widths"),
        "Gated neural ODE, tau dh/dt = G * (-h + F), F with hidden layers.",
    ),
}
"""All registered cells, by the name that commands and grids use."""


@checked
def register(name: str, entry: CellEntry) -> None:
    """Adds a cell to `CELLS`, so that commands, grids, run folders and figures accept its name.

    **Raises:** `ArgumentError` if the name is taken or an option is not in `OPTIONS`.

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
    return _own_entry(name) if own_code.is_own(name) else CELLS[errors.one_of("model", name, CELLS)]


@dataclasses.dataclass(frozen=True)
class OwnCell(CellEntry):
    """The entry of a user's own cell: a class or function that is called with inputs, state, key and its options."""

    def __call__(self, inputs: int, state: int, **options: Any) -> Any:
        from gnode.cells._base import Cell  # imports jax

        given = {name: value for name, value in options.items() if name in (*self.options, "key")}
        try:
            made = self._drawn(inputs, state, given)
        except (errors.GnodeError, KeyboardInterrupt):
            raise
        except Exception as problem:  # whatever a user's code raises
            raise errors.ArgumentError(
                f"model {self.label} fails for {inputs} inputs and a state of {state} ({type(problem).__name__}: "
                f"{errors.shortened(str(problem))})."
            ) from problem
        if not isinstance(made, Cell):
            raise errors.ArgumentError(
                f"model {self.label} gives a {type(made).__name__}, but must give a gnode.cells.Cell."
            )
        if made.inputs != inputs:
            raise errors.ArgumentError(f"model {self.label} has inputs={made.inputs}, but was asked for {inputs}.")
        return made

    def _drawn(self, inputs: int, state: int, given: dict[str, Any]) -> Any:
        return _imported("model", self.factory)(inputs, state, **given)


def _own_entry(place: str) -> OwnCell:
    """Makes the entry of a user's own cell from the arguments that it takes."""
    made = own_code.resolve(place)
    arguments = list(own_code.signature(place, made).parameters.values())
    by_name = {one.name: one for one in arguments if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}
    positional = [one.name for one in arguments if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    if len(positional) < 2 or "key" not in by_name:
        raise errors.ArgumentError(
            f"model {errors.shown(place)} takes ({', '.join(by_name)}), but must take (inputs, state, *, key) and its "
            f"options: the numbers of inputs and units, and a key of jax."
        )
    own = [name for name in by_name if name not in (*positional[:2], "key")]
    for name in own:
        if name not in OPTIONS:
            default = by_name[name].default
            example = None if default is inspect.Parameter.empty else default
            OWN_OPTIONS[name] = option_like("network", example, f"Argument of {own_code.own_name(place)}.")
    summary = (inspect.getdoc(made) or "").split("\n")[0][:300]
    return OwnCell(
        place, place, own_code.own_name(place), "#332288", tuple(own), summary if summary.isprintable() else ""
    )


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
