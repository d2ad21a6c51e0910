"""Networks of every kind of cell and option, small and drawn at random."""

import jax

from gnode.cells import CELLS
from gnode.network import Network

STATES = 100
DT = 0.07
"""The length of a bin of which the map is computed, in seconds."""

REFUSED = {"ode_lstm", "gru_ode_bayes", "cfc", "s4d", "lru"}
"""Cells that the page does not show: maps, and those of complex numbers."""
SHOWN = [name for name in CELLS if name not in REFUSED]
NOTES = {
    "ncde": "NeuralCDE is also moved by changes of its input",
    "gated_ncde": "GatedNeuralCDE is also moved by changes of its input",
    "nsde": "The noise of NeuralSDE is left out",
    "gated_nsde": "The noise of NeuralSDE is left out",
}
"""How the sentence about what is missing begins, of the cells of which something is."""

VARIANTS = [
    *((name, {"tau": 0.3}, {}) for name in SHOWN),
    ("gnode", {"hidden": "tanh", "final": "softplus", "widths": (5,)}, {"initial": "affine", "readout_widths": (4,)}),
    ("gnode", {"hidden": "gelu", "final": "sigmoid", "widths": (5,), "gate_widths": (3,)}, {"method": "heun"}),
    ("gnode", {"hidden": "silu", "final": "elu", "widths": (5,), "leak": False}, {"initial": "learned"}),
    ("node", {"hidden": "sin", "final": "erf", "widths": (5,), "learn_tau": "shared"}, {"method": "midpoint"}),
    ("node", {"hidden": "leaky_relu", "final": "step", "widths": (5,)}, {"substeps": 3}),
    ("mgru", {"learn_tau": "per_unit", "activate_state": True}, {"method": "rk4", "substeps": 2}),
    ("gru", {"learn_tau": "per_unit"}, {"adjoint": "optimise_then_discretise"}),
    ("lem", {"gate": False}, {"substeps": 2}),
    ("lstm", {"learn_tau": "per_unit"}, {"interpolation": "linear"}),
    ("dale", {"hidden": "softplus", "density": 0.5}, {}),
    ("lowrank", {"rank": 2, "hidden": "erf"}, {}),
]


def drawn(name, options, of_network):
    biases = {"bias_std": 0.5} if "bias_std" in CELLS[name].options else {}
    cell = CELLS[name](2, 4, key=0, **biases | options)
    return Network(cell, 2, key=1, **of_network)


def reference(net, is_gated):
    """The functions of a network by jax, compiled as one, for a batch of states and inputs."""

    def values(h, x):
        found = {
            "field": net.cell.vector_field(h, x),
            "jacobian": jax.jacfwd(net.cell.vector_field)(h, x),
            "step": net.step(h, x, DT),
            "readout": net.read(h),
            "initial": net.initial(x),
        }
        if is_gated:
            open_gate = lambda h: net.cell.drift(h, x) / net.cell.time_constant  # noqa: E731
            found |= {
                "gate": net.cell.gate(h, x),
                "field_open_gate": open_gate(h),
                "jacobian_open_gate": jax.jacfwd(open_gate)(h),
            }
        return found

    return jax.jit(jax.vmap(values))
