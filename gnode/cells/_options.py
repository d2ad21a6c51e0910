"""The options of cells: what commands and grids accept for them, each declared once."""

from functools import partial

from gnode import errors
from gnode.init import RULES
from gnode.options import Option, choice, optional, single, widths, yes_or_no

LEARN_TAU = ("no", "shared", "per_unit")
"""The values of the option `learn_tau`: tau is constant, one trained number, or one trained number per unit."""

RATES = ("relu", "softplus", "sigmoid")
"""The activations of cells with firing rates, which are not negative."""

GATINGS: dict[str, str] = {
    "no": "none: the memory is linear",
    "input": "a gate of the input, by which the memory stays linear in its state",
    "state": "a gate of the input and of what the readout sees",
}
"""The gates of linear memories."""

SPECTRUM_NAMES = ("legs", "lin", "inv", "real")
"""The first eigenvalues of a diagonal state space, by the names of its authors."""

MOST_LAYERS = 100

OPTIONS: dict[str, Option] = {
    "widths": Option(
        "network", widths, "Widths of the hidden layers of F, such as 316x316.", "316x316", check=errors.wholes
    ),
    "gate_widths": Option(
        "network", widths, "Widths of the hidden layers of G, such as 100x100, or 'none'.", "100", check=errors.wholes
    ),
    "hidden": Option("network", str, "Activation of the hidden layers."),
    "final": Option("network", str, "Final activation of F."),
    "leak": Option("network", yes_or_no, "Include the leak -h: yes or no.", "no"),
    "activate_state": Option("network", yes_or_no, "Apply the hidden activation to h before W0: yes or no.", "yes"),
    "gate": Option("network", yes_or_no, "Include the gates of LEM: yes or no.", "no"),
    "minimal": Option("network", yes_or_no, "Let the reset gate of gru_ode be 1 - g: yes or no.", "yes"),
    "gamma": Option("network", float, "Stiffness gamma of cornn.", compiles=False, check=single(errors.not_negative)),
    "epsilon": Option("network", float, "Damping epsilon of cornn.", compiles=False, check=single(errors.not_negative)),
    "alpha": Option(
        "network", float, "Stiffness alpha of unicornn.", compiles=False, check=single(errors.not_negative)
    ),
    "forget_bias": Option(
        "network", float, "Initial bias of the forget gate of lstm.", compiles=False, check=single(errors.finite)
    ),
    "noise_widths": Option(
        "network", widths, "Widths of the hidden layers of the noise of neural SDEs.", "100", check=errors.wholes
    ),
    "masked": Option(
        "network", yes_or_no, "The first half of the inputs of ode_lstm or gru_ode_bayes is a mask: yes or no.", "yes"
    ),
    "impute": Option("network", yes_or_no, "Let the flow of gru_ode_bayes see its own prediction: yes or no.", "yes"),
    "time_channel": Option("network", yes_or_no, "Give F of ncde a column for time: yes or no.", "no"),
    "order": Option("network", int, "Legendre coefficients of each memory of lmu.", check=errors.whole),
    "memories": Option("network", int, "Number of memories of lmu.", check=errors.whole),
    "theta": Option(
        "network",
        float,
        "Time in seconds that the memories of lmu hold.",
        compiles=False,
        check=single(errors.positive),
    ),
    "modes": Option("network", int, "Complex modes: of each feature of s4d, of all of lru.", check=errors.whole),
    "spectrum": Option(
        "network",
        str,
        f"First eigenvalues of s4d: {', '.join(SPECTRUM_NAMES)}.",
        compiles=False,
        check=choice(SPECTRUM_NAMES),
    ),
    "gating": Option("network", str, f"Gate of a linear memory: {', '.join(GATINGS)}.", check=choice(tuple(GATINGS))),
    "mix": Option("network", yes_or_no, "Let a gated linear unit mix the features of s4d and lru: yes or no.", "no"),
    "slowest": Option("network", float, "Largest first |lambda| of lru.", compiles=False, check=errors.share),
    "fastest": Option("network", float, "Smallest first |lambda| of lru.", compiles=False, check=errors.share),
    "rank": Option("network", int, "Rank R of the recurrent matrix of lowrank.", check=errors.whole),
    "excitatory": Option(
        "network",
        float,
        "Share of excitatory units of dale.",
        compiles=False,
        check=errors.share,
        synonyms=("excitatory_fraction", "inhibitory"),
    ),
    "density": Option(
        "network",
        float,
        "Share of the connections of dale that exist.",
        compiles=False,
        check=partial(errors.share, zero=False),
        synonyms=("connectivity", "sparsity"),
    ),
    "self_connections": Option(
        "network", yes_or_no, "Let units of dale connect to themselves: yes or no.", "no", compiles=False
    ),
    "baseline": Option(
        "network", float, "Initial bias of every unit of dale.", compiles=False, check=single(errors.finite)
    ),
    "tau": Option("network", float, "Time constant in seconds.", compiles=False, check=single(errors.positive)),
    "learn_tau": Option("network", str, f"Train tau: {', '.join(LEARN_TAU)}.", check=choice(LEARN_TAU)),
    "init": Option("network", str, f"Initialiser: {', '.join(RULES)}.", compiles=False, synonyms=("initialiser",)),
    "init_input": Option(
        "network",
        str,
        "Initialiser of U of F; by default that of --init.",
        compiles=False,
        check=optional(choice(tuple(RULES))),
    ),
    "init_gate": Option(
        "network",
        str,
        "Initialiser of G; by default that of --init.",
        compiles=False,
        check=optional(choice(tuple(RULES))),
    ),
    "drive": Option(
        "network",
        float,
        "Mean square of the inputs for which --init critical is meant.",
        compiles=False,
        check=single(errors.not_negative),
    ),
    "bias_std": Option(
        "network",
        float,
        "Standard deviation of the initial biases.",
        compiles=False,
        check=single(errors.not_negative),
    ),
}
"""The options of cells, in the order in which `--help` shows them."""

OWN_OPTIONS: dict[str, Option] = {}
"""Arguments of users' own cells that no other cell has, added when such a cell is named."""
