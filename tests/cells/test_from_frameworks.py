"""Cells with the weights of PyTorch, Flax and Keras go where the frameworks' own go (tests/fixtures/framework_cells.npz)."""

import ast
import re
from collections import UserDict
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from required import needs_packages

import gnode
from gnode import errors
from gnode.cells import GRU, LSTM, Gated, Layers, from_flax, from_keras, from_torch
from gnode.solve import Solver, rollout_batch

FIXTURES = Path(__file__).parent.parent / "fixtures"
STORED = dict(np.load(FIXTURES / "framework_cells.npz"))
XS, H0, C0 = (STORED[name] for name in ("xs", "h0", "c0"))
CASES = sorted({tuple(name.split("/")[:2]) for name in STORED if "/" in name})
UNITS = len(H0)
ROUNDED = 1e-6
"""What float32 leaves: Keras computes products of a SimpleRNN in it, unless it runs on TensorFlow."""


def stored(framework, case):
    """The weights of a case by name, its states, and its outputs if it has any."""
    prefix = f"{framework}/{case}/"
    found = {name.removeprefix(prefix): value for name, value in STORED.items() if name.startswith(prefix)}
    return found, found.pop("states"), found.pop("outputs", None)


def nested(flat):
    """Flax's parameters: names with a slash as levels."""
    found = {}
    for name, value in flat.items():
        layer, name = name.split("/")
        found.setdefault(layer, {})[name] = value
    return found


def cell_of(framework, case, **options):
    weights, _, _ = stored(framework, case)
    if re.search("tanh|relu|Simple", case):
        options["nonlinearity"] = "relu" if "relu" in case else "tanh"
    if framework == "keras":
        return from_keras([weights[str(place)] for place in range(len(weights))], **options)
    if framework != "torch":
        return from_flax(nested(weights), **options)
    return from_torch(weights, **options | ({"prefix": "rnn"} if case == "network" else {}))


def start_of(cell, framework, case):
    """PyTorch's modules began at zero, its cell and the others at the stored state."""
    if framework == "torch" and case != "relu-cell":
        return np.zeros(cell.state_size)
    return np.concatenate([H0, C0])[: cell.state_size]


def compared(states, cell, expected):
    """States in the form in which they are stored: all of them, or those that a readout sees."""
    return np.asarray(states if expected.shape[-1] == cell.state_size else cell.visible(states))


@pytest.mark.parametrize(("framework", "case"), CASES)
def test_whole_rollouts_are_the_frameworks(framework, case, x64):
    _, expected, _ = stored(framework, case)
    atol = ROUNDED if framework == "keras" and "Simple" in case else 1e-12
    for tau in (1.0, 0.02):
        cell = cell_of(framework, case, tau=tau)
        start = start_of(cell, framework, case)
        alone = gnode.rollout(cell, XS, start, dt=tau)
        np.testing.assert_allclose(compared(alone, cell, expected), expected, atol=atol, rtol=0)
        xs, starts = jnp.stack([XS, 0 * XS]), jnp.stack([start, start])
        batch = rollout_batch(cell, xs, starts, jnp.full(xs.shape[:2], tau), Solver())
        np.testing.assert_allclose(compared(batch[0], cell, expected), expected, atol=atol, rtol=0)


@pytest.mark.parametrize(("framework", "case"), CASES)
def test_in_single_precision(framework, case):
    _, expected, _ = stored(framework, case)
    cell = cell_of(framework, case)
    states = gnode.rollout(cell, XS, start_of(cell, framework, case), dt=1.0)
    assert states.dtype == jnp.float32
    np.testing.assert_allclose(compared(states, cell, expected), expected, atol=3e-6, rtol=0)


@pytest.mark.parametrize(("name", "kind"), [("gru", GRU), ("lstm", LSTM)])
def test_pytorchs_cells(name, kind, x64):
    found = np.load(FIXTURES / "torch_cells.npz")
    weights = {key.removeprefix(f"{name}/"): found[key] for key in found if key.startswith(f"{name}/")}
    expected = weights.pop("states")
    cell = from_torch(weights)
    assert isinstance(cell, kind)
    start = np.concatenate([found["h0"], found["c0"]])[: cell.state_size]
    np.testing.assert_allclose(gnode.rollout(cell, found["xs"], start, dt=1.0), expected, atol=1e-12)


def test_the_kinds_of_cell():
    kinds = {case: type(cell_of("torch", case)) for framework, case in CASES if framework == "torch"}
    assert kinds["tanh"] is kinds["relu"] is Gated
    assert kinds["gru"] is kinds["gru-without-bias"] is GRU
    assert kinds["lstm-2-layers"] is kinds["tanh-3-layers"] is Layers
    assert [layer.units for layer in cell_of("torch", "tanh-3-layers").layers] == [UNITS] * 3


def test_without_biases_they_are_zero():
    cell = cell_of("torch", "gru-without-bias")
    assert not np.any(cell.b)
    assert not np.any(cell.c)


def test_options_of_the_time_constant():
    cell = cell_of("torch", "gru", tau=np.linspace(0.1, 0.5, UNITS), learn_tau="per_unit")
    np.testing.assert_allclose(cell.time_constant, np.linspace(0.1, 0.5, UNITS), rtol=1e-6)
    with pytest.raises(errors.ArgumentError, match="tau is"):
        cell_of("torch", "gru", tau=-1.0)


class Tensor:
    """What a tensor of PyTorch shows of itself."""

    def __init__(self, values):
        self.values = values

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        if self.values is None:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values


class Module:
    """What a module of PyTorch shows of itself."""

    def __init__(self, state, parts=None, **facts):
        self.state, self.parts = state, parts or {}
        vars(self).update(facts)

    def state_dict(self):
        return UserDict({name: Tensor(values) for name, values in self.state.items()})

    def get_submodule(self, name):
        return self.parts[name]


class RNN(Module): ...


class MyGRU(type("GRU", (Module,), {})): ...


class Own(Module): ...


def test_modules_by_their_interface(x64):
    weights, expected, _ = stored("torch", "relu")
    module = RNN(weights, nonlinearity="relu")
    for source, options in (
        (module, {}),
        (Own({f"rnn.{name}": value for name, value in weights.items()}, {"rnn": module}), {}),
        (
            Own({f"a.rnn.{k}": v for k, v in weights.items()} | {"b": H0}, {"a.rnn": module}),
            {"prefix": "a.rnn"},
        ),
    ):
        states = gnode.rollout(from_torch(source, **options), XS, np.zeros(UNITS), dt=1.0)
        np.testing.assert_allclose(states, expected, atol=1e-12)
    assert isinstance(from_torch(MyGRU(stored("torch", "gru")[0])), GRU)


def gru(**changes):
    """A state dict of a GRU with arrays replaced, or left out where they are None."""
    found = stored("torch", "gru")[0] | changes
    return {name: value for name, value in found.items() if value is not None}


def below(prefix, state):
    return {f"{prefix}.{name}": value for name, value in state.items()}


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        (gru(weight_hh_l0_reverse=H0), {}, "is bidirectional"),
        (gru(weight_hr_l0=H0), {}, "proj_size"),
        (gru(weight_hh_l0=None), {}, "no 'weight_hh_l0' or 'weight_hh'"),
        (gru(weight_ih_l0=None), {}, "no 'weight_ih_l0'"),
        (gru(weight_ih_l2=H0, weight_hh_l2=H0), {}, "none of layer '_l1'"),
        (gru(weight_hh_l0=np.ones((10, 5))), {}, "10 values for each of 5 units"),
        (gru(weight_hh_l0=np.ones(5)), {}, r"weight_hh_l0 has shape \(5,\)"),
        (gru(weight_ih_l0=np.ones((5, 3))), {}, "weight_ih_l0 has shape"),
        (gru(bias_ih_l0=np.ones(5)), {}, r"bias_ih_l0 has shape \(5,\), but must have shape \(15,\)"),
        (gru(bias_ih_l0=np.full(15, np.nan)), {}, "bias_ih_l0 holds NaN"),
        (gru(bias_ih_l0=Tensor(None)), {}, "convert the module first"),
        (gru(alpha=H0), {}, "source has 'alpha'"),
        (gru(), {"nonlinearity": "tanh"}, "a GRU, which has none to choose"),
        (gru(), {"prefix": "rnn"}, "prefix is 'rnn', but no weight's name begins so"),
        (stored("torch", "tanh")[0], {}, "nonlinearity is missing"),
        (stored("torch", "tanh")[0], {"nonlinearity": "tanhh"}, "Did you mean 'tanh'"),
        (RNN(stored("torch", "tanh")[0], nonlinearity="tanh"), {"nonlinearity": "relu"}, "the module's is 'tanh'"),
        (below("rnn", gru()) | {"fc.weight": H0}, {}, "source has 'fc.weight' beside.*prefix='rnn'"),
        (below("a", gru()) | below("b", gru()), {}, "2 recurrent modules; choose one: prefix='a' or 'b'"),
        (Own(gru()), {}, "source is a Own, but must be one of RNN"),
        (Own({"weight": H0}), {}, "source is a Own"),
        ({}, {}, "holds no weights"),
        ({3: H0}, {}, "must be a module of PyTorch"),
        ("model.pt", {}, "source is 'model.pt', but must be a module"),
        (RNN, {}, "must be a module of PyTorch"),
    ],
)
def test_what_pytorch_has_and_a_cell_has_not(source, options, says):
    with pytest.raises(errors.ArgumentError, match=f"{says}.*[.?]$") as raised:
        from_torch(source, **options)
    assert "\n" not in str(raised.value)


def test_real_modules_of_pytorch():
    needs_packages("torch")
    import torch

    xs = torch.tensor(XS, dtype=torch.float32)
    for module in (
        torch.nn.RNN(3, 4, nonlinearity="relu", num_layers=2),
        torch.nn.GRU(3, 4, batch_first=True),
        torch.nn.LSTM(3, 4, bias=False),
    ):
        cell = from_torch(module)
        expected = module(xs[None] if module.batch_first else xs)[0].detach().numpy().reshape(-1, 4)
        states = gnode.rollout(cell, XS, np.zeros(cell.state_size), dt=1.0)
        np.testing.assert_allclose(cell.visible(states), expected, atol=1e-6)
    for module, says in (
        (torch.nn.GRU(3, 4, bidirectional=True), "bidirectional"),
        (torch.nn.LSTM(3, 4, proj_size=2), "proj_size"),
        (torch.nn.Linear(3, 4), "source is a Linear"),
        (torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.GRU(3, 4)), "prefix='1'"),
    ):
        with pytest.raises(errors.ArgumentError, match=says):
            from_torch(module)


@pytest.mark.parametrize("make", ["linen", "nnx"])
def test_levels_of_flax_are_passed_through(make):
    params = nested(stored(make, "GRUCell")[0])
    for given in (params, {"params": params}, UserDict({"params": UserDict({"cell": UserDict(params)})})):
        assert isinstance(from_flax(given), GRU)


def flax_gru(**changes):
    return {
        name: layer for name, layer in (nested(stored("linen", "GRUCell")[0]) | changes).items() if layer is not None
    }


@pytest.mark.parametrize(
    ("params", "says"),
    [
        (flax_gru(hz=None), "which are not the layers of one SimpleCell"),
        ({"cell_0": flax_gru(), "cell_1": flax_gru()}, "which are not the layers"),
        ({}, "which are not the layers"),
        (flax_gru(hz={"kernel": np.ones((5, 4))}), "hz has 4"),
        (flax_gru(hz={"kernel": np.ones((4, 5))}), "do not fit together"),
        (flax_gru(hz={"kernel": np.ones(5)}), r"hz/kernel has shape \(5,\)"),
        (flax_gru(hz={"kernel": np.ones((5, 5)), "scale": H0}), "'hz', but it must hold a kernel"),
        (flax_gru(hz=H0), "'hz', but it must hold a kernel"),
        (nested(stored("linen", "SimpleCell")[0]), "nonlinearity is missing"),
        ([1.0], "params is"),
    ],
)
def test_what_is_no_cell_of_flax(params, says):
    with pytest.raises(errors.ArgumentError, match=f"{says}.*[.?]$"):
        from_flax(params)


class Layer:
    """What a layer of Keras shows of itself."""

    def __init__(self, case, **config):
        weights, _, _ = stored("keras", case)
        self.weights, self.config = [weights[str(place)] for place in range(len(weights))], config

    def get_weights(self):
        return self.weights

    def get_config(self):
        return self.config


def test_the_layer_itself_and_names():
    layer = Layer("SimpleRNN-relu", activation="relu", go_backwards=False)
    assert from_keras(layer).F.final == "relu"
    gru = Layer("GRU", activation="tanh", recurrent_activation="sigmoid", reset_after=True)
    by_name = {f"gru/gru_cell/{name}:0": w for name, w in zip(("kernel", "recurrent_kernel", "bias"), gru.weights)}
    for other in (from_keras(by_name), from_keras(gru.weights)):
        np.testing.assert_array_equal(other.W, from_keras(gru).W)


KERAS_GRU = Layer("GRU").weights


@pytest.mark.parametrize(
    ("weights", "options", "says"),
    [
        ([*KERAS_GRU[:2], np.ones(15)], {}, "reset_after=False"),
        (Layer("GRU", reset_after=False), {}, "reset_after=False"),
        (KERAS_GRU[:2], {}, r"pass the layer, or, if it has, a bias of zeros of shape \(2, 15\)"),
        (Layer("GRU", recurrent_activation="hard_sigmoid"), {}, "recurrent_activation='hard_sigmoid'"),
        (Layer("LSTM", activation="relu"), {}, "activation='relu'"),
        (Layer("LSTM", go_backwards=True), {}, "go_backwards=True"),
        (Layer("SimpleRNN"), {}, "nonlinearity is missing"),
        (Layer("SimpleRNN", activation="elu"), {}, "nonlinearity is 'elu'"),
        (Layer("SimpleRNN", activation="relu"), {"nonlinearity": "tanh"}, "the layer's is 'relu'"),
        (KERAS_GRU + KERAS_GRU, {}, "weights holds 6 arrays.*Bidirectional"),
        ([KERAS_GRU[0][:, :5], *KERAS_GRU[1:]], {}, "kernel has 5 columns, but must have 15"),
        ({"kernel": H0}, {}, "weights holds kernel, but must hold"),
        ({"a/kernel": H0, "b/kernel": H0, "recurrent_kernel": H0}, {}, "of one layer"),
        ({}, {}, "weights holds nothing"),
        (3, {}, "weights is 3"),
    ],
)
def test_what_keras_has_and_a_cell_has_not(weights, options, says):
    with pytest.raises(errors.ArgumentError, match=f"{says}.*[.?]$"):
        from_keras(weights, **options)


def test_a_keras_gru_without_biases_by_its_layer(x64):
    layer = Layer("GRU", reset_after=True)
    layer.weights = layer.weights[:2]
    with_zeros = [*layer.weights, np.zeros((2, 3 * UNITS))]
    np.testing.assert_array_equal(from_keras(layer).b, from_keras(with_zeros).b)


def test_a_whole_network(x64):
    state, states, outputs = stored("torch", "network")
    net = gnode.network.from_torch(state)
    found = net(XS, dt=1.0)
    np.testing.assert_allclose(found.states, states, atol=1e-12)
    np.testing.assert_allclose(found.outputs, outputs, atol=1e-12)
    renamed = {name.replace("readout.", "fc.").replace("rnn.", "core."): value for name, value in state.items()}
    net = gnode.network.from_torch(renamed, rnn="core", readout="fc", tau=0.1)
    np.testing.assert_allclose(net.run(XS[None], dt=0.1).outputs[0], outputs, atol=1e-12)
    del renamed["fc.bias"]
    net = gnode.network.from_torch(renamed, rnn="core", readout="fc")
    np.testing.assert_allclose(net(XS, dt=1.0).outputs, outputs - state["readout.bias"], atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "options", "says"),
    [
        ({"embed.weight": H0}, {}, "source has 'embed.weight'.*prefix='rnn'"),
        (
            {"readout.weight": np.ones((2, 4))},
            {},
            r"readout.weight has shape \(2, 4\), but must have shape \(outputs, 5\)",
        ),
        ({"readout.bias": np.ones(3)}, {}, r"readout.bias has shape \(3,\)"),
        ({"readout.0.weight": H0}, {}, "readout is 'readout', but must name a torch.nn.Linear"),
        ({}, {"rnn": "core"}, "prefix is 'core'"),
        ({}, {"readout": "fc"}, "source has 'readout.weight'.*tell their names"),
        ({}, {"initial": gnode.network.FixedState(jnp.zeros(3))}, "initial gives a state of shape"),
    ],
)
def test_what_does_not_make_a_network(changes, options, says):
    with pytest.raises(errors.ArgumentError, match=f"{says}.*[.?]$"):
        gnode.network.from_torch(stored("torch", "network")[0] | changes, **options)


def test_an_initial_state_of_ones_own():
    state, _, _ = stored("torch", "network")
    net = gnode.network.from_torch(state, initial=gnode.network.LearnedState(jnp.asarray(H0, jnp.float32)))
    np.testing.assert_allclose(net.initial(jnp.asarray(XS[0], jnp.float32)), H0, rtol=1e-6)


def test_no_framework_is_imported():
    package = Path(gnode.__file__).parent
    for path in [*(package / "cells").glob("*.py"), *(package / "network").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & {"torch", "flax", "keras"}, path
