"""Rivals in PyTorch: the same gnODE in an eager loop, and on a GPU the GRU of cuDNN with as many units.

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
from gnode.network import Network


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
    found = {"PyTorch, eager loop, one network": _eager_loop(shape, device)}
    if on_gpu:
        found["PyTorch, cuDNN GRU, one network"] = _gru(shape, device)
    return found


def _eager_loop(shape: BenchShape, device: Any) -> Callable[[], Any]:
    torch = _torch()

    net = shape.network()
    data = [torch.tensor(np.asarray(part), device=device) for part in shape.data()]
    weights = jax.tree.map(
        lambda leaf: torch.tensor(np.asarray(leaf), device=device, requires_grad=True),
        eqx.filter(net, eqx.is_inexact_array),
    )

    def gradient() -> Any:
        outputs = _outputs(net, weights, data[0], data[2])
        loss = ((outputs - data[1]) ** 2).mean()
        found = torch.autograd.grad(loss, jax.tree.leaves(weights), allow_unused=True)
        return _finished(device, (loss.item(), found))

    return gradient


def _outputs(net: Network, weights: Any, inputs: Any, dt: Any) -> Any:
    """Computes the outputs of a network in PyTorch; `net` gives its structure and `weights` the values."""
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


def _gru(shape: BenchShape, device: Any) -> Callable[[], Any]:
    torch = _torch()

    gru = torch.nn.GRU(shape.inputs, shape.state, batch_first=True).to(device)
    readout = torch.nn.Linear(shape.state, shape.outputs).to(device)
    inputs, targets, _ = (torch.tensor(np.asarray(part), device=device) for part in shape.data())
    weights = [*gru.parameters(), *readout.parameters()]

    def gradient() -> Any:
        loss = ((readout(gru(inputs)[0]) - targets) ** 2).mean()
        return _finished(device, (loss.item(), torch.autograd.grad(loss, weights)))

    return gradient


def _finished(device: Any, found: Any) -> float:
    """Waits for the device and returns the loss."""
    torch = _torch()

    if device.type == "cuda":
        torch.cuda.synchronize()
    return found[0]
