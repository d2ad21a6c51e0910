"""Cells with the weights of other frameworks: what the readers of PyTorch, Flax and Keras share."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from gnode import errors
from gnode.cells._base import Cell
from gnode.cells._gated import Gated
from gnode.cells._gru import GRU
from gnode.cells._lstm import LSTM
from gnode.cells._stack import Stack
from gnode.cells._timescale import timescale

KINDS: dict[int, str] = {1: "rnn", 3: "gru", 4: "lstm"}
"""The kinds of cell by their number of gates, which is how many rows of weights each unit has."""
NONLINEARITIES = ("tanh", "relu")
"""What a simple RNN may apply."""


class Gate(NamedTuple):
    """The affine map of one gate, W h + c + U x + b, with two biases as the frameworks have them."""

    W: np.ndarray
    U: np.ndarray
    b: np.ndarray
    c: np.ndarray


class Imported(NamedTuple):
    """How a cell is made of weights: the arguments that every reader takes beside them."""

    nonlinearity: str | None
    tau: ArrayLike | Sequence[float]
    learn_tau: str

    def cell(self, kind: str, gates: Mapping[str, Gate]) -> Cell:
        """Makes a cell. The gates are those of `KINDS`: h; r, z, n; or i, f, g, o."""
        if kind != "rnn" and self.nonlinearity is not None:
            raise errors.ArgumentError(
                f"nonlinearity is {errors.shown(self.nonlinearity)}, but these are the weights of a {kind.upper()}, "
                f"which has none to choose; leave it out."
            )
        return {"rnn": self._rnn, "gru": self._gru, "lstm": self._lstm}[kind](gates)

    def _rnn(self, gates: Mapping[str, Gate]) -> Cell:
        if self.nonlinearity is None:
            raise errors.ArgumentError(
                "nonlinearity is missing: these are the weights of a simple RNN, which do not tell what it applies; pass "
                "nonlinearity='tanh', the default of most frameworks, or 'relu'."
            )
        final = errors.one_of("nonlinearity", self.nonlinearity, NONLINEARITIES)
        W, U, b, c = gates["h"]
        F = Stack(W=(_array(W),), U=_array(U), b=(_array(b + c),), hidden=final, final=final)
        return Gated(F=F, G=None, **self._sizes(gates["h"]))

    def _gru(self, gates: Mapping[str, Gate]) -> Cell:
        r, z, n = gates["r"], gates["z"], gates["n"]
        g = Gate(*(-array for array in z))  # 1 - sigmoid(a) = sigmoid(-a): z is what stays, g what comes in
        return GRU(
            W=_rows(r.W, g.W, n.W),
            U=_rows(r.U, g.U, n.U),
            b=_rows(r.b + r.c, g.b + g.c, n.b),
            c=_array(n.c),
            **self._sizes(n),
        )

    def _lstm(self, gates: Mapping[str, Gate]) -> Cell:
        ordered = [gates[name] for name in "ifgo"]
        return LSTM(
            W=_rows(*(gate.W for gate in ordered)),
            U=_rows(*(gate.U for gate in ordered)),
            b=_rows(*(gate.b + gate.c for gate in ordered)),
            **self._sizes(ordered[0]),
        )

    def _sizes(self, gate: Gate) -> dict[str, Any]:
        units, inputs = gate.U.shape
        return {"timescale": timescale(self.tau, self.learn_tau, units), "inputs": inputs, "units": units}


def gates_of(names: Sequence[str], W: np.ndarray, U: np.ndarray, b: np.ndarray, c: np.ndarray) -> dict[str, Gate]:
    """Splits the weights of all gates, whose rows are one gate after another, into those of each."""
    split = [np.split(array, len(names)) for array in (W, U, b, c)]
    return {name: Gate(*(parts[place] for parts in split)) for place, name in enumerate(names)}


def kind_of(name: str, rows: int, units: int) -> str:
    """Returns the kind of a cell whose matrix `name` of the state has so many rows for its number of units."""
    gates = rows // units if units and rows % units == 0 else 0
    if gates not in KINDS:
        raise errors.ArgumentError(
            f"{name} has {rows} values for each of {units} units, but a simple RNN has as many as units, a GRU three times "
            f"and an LSTM four times as many."
        )
    return KINDS[gates]


def numbers(name: str, value: Any) -> np.ndarray:
    """Returns weights, of any array library, as an array of float64 on the host."""
    if hasattr(value, "detach"):  # a tensor of PyTorch, possibly on a GPU
        try:
            value = value.detach().cpu().numpy()
        except (TypeError, RuntimeError) as problem:  # bfloat16 and sparse or quantised tensors
            raise errors.ArgumentError(
                f"{name} is no tensor that numpy can hold ({errors.shortened(str(problem))}); convert the module first, "
                f"such as by module.float()."
            ) from problem
    return errors.array(name, value)


def _array(values: np.ndarray) -> Any:
    return jnp.asarray(values, dtype=float)


def _rows(*blocks: np.ndarray) -> Any:
    return _array(np.concatenate(blocks))
