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

from functools import partial
from typing import Any

import numpy as np

from gnode import plots
from gnode.init import SMALL_BIAS_STD
from gnode.reproduce import real_data, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.artefacts.table1 import WALKER
from gnode.reproduce.evidence import Decided, Evidence
from gnode.reproduce.real_data import SIZES
from gnode.reproduce.selection import trained_members
from gnode.reproduce.verdicts import Group
from gnode.sweeps import Sweep

TRAINING: dict[str, Any] = {
    "model": "gnode",
    "init": "critical",
    "final": "tanh",
    "bias_std": SMALL_BIAS_STD,
    "clip": 1.0,
    "ema": 0.999,
    "seed": [0, 1, 2, 3, 4],
    "lr": [2e-3, 3e-3, 5e-3],
    "kernel": "streamed",
}
DECAYS = {32: [0.1, 0.2], 100: [0.1, 0.2, 0.3], 316: [0.3, 0.6, 1.0]}
SMOKE: dict[str, Any] = {"widths": (16,), "epochs": 1, "batch_size": 1024, "seed": [0, 1], "kernel": "auto"}
TARGETS = {32: 0.48, 100: 0.49, 316: 0.55}
"""The mean test MSE to reach, set before the runs."""


def plans(scale: str) -> list[SweepPlan]:
    made = []
    for size in SIZES[:1] if scale == "smoke" else SIZES:
        own = TRAINING | {"state": size, "weight_decay": DECAYS[size]}
        if scale == "smoke":
            own |= SMOKE | {"state": 8, "lr": 1e-2}
        searched = tuple(name for name in ("lr", "weight_decay") if isinstance(own[name], list))
        made.append(SweepPlan(f"walker2d-protocol-n{size}", "walker2d", own, search=searched))
    return made


def chosen(sweep: Sweep) -> list[int]:
    """Returns the members with the chosen setting, one for each seed."""
    return trained_members(sweep)


def best_seed(sweep: Sweep) -> int:
    """Returns the member with the lowest validation error among them."""
    return min(chosen(sweep), key=lambda member: sweep.result(member)["best_loss"])


def keeps(trained: Trained) -> dict[str, list[int]]:
    """The members whose weights are kept: the best seed of each N."""
    return {name: [best_seed(sweep)] for name, sweep in trained.sweeps.items()}


def analyse(trained: Trained) -> Outcome:
    numbers, tests, tried, details = [], {}, {}, {}
    for place, size in enumerate(SIZES):
        for sweep in trained.available(f"walker2d-protocol-n{size}"):
            theirs, spread = WALKER["gnode"][place]
            values = np.array([sweep.result(member)["test"]["loss"] for member in chosen(sweep)])
            numbers.append(real_data.number(_name(size), values, (theirs, spread)))
            tests |= {f"N = {size}": values.tolist(), f"N = {size}, the paper": [theirs]}
            losses = {_setting(sweep, index): [sweep.result(index)["best_loss"]] for index in _tries(sweep)}
            tried[f"validation MSE of the first seed, N = {size}"] = losses
            details[f"N = {size}"] = _details(sweep)
    figures = {"a": plots.seeds({"test MSE": tests} | tried)} if tests else {}
    return Outcome(numbers, judge(Evidence.fresh(numbers)), figures, details)


def _name(size: int) -> str:
    return f"Walker2D test MSE, N = {size}: gnODE"


def _tries(sweep: Sweep) -> list[int]:
    first = sweep.members[0]["seed"]
    return [index for index in sweep.done() if sweep.members[index]["seed"] == first]


def _setting(sweep: Sweep, index: int) -> str:
    own = sweep.members[index]
    return f"rate {own['lr']:g}, decay {own['weight_decay']:g}"


def judge(found: Evidence) -> list[Claim]:
    made = []
    for place, size in enumerate(SIZES):
        theirs, spread = WALKER["gnode"][place]
        target = f"The gnODE's mean test MSE is at most {TARGETS[size]:g} at N = {size}."
        made.append(found.decide(target, partial(_at_most, found, size)))
        paper = f"That is below the published {theirs:g} by more than two standard errors (N = {size})."
        made.append(found.decide(paper, partial(_beats, found, size, Group.published(theirs, spread))))
    return [claim for claim in made if claim.verdict != verdicts.OPEN]


def _at_most(found: Evidence, size: int) -> Decided:
    ours = found.group(_name(size))
    return verdicts.plainly(ours.mean <= TARGETS[size]), {"mean": ours.mean}


def _beats(found: Evidence, size: int, published: Group) -> Decided:
    ours = found.group(_name(size))
    gap = verdicts.difference(published, ours)
    verdict = verdicts.lower(ours, published)
    clear = verdicts.FAILS if verdict == verdicts.TIE else verdict  # the claim itself speaks of two standard errors
    return clear, {"mean": ours.mean, "standard error": gap.standard_error}


def _details(sweep: Sweep) -> dict[str, Any]:
    """The setting that was chosen, and the validation and test errors of everything that was trained."""
    errors = {
        f"{_setting(sweep, index)}, seed {sweep.members[index]['seed']}": [
            sweep.result(index)["best_loss"],
            sweep.result(index)["test"]["loss"],
        ]
        for index in sweep.done()
    }
    return {"chosen": _setting(sweep, best_seed(sweep)), "validation and test MSE": errors}


ARTEFACT = Artefact(
    name="walker2d-protocol",
    kind="extension",
    title="Walker2D by the gnode protocol",
    place="beyond the paper",
    scales={"smoke": "40 s on two cores", "paper": "15 min on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    data=("walker2d",),
    may_be_partial=True,
    keeps=keeps,
)
