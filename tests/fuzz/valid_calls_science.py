"""A quick valid call of every public function of the rooms about networks and theory, for `calls.py`."""

import functools
import types as types_of_python
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import valid_calls_relatives

import gnode
from gnode import (
    activations,
    bench,
    cells,
    devices,
    expressivity,
    init,
    network,
    solve,
    tasks,
    theory,
    types,
)
from gnode.bench import _table
from gnode.cells import registry

Call = tuple[Callable[..., Any], dict[str, Any]]

INPUTS, UNITS, OUTPUTS, TIME, TRIALS = 2, 3, 2, 4, 2
CELL = {"inputs": INPUTS, "state": UNITS, "key": 0}
COMMON = {"tau": 0.5, "learn_tau": "no", "init": "glorot_normal", "bias_std": 0.1}
PARTS = {"init": "critical", "init_input": "glorot_normal", "drive": 0.5}
STACK = {"depth": 2, "sigma_w": 1.5, "activation": "tanh", "scaling": "kaiming", "sigma_b": 0.1}


@functools.cache
def rnn() -> cells.Gated:
    return cells.rnn(**CELL)


@functools.cache
def net() -> gnode.Network:
    return gnode.build("rnn", INPUTS, OUTPUTS, state=UNITS, key=0)


def layer(rows: int, columns: int) -> jax.Array:
    return jnp.ones((rows, columns)) / columns


def stack() -> dict[str, Any]:
    weights = {"W": (layer(4, UNITS), layer(UNITS, 4)), "U": layer(4, INPUTS), "b": (jnp.zeros(4), jnp.zeros(UNITS))}
    return weights | {"hidden": "relu", "final": "tanh", "activate_state": False}


def gates(count: int, **more: Any) -> dict[str, Any]:
    rows, own = count * UNITS, {"timescale": cells.FixedTimescale(jnp.array(1.0)), "inputs": INPUTS, "units": UNITS}
    return {"W": layer(rows, UNITS), "U": layer(rows, INPUTS), "b": jnp.zeros(rows)} | more | own


def torch_state() -> dict[str, np.ndarray]:
    square, wide = np.ones((UNITS, UNITS)), np.ones((UNITS, INPUTS))
    return {"rnn.weight_hh_l0": square, "rnn.weight_ih_l0": wide, "out.weight": np.ones((OUTPUTS, UNITS))}


def lem_gates() -> dict[str, Any]:
    rows = 2 * UNITS
    return {"W_gate": layer(rows, UNITS), "U_gate": layer(rows, INPUTS), "b_gate": jnp.zeros(rows)}


@functools.wraps(cells.register)
def register_and_forget(*args: Any, **kwargs: Any) -> None:
    before = dict(cells.CELLS)
    try:
        cells.register(*args, **kwargs)
    finally:
        cells.CELLS.clear()
        cells.CELLS.update(before)


@functools.cache
def field() -> theory.SampledField:
    return theory.draw(theory.RandomStack(2, 0.5), state=5)


@functools.cache
def experiment() -> theory.CapacityExperiment:
    return theory.capacity_experiment(units=(3,), rows=2)


@functools.cache
def measured() -> expressivity.Expressivity:
    return expressivity.Expressivity((expressivity.Point(**point()),), seeds=2, epochs=10)


def point() -> dict[str, Any]:
    place = {"model": "gru", "state": 10, "hidden": 0, "layers": 0, "tau": 1.0, "bins": 100}
    return place | {"lr": 1e-3, "weight_decay": 1e-2, "errors": (0.2, 0.4), "members": (0, 1)}


def signs() -> np.ndarray:
    return theory.random_sequence(4, 3)


def bench_tiny() -> Call:
    # What takes seconds is left out: the speed of a large product, and diffrax and PyTorch as rivals.
    _table.measured_peak = lambda: 1e9
    _table.rivals = lambda net: {name: bench.RIVALS[name] for name in ("gnode", "plain scan")}
    _table.pytorch = types_of_python.SimpleNamespace(calls=lambda shape: {})
    bench.SHAPES["tiny"] = bench.BenchShape(2, 2, 3, (4,), (), bins=3, trials=2)
    return bench.bench, {"shapes": ["tiny"], "rounds": 1, "skip": "diffrax", "progress": None, "after_shape": None}


def fit_of() -> Call:
    small = {
        "lengths": [2],
        "lr": [1e-2],
        "weight_decay": [1e-3],
        "seeds": 1,
        "epochs": 1,
        "channels": 2,
        "error": 0.05,
    }
    return expressivity.longest_fit_of, {"make": lambda key: gnode.build("gru", 2, 2, state=2, key=key)} | small


def sweep_options() -> dict[str, Any]:
    return {
        "out": "sweep",
        "lr": [1e-2],
        "weight_decay": [1e-3],
        "seeds": 1,
        "epochs": 1,
        "progress": False,
        "channels": 2,
    }


def key() -> jax.Array:
    return jax.random.key(0)


PROCESS = {
    "process": tasks.OrnsteinUhlenbeck(),
    "bins": 2,
    "channels": 2,
    "dt": 1.0,
    "key": 0,
    "start": 0.0,
    "steps": 2,
}
RULE = init.Initialiser("kaiming", "normal")

VALID: dict[str, Callable[[], Call]] = {
    # networks
    "build": lambda: (gnode.build, {"model": "gnode", "outputs": OUTPUTS, "widths": (4,), "gate_widths": (), "leak": True,
                                    "hidden": "relu", "final": "tanh", "solver": {"substeps": 2}, "init_readout": "critical",
                                    **CELL, **COMMON, **PARTS, "init_gate": "pytorch"}),
    "Network": lambda: (gnode.Network, {"cell": rnn(), "outputs": OUTPUTS, "readout_widths": (4,), "method": "euler",
                                        "substeps": 1, "key": 0}),
    "Network.run": lambda: (net().run, {"xs": np.ones((TRIALS, TIME, INPUTS)), "dt": 0.1, "h0": np.zeros(UNITS)}),
    "Network.run, a length for each bin": lambda: (
        net().run, {"xs": np.ones((TRIALS, TIME, INPUTS)), "dt": np.full((TRIALS, TIME), 0.1)}),
    "Network.__call__": lambda: (net().__call__, {"xs": np.ones((TIME, INPUTS)), "dt": 0.1}),
    "Network.step": lambda: (net().step, {"h": jnp.zeros(UNITS), "x": jnp.zeros(INPUTS), "dt": 0.1}),
    "Network.read": lambda: (net().read, {"states": jnp.zeros((TIME, UNITS))}),
    "FixedState": lambda: (network.FixedState, {"h0": jnp.zeros(UNITS)}),
    "LearnedState": lambda: (network.LearnedState, {"h0": jnp.zeros(UNITS)}),
    "AffineState": lambda: (network.AffineState, {"A": layer(UNITS, INPUTS), "a": jnp.zeros(UNITS)}),
    "AugmentedState": lambda: (network.AugmentedState, {"state": network.FixedState(jnp.ones(UNITS)), "units": UNITS,
                                                        "augment": 1}),
    "initial_state": lambda: (network.initial_state, {"kind": "affine", "cell": rnn(), "rule": RULE, "key": key()}),
    "Readout": lambda: (network.Readout, {"C": (layer(4, UNITS), layer(OUTPUTS, 4)), "d": (jnp.zeros(4), jnp.zeros(OUTPUTS)),
                                          "hidden": "relu"}),
    "path_divergence": lambda: (solve.path_divergence, {
        "cell": cells.nsde(**CELL), "prior": cells.nsde(**CELL), "xs": jnp.ones((TRIALS, TIME, INPUTS)),
        "h0": jnp.zeros((TRIALS, UNITS)), "dt": jnp.ones((TRIALS, TIME)), "states": jnp.zeros((TRIALS, TIME, UNITS))}),
    # cells
    "gated": lambda: (cells.gated, {"widths": (4,), "gate_widths": (4,), "hidden": "relu", **CELL, **COMMON, **PARTS,
                                     "init_gate": "pytorch"}),
    "gnode": lambda: (cells.gnode, {"widths": (4,), **CELL, **COMMON}),
    "node": lambda: (cells.node, {"widths": (4,), **CELL, **COMMON}),
    "mgru": lambda: (cells.mgru, {**CELL, **COMMON}),
    "rnn": lambda: (cells.rnn, {**CELL, **COMMON, **PARTS, "activate_state": False}),
    "rate_rnn": lambda: (cells.rate_rnn, {**CELL, **COMMON}),
    "gru": lambda: (cells.gru, {**CELL, **COMMON}),
    "lem": lambda: (cells.lem, {**CELL, **COMMON}),
    "lstm": lambda: (cells.lstm, {**CELL, **COMMON, "forget_bias": 1.0}),
    "dale": lambda: (cells.dale, {**CELL, **COMMON, "excitatory": 0.5, "density": 0.5, "self_connections": True,
                                  "hidden": "softplus", "baseline": 0.1}),
    "lowrank": lambda: (cells.lowrank, {**CELL, **COMMON, "rank": 2, "hidden": "tanh"}),
    "gru_ode": lambda: (cells.gru_ode, {**CELL, **COMMON, "minimal": True}),
    "cornn": lambda: (cells.cornn, {**CELL, **COMMON, "gamma": 2.0, "epsilon": 0.5}),
    "hbnode": lambda: (cells.hbnode, {**CELL, **COMMON, "widths": (4,), "hidden": "tanh", "final": "identity"}),
    "ghbnode": lambda: (cells.ghbnode, {**CELL, **COMMON, "widths": (4,), "hidden": "tanh", "final": "identity"}),
    **valid_calls_relatives.VALID,
    "GRUODE": lambda: (cells.GRUODE, {**vars(cells.gru_ode(**CELL))}),
    "CoRNN": lambda: (cells.CoRNN, {**vars(cells.cornn(**CELL))}),
    "HeavyBall": lambda: (cells.HeavyBall, {**vars(cells.ghbnode(**CELL))}),
    "Dale": lambda: (cells.Dale, {**vars(cells.dale(**CELL))}),
    "LowRank": lambda: (cells.LowRank, {**vars(cells.lowrank(**CELL))}),
    "Gated": lambda: (cells.Gated, {"F": cells.Stack(**stack()), "G": None, "inputs": INPUTS, "units": UNITS, "leak": True,
                                    "timescale": cells.FixedTimescale(jnp.array(1.0))}),
    "GRU": lambda: (cells.GRU, gates(3, c=jnp.zeros(UNITS))),
    "LSTM": lambda: (cells.LSTM, gates(4)),
    "LEM": lambda: (cells.LEM, gates(2, **lem_gates())),
    "Stack": lambda: (cells.Stack, stack()),
    "FixedTimescale": lambda: (cells.FixedTimescale, {"tau": jnp.ones(UNITS)}),
    "LearnedTimescale": lambda: (cells.LearnedTimescale, {"log_tau": jnp.zeros(UNITS)}),
    "CellEntry": lambda: (cells.CellEntry, {**vars(cells.CELLS["gru"])}),
    "CellEntry.__call__": lambda: (cells.CELLS["gru"].__call__, {**CELL, **COMMON}),
    "from_torch": lambda: (cells.from_torch, {"source": torch_state(), "prefix": "rnn", "nonlinearity": "tanh", "tau": 0.5,
                                              "learn_tau": "no"}),
    "from_flax": lambda: (cells.from_flax, {"params": {"i": {"kernel": np.ones((2, 3))}, "h": {"kernel": np.ones((3, 3))}},
                                            "nonlinearity": "tanh", "tau": 0.5, "learn_tau": "no"}),
    "from_keras": lambda: (cells.from_keras, {"weights": [np.ones((2, 3)), np.ones((3, 3)), np.zeros(3)],
                                              "nonlinearity": "tanh", "tau": 0.5, "learn_tau": "no"}),
    "network.from_torch": lambda: (network.from_torch, {"source": torch_state(), "rnn": "rnn", "readout": "out",
                                                        "nonlinearity": "tanh", "tau": 0.5, "learn_tau": "no"}),
    "register": lambda: (register_and_forget, {"name": "my_gru", "entry": cells.CELLS["gru"]}),
    "cell_entry": lambda: (registry.cell_entry, {"name": "gru"}),
    # solvers
    "Solver": lambda: (gnode.Solver, {"method": "rk4"}),
    "Solver, adaptive": lambda: (gnode.Solver, {"method": "tsit5", "rtol": 1e-3, "max_steps": 100}),
    "as_solver": lambda: (solve.as_solver, {"cell": rnn(), "method": None, "options": {"substeps": 2}}),
    "check_kernel": lambda: (solve.check_kernel, {"cell": rnn(), "solver": gnode.Solver(kernel="fused")}),
    "advance": lambda: (solve.advance, {"cell": rnn(), "h": jnp.zeros(UNITS), "solver": gnode.Solver(),
                                        "bin": (jnp.zeros(INPUTS), jnp.zeros(INPUTS), jnp.float32(0.1))}),
    "rollout": lambda: (gnode.rollout, {"cell": rnn(), "xs": np.ones((TIME, INPUTS)), "h0": np.zeros(UNITS), "dt": 0.1,
                                        "method": "euler", "substeps": 1}),
    "rollout, by edges": lambda: (gnode.rollout, {"cell": rnn(), "xs": np.ones((TIME, INPUTS)), "h0": np.zeros(UNITS),
                                                  "ts": np.arange(TIME + 1.0)}),
    "rollout_batch": lambda: (solve.rollout_batch, {"cell": rnn(), "xs": jnp.ones((TRIALS, TIME, INPUTS)),
                                                    "h0": jnp.zeros((TRIALS, UNITS)), "dt": jnp.ones((TRIALS, TIME)),
                                                    "solver": gnode.Solver()}),
    "rollout_at_once": lambda: (solve.rollout_at_once, {"cell": rnn(), "xs": np.ones((TIME, INPUTS)), "dt": 0.1,
                                                        "h0": np.zeros(UNITS), "guess": np.zeros((TIME, UNITS)),
                                                        "rounds": 20, "jacobian": "full"}),
    "rollout_batch_at_once": lambda: (solve.rollout_batch_at_once, {"cell": rnn(), "h0": jnp.zeros((TRIALS, UNITS)),
                                                                    "xs": jnp.ones((TRIALS, TIME, INPUTS)),
                                                                    "dt": jnp.ones((TRIALS, TIME)),
                                                                    "solver": gnode.Solver(time="parallel")}),
    # initialisers
    "Initialiser": lambda: (init.Initialiser, {"sigma_w": 1.0}),
    "Initialiser.weight": lambda: (RULE.weight, {"key": key(), "shape": (3, 2)}),
    "Initialiser.bias": lambda: (RULE.bias, {"key": key(), "size": 3}),
    "Initialiser.for_field": lambda: (init.initialiser("critical").for_field, {
        "widths": (3, 4, 3), "activation": "relu", "input_variance": 0.5}),
    "initialiser": lambda: (init.initialiser, {"rule": "glorot_normal", "bias_std": 0.1}),
    "empirical_gain": lambda: (init.empirical_gain, {"jacobian": jnp.eye(3), "depth": 2}),
    "describe_rule": lambda: (init.describe_rule, {"name": "critical"}),
    # theory
    "RandomStack": lambda: (theory.RandomStack, STACK),
    "RandomStack, widths": lambda: (theory.RandomStack, {"depth": 2, "sigma_w": 1.0, "aspect": (3, 4, 3), "final": "tanh"}),
    "layer_factors": lambda: (theory.layer_factors, {"depth": 2, "scaling": "glorot", "aspect": 2.0}),
    "recursion": lambda: (theory.recursion, {"stack": theory.RandomStack(**STACK), "state_variance": 1.0}),
    "fixed_point": lambda: (theory.fixed_point, {"stack": theory.RandomStack(**STACK), "start": 1.0}),
    "FixedPoint.abscissa": lambda: (theory.fixed_point(theory.RandomStack(1, 0.5)).abscissa, {"leak": 1.0}),
    "critical_sigma_w": lambda: (theory.critical_sigma_w, {"depth": 2, "activation": "relu", "sigma_b": 0.1}),
    "critical_curve": lambda: (theory.critical_curve, {"depths": (2,), "sigma_b": (0.0, 0.5), "activation": "relu"}),
    "critical_sigma_w_relu": lambda: (theory.critical_sigma_w_relu, {"depth": 2, "scaling": "glorot", "aspect": 2.0}),
    "BalancedNetwork": lambda: (theory.BalancedNetwork, {"units": 10, "excitatory": 0.5, "density": 0.5,
                                                         "self_connections": False, "shape": 2}),
    "critical_strength": lambda: (theory.critical_strength, {"network": theory.BalancedNetwork(10), "activation": "relu",
                                                             "baseline": 1.0}),
    "kernel": lambda: (theory.kernel, {"activation": "relu", "variance": 1.0, "covariance": 0.5, "variance2": 1.0}),
    "kernel, by quadrature": lambda: (theory.kernel, {"activation": np.tanh, "variance": 1.0, "method": "quadrature"}),
    "pointwise": lambda: (theory.pointwise, {"activation": np.tanh, "argument": "activation"}),
    "Pointwise": lambda: (theory.Pointwise, {"name": "square", "function": np.square, "derivative": np.abs}),
    "two_time": lambda: (theory.two_time, {"stack": theory.RandomStack(**STACK), "state_variance": 1.0}),
    "chaotic_state": lambda: (theory.chaotic_state, {"stack": theory.RandomStack(1, 1.5, "erf", final="erf"), "max_lag": 5.0,
                                                     "points": 11}),
    "draw": lambda: (theory.draw, {"stack": theory.RandomStack(**STACK), "state": 4, "seed": 0, "sigma_z": 1.0}),
    "SampledField.field": lambda: (field().field, {"h": np.ones((5, 2)), "tangent": np.ones((5, 2))}),
    "SampledField.flow": lambda: (field().flow, {"h": np.ones((5, 2)), "tangent": np.ones((5, 2))}),
    "SampledField.jacobian": lambda: (field().jacobian, {"h": np.ones(5)}),
    "measure": lambda: (theory.measure, {"stack": theory.RandomStack(1, 0.5, sigma_b=0.1), "state": 4, "seed": 0,
                                         "max_steps": 10, "places": 2}),
    "measure_typical": lambda: (theory.measure_typical, {"stack": theory.RandomStack(1, 0.5), "state": 4, "variance": 1.0}),
    "Measured.abscissa": lambda: (theory.measure(theory.RandomStack(1, 0.5), 4).abscissa, {"leak": 1.0}),
    "simulate": lambda: (theory.simulate, {"network": field(), "duration": 1.0, "step": 0.1, "max_lag": 0.5, "batch": 2,
                                           "warm_up": 0.5, "seed": 0}),
    "gardner_capacity": lambda: (theory.gardner_capacity, {"margin": 0.5}),
    "cover_probability": lambda: (theory.cover_probability, {"transitions": 20, "weights": 10}),
    "random_sequence": lambda: (theory.random_sequence, {"units": 4, "transitions": 3, "seed": (0, 1)}),
    "stored_row": lambda: (theory.stored_row, {"sequence": signs(), "row": 0}),
    "longest_stored": lambda: (theory.longest_stored, {"sequence": signs(), "row": 0}),
    "largest_margin": lambda: (theory.largest_margin, {"sequence": signs(), "row": 0}),
    "capacity_experiment": lambda: (theory.capacity_experiment, {"units": (3,), "rows": 2, "max_load": 2.0, "seed": 0}),
    "CapacityExperiment.stored_fraction": lambda: (experiment().stored_fraction, {"index": 0, "load": np.array([0.5, 1.0])}),
    "CapacityExperiment.half_load": lambda: (experiment().half_load, {"index": 0}),
    # expressivity
    "expressivity.measure": lambda: (expressivity.measure, {"models": "gru", "state": [2], "bins": 2, **sweep_options()}),
    "longest_fit": lambda: (expressivity.longest_fit, {"model": "gru", "state": 2, "lengths": [2], **sweep_options()}),
    "longest_fit_of": fit_of,
    "LongestFit": lambda: (expressivity.LongestFit, {"error": 0.05, "lengths": (5, 10), "errors": np.ones((2, 3))}),
    "Point": lambda: (expressivity.Point, point()),
    "Curve": lambda: (expressivity.Curve, {"x": np.ones(2), "mean": np.ones(2), "std": np.ones(2)}),
    "Expressivity": lambda: (expressivity.Expressivity, {"points": measured().points, "seeds": 2, "epochs": 10}),
    "Expressivity.select": lambda: (measured().select, {"model": ["gru"], "state": [10]}),
    "Expressivity.values": lambda: (measured().values, {"axis": "state"}),
    "Expressivity.curve": lambda: (measured().curve, {"along": "state", "model": ["gru"]}),
    "solve_ou": lambda: (expressivity.solve_ou, dict(PROCESS)),
    "along_path": lambda: (expressivity.along_path, dict(PROCESS)),
    # bench and the ground
    "BenchShape": lambda: (bench.BenchShape, {"inputs": 2, "outputs": 2, "state": 3, "widths": (4,), "gate_widths": (),
                                              "bins": 3, "trials": 2}),
    "BenchShape.network": lambda: (bench.BenchShape(2, 2, 3, (4,), (), bins=3, trials=2).network, {"seed": 0}),
    "bench": bench_tiny,
    "compare": lambda: (bench.compare, {"rivals": {"nothing": lambda: None}, "rounds": 1, "after_round": None}),
    "measured_peak": lambda: (bench.measured_peak, {"size": 16, "rounds": 1}),
    "activation": lambda: (activations.activation, {"name": "relu"}),
    "as_key": lambda: (types.as_key, {"key": 3, "name": "key"}),
    "plain_key": lambda: (types.plain_key, {"key": 3}),
    "use_cores": lambda: (devices.use_cores, {"count": jax.device_count()}),
}  # fmt: skip

NOT_CALLED: dict[str, str] = {
    **dict.fromkeys(
        ["Cell", "GatedCell", "SecondOrderCell", "DiagonalCell", "Timescale", "AbstractNetwork", "InitialState"],
        "abstract: users subclass it",
    ),
    **dict.fromkeys(
        ["CapacityExperiment", "Critical", "CriticalCurve", "ChaoticState", "FixedPoint", "Recursion", "Estimate",
         "Measured", "SampledField", "Simulation", "Trajectory", "AtOnce"],
        "a result, which users do not make",
    ),
    "cell_label": "takes anything",
}  # fmt: skip
"""Public names without a valid call, and why."""

SLOW = ("bench", "solve_ou", "along_path", "longest_fit_of", "longest_fit", "expressivity.measure")
"""The calls that compile for seconds, left to the slow test."""
