"""The two protocols that networks are trained by, side by side, and the sweeps of the gnode protocol that artefacts share.

"paper" trains as published: no clipping, the grid of the paper, the last weights or the best ones of a single run. "gnode"
changes how a network is trained and not what it is: the norm of the gradient is clipped, weights may be averaged, every
setting has at least five seeds at the paper's scale, and products are in float32 on a CPU and with `kernel` "loop".
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from gnode.reproduce.artefact import SweepPlan

SEEDS = [0, 1, 2, 3, 4]
FEWER = {"smoke": [0, 1], "reduced": [0, 1, 2]}
RATES = {1e-2: ["rnn", "mgru", "gru"], 1e-3: ["node", "gnode"]}
"""The learning rates of the fixed three-bit task (Appendix F.1), with the models that have them."""
SIZES = [12, 18]
FIXED: dict[str, Any] = {"weight_decay": 1e-1, "batch_size": 100, "epochs": 200}
FIXED_SMOKE: dict[str, Any] = {"widths": (16, 16, 16), "epochs": 15, "trials": 60, "validation": 30, "bins": 40}
NOISE: dict[str, Any] = {"state": 316, "tau": 1.0, "lr": 1e-3, "weight_decay": 1e-3, "epochs": 2000}
"""The fit of noise at tau = tau_OU with the rate and decay that `fig3` chose for the gnODE with H = 1000."""
NOISE_SMOKE: dict[str, Any] = {"state": 8, "epochs": 20, "bins": 20, "channels": 4}
CLIP_FIXED, CLIP_NOISE = 1.0, 0.1
"""The largest norm of the gradient: the one that the first seed was tried with before these runs, for each task."""


@dataclasses.dataclass(frozen=True)
class Protocol:
    """A way to train: its name, and what it does about each of `ASPECTS`."""

    name: str
    does: Mapping[str, str]


ASPECTS = ("gradient", "weights", "seeds", "settings", "arithmetic")
PAPER = Protocol(
    "paper",
    {
        "gradient": "as it is",
        "weights": "those of the best epoch",
        "seeds": "as many as the artefact's scale says (3 or 5)",
        "settings": "the paper's grid",
        "arithmetic": "as the machine multiplies (TF32 on a GPU)",
    },
)
GNODE = Protocol(
    "gnode",
    {
        "gradient": "its norm is clipped",
        "weights": "those of the best epoch; averaged with a decay of 0.999 where training is long",
        "seeds": "at least 5 at the paper's scale; 3 in the comparison of the relatives, and fewer at reduced scale",
        "settings": "one, or a search that validation decides",
        "arithmetic": "float32 for two bits of fixed amplitude, the rectangle and all that a CPU trained; else as on a GPU",
    },
)
PROTOCOLS = (PAPER, GNODE)


def protocol_of(settings: Mapping[str, Any]) -> Protocol:
    """Returns the protocol of a sweep by its stored settings: "gnode" is the one that clips.

    >>> protocol_of({"clip": 1.0}).name, protocol_of({"lr": 1e-3}).name
    ('gnode', 'paper')
    """
    return GNODE if "clip" in settings else PAPER


def fixed_3bit(scale: str, models: list[str], clipped: bool = True) -> SweepPlan:
    """Returns the sweep of the fixed three-bit task for models with one learning rate, with or without clipping."""
    (rate,) = {rate for rate, known in RATES.items() for model in models if model in known}
    sizes = [4] if scale == "smoke" else SIZES[:1] if scale == "reduced" else SIZES
    own = FIXED | {"model": models, "lr": rate, "state": sizes, "seed": FEWER.get(scale, SEEDS)}
    own |= (FIXED_SMOKE if scale == "smoke" else {}) | ({"clip": CLIP_FIXED} if clipped else {})
    ending = "" if clipped else "-unclipped"
    return SweepPlan(f"protocol-fixed-3bit-{'-'.join(models)}{ending}", "flipflop-fixed", own)


def noise_fit(scale: str, model: str = "gnode", clipped: bool = True) -> SweepPlan:
    """Returns the sweep of a fit of noise at tau = tau_OU, with or without clipping."""
    own = NOISE | {"model": model, "seed": FEWER.get(scale, SEEDS)}
    own |= {"widths": (1000,)} if model == "gnode" else {}
    own |= {"clip": CLIP_NOISE} if clipped else {}
    own |= NOISE_SMOKE | ({"widths": (16,)} if model == "gnode" else {}) if scale == "smoke" else {}
    return SweepPlan(f"protocol-ou-{model}" + ("" if clipped else "-unclipped"), "ou", own)


def deeper_gate(scale: str) -> SweepPlan:
    """Returns the sweep of gnODEs on the fixed three-bit task whose gate has a hidden layer (L_z = 2)."""
    plan = fixed_3bit(scale, ["gnode"])
    settings = {**plan.settings, "gate_widths": (16,) if scale == "smoke" else (100,)}
    return SweepPlan(f"{plan.name}-deep-gate", plan.task, settings)
