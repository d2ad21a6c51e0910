"""A quick valid call of every relative among the cells, for `calls.py`; `valid_calls_science` has them in its table."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from gnode import cells

Call = tuple[Callable[..., Any], dict[str, Any]]

CELL: dict[str, Any] = {"inputs": 2, "state": 3, "key": 0}
COMMON: dict[str, Any] = {"tau": 0.5, "learn_tau": "no", "init": "glorot_normal", "bias_std": 0.1}
LAYERS: dict[str, Any] = {"widths": (4,), "hidden": "tanh", "final": "identity"}

DRAWN: dict[str, dict[str, Any]] = {
    "ncde": {**COMMON, **LAYERS, "time_channel": False},
    "gated_ncde": {**COMMON, **LAYERS, "gate_widths": (4,)},
    "nsde": {**COMMON, **LAYERS, "noise_widths": (4,)},
    "gated_nsde": {**COMMON, **LAYERS, "noise_widths": (4,)},
    "ode_lstm": {**COMMON, **LAYERS},
    "gru_ode_bayes": {**COMMON, "minimal": True, "masked": True, "impute": True},
    "unicornn": {**COMMON, "alpha": 0.5},
    "ltc": {"tau": 0.5, "learn_tau": "no"},
    "cfc": {**COMMON, "widths": (4,)},
    "lmu": {**COMMON, "order": 3, "memories": 1, "theta": 2.0, "gating": "input"},
    "s4d": {**COMMON, "modes": 2, "spectrum": "lin", "gating": "state", "mix": False},
    "lru": {**COMMON, "modes": 2, "gating": "no", "mix": True, "slowest": 0.9, "fastest": 0.1},
}
"""The options of every factory that draws one."""

CLASSES: dict[str, str] = {
    "NeuralCDE": "ncde",
    "GatedNeuralCDE": "gated_ncde",
    "NeuralSDE": "gated_nsde",
    "ODELSTM": "ode_lstm",
    "GRUODEBayes": "gru_ode_bayes",
    "UnICORNN": "unicornn",
    "LTC": "ltc",
    "CfC": "cfc",
    "LMU": "lmu",
    "S4D": "s4d",
    "LRU": "lru",
}
"""The classes, by a factory whose cell has the fields to call them with."""


def _factory(name: str) -> Callable[[], Call]:
    return lambda: (getattr(cells, name), CELL | DRAWN[name])


def _class(name: str) -> Callable[[], Call]:
    return lambda: (getattr(cells, name), dict(vars(getattr(cells, CLASSES[name])(**CELL))))


VALID: dict[str, Callable[[], Call]] = {
    **{name: _factory(name) for name in DRAWN},
    **{name: _class(name) for name in CLASSES},
    "layers": lambda: (cells.layers, {"model": "gru", "count": 2, **CELL}),
    "Layers": lambda: (cells.Layers, {"layers": (cells.gru(**CELL), cells.gru(3, 3, key=0))}),
    "Mixing": lambda: (cells.Mixing, {"W": jnp.ones((6, 3)), "c": jnp.zeros(6)}),
}
