"""Networks with the weights of a PyTorch model: a recurrent module and a linear readout."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from gnode import errors
from gnode.arguments import checked
from gnode.cells import Cell
from gnode.cells import from_torch as cell_from_torch
from gnode.cells.torch_state import TorchState, read_state
from gnode.network._initial_state import InitialState
from gnode.network._network import Network
from gnode.network._readout import Readout


@checked
def from_torch(
    source: Any,
    *,
    rnn: str = "rnn",
    readout: str = "readout",
    nonlinearity: str | None = None,
    initial: InitialState | None = None,
    tau: ArrayLike | Sequence[float] = 1.0,
    learn_tau: str = "no",
) -> Network:
    """Makes a network with the weights of a PyTorch model that is a recurrent module with a `torch.nn.Linear` behind it.

        model(x) = readout(rnn(x)),     y_t = C h_t + d.

    With bins of length tau the network computes what the model does in evaluation mode.

    **Arguments:**

    - `source`: the model, or its state dict.
    - `rnn`, `readout`: the names of the two parts in the model.
    - `nonlinearity`, `tau`, `learn_tau`: as in `gnode.cells.from_torch`.
    - `initial`: the initial state; zeros by default, as in PyTorch.

    **Returns:** a `Network`.

    **Raises:** `ArgumentError` as in `gnode.cells.from_torch`, for a readout that does not fit, and for a model with weights
    in other parts.

    >>> state = {"rnn.weight_ih_l0": np.ones((15, 2)), "rnn.weight_hh_l0": np.zeros((15, 5)), "fc.weight": np.ones((3, 5))}
    >>> from_torch(state, readout="fc").outputs
    3
    """
    options: dict[str, Any] = {"nonlinearity": nonlinearity, "tau": tau, "learn_tau": learn_tau}
    cell = cell_from_torch(source, prefix=rnn, **options)
    state = read_state(source)
    used = {*state.names_below(rnn), *state.names_below(readout)}
    if others := [name for name in state.arrays if name not in used]:
        raise errors.ArgumentError(
            f"source has {others[0]!r}, but a network has a cell and a readout only; tell their names (rnn, readout), or "
            f"take the cell alone by gnode.cells.from_torch(source, prefix={rnn!r})."
        )
    made = Network(cell, 1, initial="zeros" if initial is None else initial, key=0)
    return eqx.tree_at(lambda net: net.readout, made, _readout(state, readout, cell))


def _readout(state: TorchState, name: str, cell: Cell) -> Readout:
    """Reads the weight and the bias of a linear module."""
    below = {one.removeprefix(f"{name}.") for one in state.names_below(name)}
    if "weight" not in below or not below <= {"weight", "bias"}:
        has = f"it has {', '.join(sorted(below))}" if below else "there is no such part"
        raise errors.ArgumentError(f"readout is {name!r}, but must name a torch.nn.Linear of the model; {has}.")
    C = errors.array(f"{name}.weight", state.numbers(f"{name}.weight"), ("outputs", cell.units))
    d = state.numbers(f"{name}.bias") if "bias" in below else np.zeros(len(C))
    d = errors.array(f"{name}.bias", d, (len(C),))
    return Readout(C=(jnp.asarray(C, dtype=float),), d=(jnp.asarray(d, dtype=float),))
