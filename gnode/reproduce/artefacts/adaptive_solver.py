"""Claim: an adaptive solver in place of forward Euler changes nothing of note on the flip-flops (Appendix E, "Choice of
Discretization").

Shows: the validation error of networks with N = 12 and 18 on the fixed three-bit task, and their stable fixed points, when
they are trained by forward Euler and by Tsitouras 5(4) with its tolerances. All are trained with the gradient's norm clipped
(the gnode protocol); Euler's networks are those of `stable-points`. At reduced scale N is 12, and nODE and gnODE, of which
an update takes seconds by Tsit5, have one seed by it.

Command: gnode reproduce run adaptive-solver --scale paper
Cost at paper scale: 50 networks by Tsit5, which have not been trained; reduced: an hour and a half on two cores; smoke: half
a minute on two cores, beside what stable-points trains.

Published: "changing the Euler method (used for presenting results in the main text) to the Tsitouras 5/4 Runge-Kutta method
did not make a significant qualitative difference". No numbers.
"""

from typing import Any

from gnode.reproduce import flip_flop, protocols, selection, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.artefacts.stable_points import CORNERS, STARTS, points_of
from gnode.reproduce.evidence import Decided, Evidence
from gnode.reproduce.flip_flop import SOLVED, name_of

EULER, TSIT5 = "Euler", "Tsit5"
SIMPLE, DEEP = ["rnn", "mgru", "gru"], ["node", "gnode"]


def plans(scale: str) -> list[SweepPlan]:
    euler = [protocols.fixed_3bit(scale, models) for models in (SIMPLE, ["gnode"], ["node"])]
    if scale == "smoke":
        few = ("rnn", "gnode")
        return [*euler, *(_adaptive(protocols.fixed_3bit(scale, [model]), {"epochs": 3}) for model in few)]
    one_seed = {"seed": [0]} if scale == "reduced" else {}
    return [
        *euler,
        _adaptive(protocols.fixed_3bit(scale, SIMPLE), {}),
        _adaptive(protocols.fixed_3bit(scale, DEEP), one_seed),
    ]


def _adaptive(plan: SweepPlan, own: dict[str, Any]) -> SweepPlan:
    return SweepPlan(f"{plan.name}-tsit5", plan.task, {**plan.settings, "method": "tsit5", **own})


def analyse(trained: Trained) -> Outcome:
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for sweep in trained.sweeps.values():
        for member in selection.trained_members(sweep):
            own = sweep.members[member]
            method = TSIT5 if own.get("method") == "tsit5" else EULER
            # The flow is what both methods follow; Euler's networks are maps as well, which stable-points looks at.
            measured = points_of(sweep.load(member), STARTS[trained.scale], by="flow")
            seeds = found.setdefault(own["model"], {}).setdefault(method, [])
            seeds.append({"N": own["state"], "seed": own["seed"]} | measured)
    found = {model: found[model] for model in flip_flop.MODELS if model in found}
    numbers = [
        selection.mean_over_seeds(f"{name_of(model)}, {method}: {label}", [seed[key] for seed in seeds])
        for model, methods in found.items()
        for method, seeds in methods.items()
        for key, label in (("mse", "minimum validation MSE"), ("stable points", "stable fixed points"))
    ]
    details = {"networks": found}
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), details=details)


SAME = "With Tsit5 the same networks solve the fixed three-bit task (below 0.01) as with Euler."
CORNERED = "Those that solve it have 8 stable fixed points, one for each output, with both methods."


def judge(found: Evidence) -> list[Claim]:
    networks = {name_of(model): methods for model, methods in found.detail("networks").items() if len(methods) == 2}

    def same() -> Decided:
        solved = {
            f"{name}, {method}": verdicts.below([seed["mse"] for seed in seeds], SOLVED)
            for name, methods in networks.items()
            for method, seeds in methods.items()
        }
        alike = [solved[f"{name}, {EULER}"] == solved[f"{name}, {TSIT5}"] for name in networks]
        return verdicts.plainly(all(alike) if alike else None), solved

    def cornered() -> Decided:
        solved = {
            f"{name}, {method}": [seed for seed in seeds if seed["mse"] < SOLVED]
            for name, methods in networks.items()
            for method, seeds in methods.items()
        }
        each = [
            verdicts.most_of(verdicts.plainly(seed["stable points"] == seed["outputs"] == CORNERS) for seed in seeds)
            for seeds in solved.values()
            if seeds
        ]
        return verdicts.all_of(each), {name: [seed["stable points"] for seed in own] for name, own in solved.items()}

    return [found.decide(SAME, same), found.decide(CORNERED, cornered)]


ARTEFACT = Artefact(
    name="adaptive-solver",
    kind="claim",
    title="Tsit5 in place of Euler on the flip-flops",
    place='Appendix E, "Choice of Discretization"',
    scales={"smoke": "30 s on two cores", "reduced": "1.5 h on two cores", "paper": "not run yet"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    may_be_partial=True,
)
