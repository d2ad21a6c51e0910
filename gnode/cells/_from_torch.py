"""Cells with the weights of PyTorch's RNN, GRU and LSTM."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.typing import ArrayLike

from gnode import errors
from gnode.arguments import checked
from gnode.cells._base import Cell
from gnode.cells._imported import Imported, gates_of, kind_of
from gnode.cells._layers import Layers
from gnode.cells.torch_state import TorchState, read_state

GATES = {"rnn": ("h",), "gru": ("r", "z", "n"), "lstm": ("i", "f", "g", "o")}
"""The order of the rows of PyTorch's weights."""
_NAME = re.compile(r"(?:weight|bias)_(?:ih|hh)((?:_l\d+)?)")


@checked
def from_torch(
    source: Any,
    *,
    prefix: str | None = None,
    nonlinearity: str | None = None,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
) -> Cell:
    """Makes a cell with the weights of a `torch.nn.RNN`, `GRU` or `LSTM`, or of their cells (`RNNCell`, ...).

    One Euler step with dt = tau is exactly one step of the PyTorch module. PyTorch is not imported: a module is whatever has
    a `state_dict()`, and a state dict any mapping from PyTorch's names to tensors or arrays. Weights are float32, and
    float64 inside `gnode.precision.double()`. Dropout between layers, which acts in training only, is left out.

    **Arguments:**

    - `source`: the module, or its state dict.
    - `prefix`: where the recurrent part is in a larger module or state dict, such as "rnn"; the rest is left out.
    - `nonlinearity`: "tanh" or "relu", of an RNN whose state dict is given; a module tells it itself.
    - `tau`: the time constant in seconds, one number or one per unit.
    - `learn_tau`: as in `gated`.

    **Returns:** a `Gated` cell for an RNN, a `GRU`, an `LSTM`, or `Layers` of them for several layers.

    **Raises:** `ArgumentError` for a bidirectional module, one with `proj_size`, other modules, and weights that are missing
    or do not fit together.

    >>> import numpy as np
    >>> state = {"weight_ih_l0": np.ones((15, 2)), "weight_hh_l0": np.zeros((15, 5))}  # that of a GRU without biases
    >>> from_torch(state)
    GRU(2 inputs, 5 units, tau=1, 125 parameters)
    """
    state = read_state(source).recurrent(prefix)
    own = getattr(state.module, "nonlinearity", None)
    how = Imported(own if nonlinearity is None else nonlinearity, tau, learn_tau)
    if own is not None and own != how.nonlinearity:
        raise errors.ArgumentError(
            f"nonlinearity is {errors.shown(nonlinearity)}, but the module's is {own!r}; leave it out."
        )
    cells = [_layer(state, suffix, how) for suffix in _suffixes(state)]
    return cells[0] if len(cells) == 1 else Layers(tuple(cells))  # pyright: ignore[reportCallIssue]: as in layers


def _suffixes(state: TorchState) -> list[str]:
    """Returns what the names of each layer end with: "_l0", "_l1", ..., or nothing for a cell."""
    found: set[str] = set()
    for name in state.arrays:
        known = _NAME.fullmatch(name)
        if known is None:
            raise errors.ArgumentError(
                f"source has {name!r}, which no RNN, GRU or LSTM of torch.nn has; leave it out of the state dict."
            )
        found.add(known[1])
    if found == {""}:
        return [""]
    wanted = [f"_l{layer}" for layer in range(len(found))]
    if found != set(wanted):
        missing = next(suffix for suffix in wanted if suffix not in found)
        raise errors.ArgumentError(
            f"source has weights of {errors.shown(sorted(found))}, but none of layer {missing!r}; pass all layers."
        )
    return wanted


def _layer(state: TorchState, suffix: str, how: Imported) -> Cell:
    for name in (f"weight_hh{suffix}", f"weight_ih{suffix}"):
        if name not in state.arrays:
            raise errors.ArgumentError(f"source has no {name!r}, without which a layer is not known.")
    W, U = (_matrix(state, f"weight_{kind}{suffix}") for kind in ("hh", "ih"))
    rows, units = W.shape
    kind = kind_of(f"weight_hh{suffix}", rows, units)
    if len(U) != rows:
        raise errors.ArgumentError(
            f"weight_ih{suffix} has shape {U.shape}, but must have {rows} rows, as weight_hh has."
        )
    b, c = (_bias(state, f"bias_{kind}{suffix}", rows) for kind in ("ih", "hh"))
    return how.cell(kind, gates_of(GATES[kind], W, U, b, c))


def _matrix(state: TorchState, name: str) -> np.ndarray:
    return errors.array(name, state.numbers(name), ("rows", "columns"))


def _bias(state: TorchState, name: str, rows: int) -> np.ndarray:
    """Returns a bias; one that a module without biases does not have is zero."""
    return errors.array(name, state.numbers(name), (rows,)) if name in state.arrays else np.zeros(rows)
