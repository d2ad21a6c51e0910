"""Rivals in PyTorch: its own GRU and LSTM; gnODE and LEM, which it does not have, in an eager loop of the same equations.

On a GPU a gnODE is compared with the GRU of cuDNN of as many units, too.

PyTorch is not a dependency; these rows are measured only if it is installed.
"""

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np

from gnode.bench._shapes import BenchShape
from gnode.cells import Gated, Stack
from gnode.devices import available_cores
from gnode.network import Network
from gnode.trained import trainable

ITS_OWN = {"gru": "GRU", "lstm": "LSTM"}
"""The models that PyTorch has, and its names for them."""


def is_installed() -> bool:
    """Whether PyTorch is installed."""
    return importlib.util.find_spec("torch") is not None


def _torch() -> Any:
    return importlib.import_module("torch")


def calls(shape: BenchShape) -> dict[str, Callable[[], Any]]:
    """Returns functions that compute the gradient of one network, by name.

    There are none without PyTorch, or if jax computes on a GPU that PyTorch cannot use.
    """
    if not is_installed():
        return {}
    torch = _torch()

    on_gpu = jax.default_backend() == "gpu"
    if on_gpu and not torch.cuda.is_available():
        return {}
    device = torch.device("cuda" if on_gpu else "cpu")
    torch.set_num_threads(available_cores())
    if shape.model in ITS_OWN:
        name = ITS_OWN[shape.model]
        return {f"PyTorch, nn.{name}, one network": _its_own(name, shape, device)}
    if shape.model not in LOOPS:
        return {}
    found = {"PyTorch, eager loop, one network": _eager_loop(shape, device)}
    if on_gpu and shape.model == "gnode":
        found["PyTorch, cuDNN GRU, one network"] = _its_own("GRU", shape, device)
    return found


def _eager_loop(shape: BenchShape, device: Any) -> Callable[[], Any]:
    torch = _torch()

    net = shape.network()
    data = [torch.tensor(np.asarray(part), device=device) for part in shape.data()]
    weights = jax.tree.map(
        lambda leaf: torch.tensor(np.asarray(leaf), device=device, requires_grad=True),
        eqx.filter(net, trainable(net)),
    )

    def gradient() -> Any:
        outputs = LOOPS[shape.model](net, weights, data[0], data[2])
        loss = ((outputs - data[1]) ** 2).mean()
        found = torch.autograd.grad(loss, jax.tree.leaves(weights), allow_unused=True)
        return _finished(device, (loss.item(), found))

    return gradient


def _outputs_of_gnode(net: Network, weights: Any, inputs: Any, dt: Any) -> Any:
    """Computes the outputs of a gnODE in PyTorch; `net` gives its structure and `weights` the values."""
    torch = _torch()

    cell, own = net.cell, weights.cell
    assert isinstance(cell, Gated)
    names = {"relu": torch.relu, "identity": lambda x: x, "sigmoid": torch.sigmoid, "tanh": torch.tanh}

    def stack(of: Stack, values: Any, h: Any, x: Any) -> Any:
        s = h @ values.W[0].T + x @ values.U.T + values.b[0]
        for W, b in zip(values.W[1:], values.b[1:]):
            s = names[of.hidden](s) @ W.T + b
        return names[of.final](s)

    tau = float(np.asarray(cell.timescale()).ravel()[0])
    starts = jax.vmap(net.initial)(jax.numpy.asarray(inputs[:, 0].detach().cpu().numpy()))
    h = torch.tensor(np.asarray(starts), device=inputs.device)
    states = []
    for t in range(inputs.shape[1]):
        x = inputs[:, t]
        drift = stack(cell.F, own.F, h, x) - h
        if cell.G is not None:
            drift = stack(cell.G, own.G, h, x) * drift
        h = h + (dt[:, t, None] / tau) * drift
        states.append(h)
    readout = weights.readout
    return torch.stack(states, 1) @ readout.C[-1].T + readout.d[-1]


def _outputs_of_lem(net: Network, weights: Any, inputs: Any, dt: Any) -> Any:
    """Computes the outputs of an LEM in PyTorch, with few products: inputs of all bins, and gates with z, at once."""
    torch = _torch()

    own, units = weights.cell, net.cell.units
    (W_z, W_y), tau = own.W.split(units), float(np.asarray(net.cell.time_constant).ravel()[0])
    of_y = torch.cat([own.W_gate, W_z]).T
    from_inputs = inputs @ torch.cat([own.U_gate, own.U]).T + torch.cat([own.b_gate, own.b])
    y = z = torch.zeros(len(inputs), units, device=inputs.device)
    states = []
    for t in range(inputs.shape[1]):
        gates_z, to_y = from_inputs[:, t].split([3 * units, units], dim=1)
        gate_z, gate_y, to_z = (gates_z + y @ of_y).split(units, dim=1)
        rate = dt[:, t, None] / tau
        z = z + rate * torch.sigmoid(gate_z) * (torch.tanh(to_z) - z)
        y = y + rate * torch.sigmoid(gate_y) * (torch.tanh(z @ W_y.T + to_y) - y)
        states.append(y)
    return torch.stack(states, 1) @ weights.readout.C[-1].T + weights.readout.d[-1]


LOOPS: dict[str, Callable[[Network, Any, Any, Any], Any]] = {"gnode": _outputs_of_gnode, "lem": _outputs_of_lem}
"""The models that are written out in an eager loop."""


def _its_own(name: str, shape: BenchShape, device: Any) -> Callable[[], Any]:
    torch = _torch()

    layer = getattr(torch.nn, name)(shape.inputs, shape.state, batch_first=True).to(device)
    readout = torch.nn.Linear(shape.state, shape.outputs).to(device)
    inputs, targets, _ = (torch.tensor(np.asarray(part), device=device) for part in shape.data())
    weights = [*layer.parameters(), *readout.parameters()]

    def gradient() -> Any:
        loss = ((readout(layer(inputs)[0]) - targets) ** 2).mean()
        return _finished(device, (loss.item(), torch.autograd.grad(loss, weights)))

    return gradient


def _finished(device: Any, found: Any) -> float:
    """Waits for the device and returns the loss."""
    torch = _torch()

    if device.type == "cuda":
        torch.cuda.synchronize()
    return found[0]
