"""Claims: what the paper says of two small changes, a deeper gate (L_z = 2) and the disk task from (1.5, 0) (Appendix F).

Shows: the validation error of gnODEs with N = 12 and 18 on the fixed three-bit task whose gate has a hidden layer (L_z = 2)
or none (L_z = 1); and how slow the middle of the disk is, compared with the flow around it, in gnODEs with N = 2 whose
target before the first pulse is (0, 0) or (1.5, 0). All are trained with the gradient's norm clipped (the gnode protocol).

Command: gnode reproduce run variations --scale paper
Cost at paper scale: 30 networks of 200 epochs, 20 minutes on two idle cores; smoke: a minute on two cores.

Published: "anecdotally, architectures with L_z = 2 appears to perform better"; from (1.5, 0) "we did not see a significant
qualitative difference". No numbers.
"""

from functools import partial
from typing import Any

import numpy as np

from gnode.reproduce import flip_flop, protocols, selection, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Decided, Evidence
from gnode.reproduce.selection import trained_members
from gnode.reproduce.verdicts import Group

STARTS = {"(0, 0)": "variation-disk-from-0", "(1.5, 0)": "variation-disk-from-1.5"}
"""The sweeps of the disk task by the target before the first pulse."""
DISK: dict[str, Any] = {
    "model": "gnode",
    "lr": 1e-3,
    "weight_decay": 1e-3,
    "batch_size": 10,
    "clip": 1.0,
    "epochs": 200,
}
"""The smallest batch, and the rate and decay in the middle and at the lower end of the paper's grid."""
DISK_SMOKE: dict[str, Any] = {"widths": (24, 24), "epochs": 40, "trials": 60, "validation": 30, "bins": 40, "lr": 1e-2}


def plans(scale: str) -> list[SweepPlan]:
    own = DISK | {"seed": protocols.FEWER.get(scale, protocols.SEEDS)} | (DISK_SMOKE if scale == "smoke" else {})
    disks = [
        SweepPlan(name, "flipflop-annulus", own | {"start": tuple(map(float, start.strip("()").split(",")))})
        for start, name in STARTS.items()
    ]
    return [protocols.fixed_3bit(scale, ["gnode"]), protocols.deeper_gate(scale), *disks]


def analyse(trained: Trained) -> Outcome:
    shallow, deep, *_ = plans(trained.scale)
    numbers = []
    for depth, plan in ((1, shallow), (2, deep)):
        sweep = trained[plan.name]
        for state in sorted({own["state"] for own in sweep.members}):
            losses = [sweep.result(member)["best_loss"] for member in trained_members(sweep, state=state)]
            numbers.append(selection.mean_over_seeds(_gate(state, depth), losses))
    speeds: dict[str, list[dict[str, float]]] = {}
    for start, name in STARTS.items():
        sweep = trained[name]
        members = trained_members(sweep)
        numbers.append(
            selection.mean_over_seeds(
                f"disk from {start}: minimum validation MSE", [sweep.result(member)["best_loss"] for member in members]
            )
        )
        speeds[start] = [flip_flop.speed_by_radius(sweep.load(member)) for member in members]
        ratios = [one["speed inside"] / one["speed around it"] for one in speeds[start]]
        numbers.append(selection.mean_over_seeds(f"disk from {start}: speed in the middle / around it", ratios))
    details = {"speeds": speeds, "sizes": sorted({own["state"] for own in trained[shallow.name].members})}
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), details=details)


def keeps(trained: Trained) -> dict[str, list[int]]:
    """The members whose weights are kept: all seeds of the disk tasks, whose flow is looked into."""
    return {name: trained_members(trained[name]) for name in STARTS.values()}


def _gate(state: int, depth: int) -> str:
    return f"fixed three-bit task, N = {state}, L_z = {depth}: minimum validation MSE"


def judge(found: Evidence) -> list[Claim]:
    return [
        found.decide("Gates with L_z = 2 perform better than gates with L_z = 1.", partial(_deeper_is_better, found)),
        found.decide(
            "The disk task from (1.5, 0) gives the same flow as from (0, 0): its middle is slow as well.",
            partial(_same_disk, found),
        ),
    ]


def _deeper_is_better(found: Evidence) -> Decided:
    compared, measured = [], {}
    for state in found.detail("sizes"):
        groups: dict[int, Group] = {depth: found.group(_gate(state, depth)) for depth in (1, 2)}
        compared.append(verdicts.lower(groups[2], groups[1], negligible=verdicts.NEGLIGIBLE))
        measured |= {f"N = {state}, L_z = {depth}": group.mean for depth, group in groups.items()}
    return verdicts.most_of(compared), measured


def _same_disk(found: Evidence) -> Decided:
    """Whether most seeds from each start have no hole."""
    speeds = found.detail("speeds")
    without = {start: sum(map(flip_flop.has_no_hole, speeds[start])) for start in STARTS}
    slow = [bool(2 * without[start] > len(speeds[start])) for start in STARTS]
    measured = {f"from {start}, seeds whose middle is slow": number for start, number in without.items()}
    measured["of"] = int(np.min([len(speeds[start]) for start in STARTS]))
    return verdicts.plainly(all(slow)), measured


ARTEFACT = Artefact(
    name="variations",
    kind="claim",
    title="A deeper gate, and the disk from (1.5, 0)",
    place="Appendix E, Appendix F.6",
    scales={"smoke": "1 min on two cores", "reduced": "10 min on two cores", "paper": "20 min on two cores"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    keeps=keeps,
)
