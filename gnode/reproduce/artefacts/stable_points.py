"""Claim: all networks solve the fixed three-bit task in the same way, with 2^3 stable fixed points (section "N-Bit Flip-Flop
Task", Appendix F.1).

Shows: how many stable fixed points each network has, one for each of the 8 outputs if it has 8, at N = 12 and 18 and with
every seed. Networks are trained with the gradient's norm clipped (the gnode protocol), so that they all solve the task.

Command: gnode reproduce run stable-points --scale paper
Cost at paper scale: 50 networks of 200 epochs, an hour on two idle cores, less what gnode-protocol has trained; reduced (N =
12, three seeds): ten minutes; smoke: a minute on two cores.

Published: each of the 2^3 stable fixed points represents an output, for all networks.
"""

from typing import Any

import numpy as np

from gnode import analysis
from gnode.reproduce import protocols, selection, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Decided, Evidence
from gnode.reproduce.flip_flop import MODELS, SOLVED, name_of
from gnode.train import Run

CORNERS = 8
STARTS = {"smoke": 50, "reduced": 1000, "paper": 1000}


def plans(scale: str) -> list[SweepPlan]:
    return [protocols.fixed_3bit(scale, models) for models in (["rnn", "mgru", "gru"], ["gnode"], ["node"])]


def points_of(run: Run, starts: int, by: str = "map") -> dict[str, Any]:
    """Counts a network's stable fixed points, by the "map" of a bin or the "flow", and their different outputs by sign."""
    dt = run.dt if by == "map" else None
    found = analysis.fixed_points(run.net, run.states, dt=dt, most_starts=starts, key=0)
    stable = found.select(status="equilibrium").select(kind="stable")
    outputs = {tuple(np.sign(output).astype(int)) for output in stable.outputs}
    return {"mse": run.best_loss, "stable points": len(stable), "outputs": len(outputs)}


def analyse(trained: Trained) -> Outcome:
    found: dict[str, list[dict[str, Any]]] = {}
    for sweep in trained.sweeps.values():
        for member in selection.trained_members(sweep):
            own = sweep.members[member]
            measured = points_of(sweep.load(member), STARTS[trained.scale])
            found.setdefault(own["model"], []).append({"N": own["state"], "seed": own["seed"]} | measured)
    found = {model: found[model] for model in MODELS if model in found}
    numbers = [
        number
        for model, seeds in found.items()
        for number in (
            selection.mean_over_seeds(f"{name_of(model)}: minimum validation MSE", [s["mse"] for s in seeds], "< 0.01"),
            selection.mean_over_seeds(
                f"{name_of(model)}: stable fixed points", [s["stable points"] for s in seeds], str(CORNERS)
            ),
        )
    ]
    details = {"networks": found}
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), details=details)


CLAIM = "All networks that solve the fixed three-bit task have 8 stable fixed points, one for each output."


def judge(found: Evidence) -> list[Claim]:
    def rule() -> Decided:
        each, shown = [], {}
        for model, networks in found.detail("networks").items():
            solved = [one for one in networks if one["mse"] < SOLVED]
            eight = [verdicts.plainly(one["stable points"] == one["outputs"] == CORNERS) for one in solved]
            each.append(verdicts.most_of(eight))
            shown[f"{name_of(model)}, stable points of {len(solved)} of {len(networks)}"] = [
                one["stable points"] for one in solved
            ]
        return verdicts.all_of(each), shown

    return [found.decide(CLAIM, rule)]


ARTEFACT = Artefact(
    name="stable-points",
    kind="claim",
    title="Eight stable fixed points in every network",
    place='Section "N-Bit Flip-Flop Task", Appendix F.1',
    scales={"smoke": "1 min on two cores", "reduced": "10 min on two cores", "paper": "1 h on two cores"},
    plans=plans,
    analyse=analyse,
    judge=judge,
)
