"""Small networks of every kind, and what they do; run as a script it exports all of them to PyTorch.

python tests/export/small_exports.py FOLDER      # then tests/fixtures/make_torch_exports.py, where torch is
"""

import functools
import importlib.util
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import gnode
from gnode import Solver, export_network
from gnode.cells import CELLS
from gnode.precision import double, to_dtype

SIZES = {"widths": (4,), "gate_widths": (), "noise_widths": (), "modes": 2, "order": 3}
"""Of every option that says how large a cell is."""
INPUTS, OUTPUTS, TRIALS, BINS, DT = 2, 2, 3, 6, 0.07
MORE = {
    "gnode by heun": {"model": "gnode", "method": "heun"},
    "gnode by midpoint": {"model": "gnode", "method": "midpoint", "hidden": "gelu", "final": "softplus"},
    "gnode by rk4": {"model": "gnode", "method": Solver("rk4", interpolation="linear"), "learn_tau": "per_unit"},
    "lem in 3 steps": {"model": "lem", "method": Solver("forward_backward_euler", substeps=3, interpolation="linear")},
    "ncde on lines": {"model": "ncde", "method": Solver("heun", interpolation="linear"), "time_channel": True},
    "gru_ode_bayes with masks": {"model": "gru_ode_bayes", "masked": True},
    "lmu by euler": {"model": "lmu", "method": "forward_backward_euler", "gating": "state"},
    "s4d with a gate": {"model": "s4d", "gating": "state", "mix": False},
    "2 layers of gated_ncde": {"model": "gated_ncde", "layers": 2},
    "2 layers of gru, augmented": {"model": "gru", "layers": 2, "augment": 1, "readout_widths": (4,)},
    "node, step": {"model": "node", "final": "step", "hidden": "leaky_relu", "initial": "learned"},
}
CASES = {**{name: {"model": name} for name in CELLS}, **MORE}
QUICK = ("gnode by rk4", "lem", "gated_ncde", "ltc", "lru", "2 layers of gru, augmented")
"""One of each sort, of which gradients are compared."""


@functools.cache
def drawn(case):
    given = {"initial": "affine", "tau": 0.3} | CASES[case]
    has = CELLS[given["model"]].options
    biases = {"bias_std": 0.5} if "bias_std" in has else {}
    sizes = {name: value for name, value in SIZES.items() if name in has}
    return gnode.build(**biases | sizes | given, inputs=INPUTS, outputs=OUTPUTS, state=3, key=1)


def inputs():
    return np.random.default_rng(0).normal(size=(TRIALS, BINS, INPUTS)).astype(np.float32)


def unequal_bins():
    """Lengths of bins, of which the last ones are padding."""
    dt = np.random.default_rng(1).uniform(0.3 * DT, DT, size=(TRIALS, BINS)).astype(np.float32)
    dt[1, -2:] = 0.0
    return dt


@functools.cache
def expected(case, dtype="float32", unequal=False):
    """States and outputs by the network itself."""
    dt = unequal_bins() if unequal else DT
    if dtype == "float32":
        went = drawn(case).run(inputs(), dt=dt)
    else:
        with double():
            went = to_dtype(drawn(case), jnp.float64).run(inputs().astype(float), dt=np.asarray(dt, float))
    return np.asarray(went.states), np.asarray(went.outputs)


def loaded(folder):
    """A file as its users import it, under a name of its own."""
    spec = importlib.util.spec_from_file_location("exported", folder / "network.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def code_of(text):
    """A file without its head, which names versions."""
    return text.split('"""', 2)[2]


def main(folder):
    for case in CASES:
        export_network(drawn(case), "torch", Path(folder) / case, dt=DT)
        np.savez(Path(folder) / case / "inputs.npz", xs=inputs(), dt=unequal_bins())


if __name__ == "__main__":
    main(sys.argv[1])
