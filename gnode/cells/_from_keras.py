"""Cells with the weights of Keras' SimpleRNN, GRU and LSTM."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jax.typing import ArrayLike

from gnode import errors
from gnode.arguments import checked
from gnode.cells._base import Cell
from gnode.cells._imported import Imported, gates_of, kind_of, numbers

GATES = {"rnn": ("h",), "gru": ("z", "r", "n"), "lstm": ("i", "f", "g", "o")}
"""The order of the columns of Keras' kernels."""
NAMES = ("kernel", "recurrent_kernel", "bias")
_ACTIVATIONS = {"activation": "tanh", "recurrent_activation": "sigmoid"}
"""What a GRU and an LSTM must apply; a simple RNN has one of `nonlinearity`."""


@checked
def from_keras(
    weights: Any,
    *,
    nonlinearity: str | None = None,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
) -> Cell:
    """Makes a cell with the weights of a Keras layer: `SimpleRNN`, `GRU` with `reset_after=True` (the default), or `LSTM`.

    One Euler step with dt = tau is exactly one step of the Keras layer. Keras is not imported. Arrays do not tell what a
    layer applies: a GRU and an LSTM are taken to have Keras' own activations. A layer tells it, and is checked.

    **Arguments:**

    - `weights`: the list from `layer.get_weights()`, a mapping with the names "kernel", "recurrent_kernel" and "bias" (or
      paths that end with them), or the layer itself. For several layers, join several cells by `Layers`.
    - `nonlinearity`: "tanh" or "relu", of a `SimpleRNN` whose weights are given.
    - `tau`: the time constant in seconds, one number or one per unit.
    - `learn_tau`: as in `gated`.

    **Returns:** a `Gated` cell for a simple RNN, a `GRU` or an `LSTM`.

    **Raises:** `ArgumentError` for a GRU with `reset_after=False`, other layers, and weights that do not fit together.

    >>> from_keras([np.ones((2, 20)), np.zeros((5, 20)), np.zeros(20)])
    LSTM(2 inputs, 5 units, tau=1, 160 parameters)
    """
    config: Mapping[str, Any] = {}
    if hasattr(weights, "get_weights") and hasattr(weights, "get_config"):
        config, weights = weights.get_config(), weights.get_weights()
    found = _named(weights)
    W = errors.array("recurrent_kernel", found["recurrent_kernel"], ("rows", "columns")).T
    U = errors.array("kernel", found["kernel"], ("rows", "columns")).T
    rows, units = W.shape
    kind = kind_of("recurrent_kernel", rows, units)
    if len(U) != rows:
        raise errors.ArgumentError(f"kernel has {len(U)} columns, but must have {rows}, as recurrent_kernel has.")
    own = _nonlinearity(config, kind)
    if None not in (own, nonlinearity) and own != nonlinearity:
        raise errors.ArgumentError(
            f"nonlinearity is {errors.shown(nonlinearity)}, but the layer's is {own!r}; leave it out."
        )
    b, c = _biases(found.get("bias"), kind, rows, config)
    return Imported(nonlinearity or own, tau, learn_tau).cell(kind, gates_of(GATES[kind], W, U, b, c))


def _named(weights: Any) -> dict[str, np.ndarray]:
    """Returns the weights by name."""
    if isinstance(weights, Mapping):
        pairs = [(str(name).rpartition("/")[2].removesuffix(":0"), value) for name, value in weights.items()]
    elif isinstance(weights, list | tuple) and len(weights) in (2, 3):
        pairs = list(zip(NAMES, weights))
    elif isinstance(weights, list | tuple):
        raise errors.ArgumentError(
            f"weights holds {len(weights)} arrays, but must hold kernel, recurrent_kernel and bias of one layer; a cell "
            f"goes through time forwards only, so pass the forward layer of a Bidirectional one."
        )
    else:
        raise errors.ArgumentError(
            f"weights is {errors.shown(weights)}, but must be a Keras layer, its get_weights(), or arrays by name."
        )
    found = {name: numbers(name, value) for name, value in pairs}
    if not {"kernel", "recurrent_kernel"} <= set(found) <= set(NAMES) or len(found) < len(pairs):
        names = errors.shortened(", ".join(name for name, _ in pairs)) or "nothing"
        raise errors.ArgumentError(
            f"weights holds {names}, but must hold kernel, recurrent_kernel and, where there is one, bias, of one layer."
        )
    return found


def _nonlinearity(config: Mapping[str, Any], kind: str) -> str | None:
    """Returns what a simple RNN applies, and refuses layers that do other things than a cell."""
    if config.get("reset_after") is False:
        raise _reset_before()
    if config.get("go_backwards"):
        raise errors.ArgumentError("the layer has go_backwards=True, but a cell goes through time forwards only.")
    if kind == "rnn":
        return config.get("activation")
    for name, wanted in _ACTIVATIONS.items():
        if config.get(name, wanted) != wanted:
            raise errors.ArgumentError(
                f"the layer has {name}={errors.shown(config[name])}, but a {kind.upper()} of gnode has {wanted!r} there."
            )
    return None


def _biases(bias: np.ndarray | None, kind: str, rows: int, config: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the bias of the input and that of the state, of which only a GRU has two."""
    zero = np.zeros(rows)
    if kind != "gru":
        return (zero if bias is None else errors.array("bias", bias, (rows,))), zero
    if bias is None and not config:
        raise errors.ArgumentError(
            f"weights of a GRU without a bias do not tell whether it has reset_after; pass the layer, or, if it has, a bias "
            f"of zeros of shape (2, {rows})."
        )
    if bias is None:
        return zero, zero
    if bias.ndim == 1:
        raise _reset_before()
    b, c = errors.array("bias", bias, (2, rows))
    return b, c


def _reset_before() -> errors.ArgumentError:
    return errors.ArgumentError(
        "the GRU has reset_after=False, which resets the state before its product, and gnode's resets it after; train one "
        "with reset_after=True, Keras' default."
    )
