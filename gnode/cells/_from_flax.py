"""Cells with the weights of Flax's recurrent cells."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jax.typing import ArrayLike

from gnode import errors
from gnode.arguments import checked
from gnode.cells._base import Cell
from gnode.cells._imported import KINDS, Gate, Imported, gates_of, kind_of, numbers

GATES = {"rnn": ("h",), "gru": ("r", "z", "n"), "lstm": ("i", "f", "g", "o")}
"""The order of the columns where Flax has one layer for all gates."""

_APART: dict[frozenset[str], dict[str, tuple[str, str]]] = {
    frozenset(("i", "h")): {"h": ("i", "h")},
    frozenset(("ir", "iz", "in", "hr", "hz", "hn")): {gate: (f"i{gate}", f"h{gate}") for gate in "rzn"},
    frozenset(("ii", "if", "ig", "io", "hi", "hf", "hg", "ho")): {gate: (f"i{gate}", f"h{gate}") for gate in "ifgo"},
}
"""By the names of its layers, the gates of a cell, each with its layers of the input and of the state."""


@checked
def from_flax(
    params: Mapping[str, Any],
    *,
    nonlinearity: str | None = None,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
) -> Cell:
    """Makes a cell with the parameters of Flax's `SimpleCell`, `GRUCell`, `LSTMCell` or `OptimizedLSTMCell`.

    They may be those of `flax.linen` (`variables["params"]`) or of `flax.nnx` (`nnx.state(cell)`); which cell it is shows in
    the names of its layers. One Euler step with dt = tau is exactly one step of Flax's cell. Flax is not imported. The cell
    is taken to have Flax's own activations, and no `residual`, which parameters do not tell.

    **Arguments:**

    - `params`: the nested parameters of one cell; levels that hold one thing alone, such as "params", are passed through.
      For several layers, join several cells by `Layers`.
    - `nonlinearity`: "tanh" or "relu", for a `SimpleCell`.
    - `tau`: the time constant in seconds, one number or one per unit.
    - `learn_tau`: as in `gated`.

    **Returns:** a `Gated` cell, a `GRU` or an `LSTM`.

    **Raises:** `ArgumentError` for the parameters of anything else, and for weights that do not fit together.

    >>> params = {"i": {"kernel": np.ones((2, 5)), "bias": np.zeros(5)}, "h": {"kernel": np.zeros((5, 5))}}
    >>> from_flax({"params": params}, nonlinearity="tanh")
    Gated(2 inputs, 5 units, F=5-5, tau=1, 40 parameters)
    """
    own = _inner(params)
    layers = {str(name).rstrip("_"): layer for name, layer in own.items()}  # nnx has "if_", as "if" is a word of Python
    how = Imported(nonlinearity, tau, learn_tau)
    if set(layers) == {"dense_i", "dense_h"}:
        W, U, b, c = _joined(layers, "dense_i", "dense_h")
        kind = kind_of("the kernel of dense_h", len(W), W.shape[1])
        return how.cell(kind, gates_of(GATES[kind], W, U, b, c))
    pairs = _APART.get(frozenset(layers))
    if pairs is None:
        raise errors.ArgumentError(
            f"params has {errors.shortened(', '.join(map(repr, layers)))}, which are not the layers of one SimpleCell, "
            f"GRUCell, LSTMCell or OptimizedLSTMCell of Flax; pass the parameters of one cell."
        )
    gates = {gate: _joined(layers, *pair) for gate, pair in pairs.items()}
    shapes = {(gate.W.shape, gate.U.shape) for gate in gates.values()}
    (square, wide), *others = shapes
    if others or square != (wide[0], wide[0]):
        raise errors.ArgumentError(f"params has kernels of shapes {sorted(shapes)}, which do not fit together.")
    return how.cell(KINDS[len(gates)], gates)


def _inner(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the parameters inside levels that hold nothing else."""
    while len(params) == 1 and isinstance(inner := next(iter(params.values())), Mapping):
        params = inner
    return params


def _joined(layers: Mapping[str, Any], of_input: str, of_state: str) -> Gate:
    """Returns the weights of two layers, whose kernels have a column for each output."""
    (U, b), (W, c) = (_dense(name, layers[name]) for name in (of_input, of_state))
    if len(U) != len(W):
        raise errors.ArgumentError(f"{of_input} has {len(U)} outputs, but {of_state} has {len(W)}; they must agree.")
    return Gate(W, U, b, c)


def _dense(name: str, layer: Any) -> tuple[np.ndarray, np.ndarray]:
    if not isinstance(layer, Mapping) or "kernel" not in layer or not set(layer) <= {"kernel", "bias"}:
        raise errors.ArgumentError(f"params has {name!r}, but it must hold a kernel, and a bias or nothing else.")
    kernel = errors.array(f"{name}/kernel", numbers(f"{name}/kernel", layer["kernel"]), ("rows", "columns")).T
    if "bias" not in layer:
        return kernel, np.zeros(len(kernel))
    return kernel, errors.array(f"{name}/bias", numbers(f"{name}/bias", layer["bias"]), (len(kernel),))
