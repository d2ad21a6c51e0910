"""Beyond the paper: Walker2D with clipping, averaged weights and a wider search (the gnode protocol; N = 32, 100, 316).

Shows: the test MSE of gnODEs that are trained for the task's 700 epochs of growing spans with the gradient clipped at 1
and averaged weights (EMA 0.999), initialised critically with a final tanh. Learning rate and decay are those with the lowest
validation error of the first seed, each tried at full length: around what table1 found at the edges of its grid, and larger
decays for larger N. The best is trained from four more seeds. Test trials play no part in any choice. The range of decays
was fixed after single runs of an earlier session, whose test errors were seen as well (0.462 at N = 32, 0.489 at N = 100).
The chosen setting lies at an edge of the range at N = 100 (decay 0.3) and N = 316 (rate 5e-3, decay 0.3). At N = 316 a decay
of 1 is worse by a fifth; dropout and Glorot initialisation were planned there and not finished.

Command: gnode reproduce run walker2d-protocol --scale paper
Cost at paper scale: 36 networks of 700 epochs, 15 minutes on one H200 if processes share it (docs/reproduce.md); smoke: 40 s
on two cores. `gnode reproduce restore walker2d-protocol` brings back how every network ended, and the best one of each N.

Published (Table 1, gnODE): test MSE 0.552 ± 0.019 (N = 32), 0.588 ± 0.003 (N = 100), 0.604 ± 0.007 (N = 316).
"""

from typing import Any

from gnode.reproduce import data_protocol
from gnode.reproduce.artefact import SweepPlan
from gnode.reproduce.artefacts.table1 import WALKER
from gnode.reproduce.data_protocol import Case, Table
from gnode.reproduce.real_data import SIZES

TRAINING: dict[str, Any] = data_protocol.TRAINING | {
    "init": "critical",
    "final": "tanh",
    "lr": [2e-3, 3e-3, 5e-3],
    "kernel": "streamed",
}
DECAYS = {32: [0.1, 0.2], 100: [0.1, 0.2, 0.3], 316: [0.3, 0.6, 1.0]}
SMOKE: dict[str, Any] = {"widths": (16,), "epochs": 1, "batch_size": 1024, "seed": [0, 1], "kernel": "auto"}
TARGETS = {32: 0.48, 100: 0.49, 316: 0.55}
"""The mean test MSE to reach, set before the runs."""
TABLE = Table(
    "Walker2D test MSE",
    "loss",
    True,
    "validation MSE",
    tuple(
        Case(f"walker2d-protocol-n{size}", f"N = {size}", TARGETS[size], theirs)
        for size, theirs in zip(SIZES, WALKER["gnode"])
    ),
)


def plans(scale: str) -> list[SweepPlan]:
    made = []
    for size in SIZES[:1] if scale == "smoke" else SIZES:
        own = TRAINING | {"state": size, "weight_decay": DECAYS[size]}
        if scale == "smoke":
            own |= SMOKE | {"state": 8, "lr": 1e-2}
        searched = tuple(name for name in ("lr", "weight_decay") if isinstance(own[name], list))
        made.append(SweepPlan(f"walker2d-protocol-n{size}", "walker2d", own, search=searched))
    return made


ARTEFACT = data_protocol.artefact_of(
    TABLE,
    name="walker2d-protocol",
    title="Walker2D by the gnode protocol",
    scales={"smoke": "40 s on two cores", "paper": "15 min on one H200"},
    plans=plans,
    data=("walker2d",),
)
