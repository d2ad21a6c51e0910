"""Table of letters: CharacterTrajectories with 30, 50 and 70% of the bins missing (Appendix H.2).

Shows: test accuracy of all networks; LEM by forward-backward Euler as in the paper and by forward Euler. Missing
values are filled by a natural spline, which looks ahead in time. N = 32; the setting is chosen on the 30% data and
kept, as in the paper.

Command: gnode reproduce table-characters --scale paper
Cost at paper scale: 3 x 243 networks of 1300 epochs, a day on one H200; reduced (2 settings, 60 epochs): about 25
minutes; smoke: two minutes on two cores.

Published, 30 / 50 / 70% dropped: mGRU 0.987, 0.987, 0.983; GRU 0.990, 0.990, 0.987; LSTM 0.990, 0.990, 0.990; LEM
0.990, 0.991, 0.987; nODE 0.924, 0.807, 0.898; gnODE 0.987, 0.987, 0.986.
"""

import numpy as np

from gnode.experiments import choice, real_data
from gnode.experiments.artefact import Artefact, Check, Outcome, SweepPlan, Trained
from gnode.experiments.real_data import EULER, MODELS
from gnode.train import Sweep

PUBLISHED = {
    "mgru": ((0.987, 0.005), (0.987, 0.001), (0.983, 0.002)),
    "gru": ((0.990, 0.001), (0.990, 0.004), (0.987, 0.003)),
    "lstm": ((0.990, 0.002), (0.990, 0.004), (0.990, 0.002)),
    "lem": ((0.990, 0.004), (0.991, 0.004), (0.987, 0.001)),
    "node": ((0.924, 0.095), (0.807, 0.247), (0.898, 0.089)),
    "gnode": ((0.987, 0.002), (0.987, 0.004), (0.986, 0.003)),
}
DROPPED = (0.3, 0.5, 0.7)


def plans(scale: str) -> list[SweepPlan]:
    return [plan for dropped in DROPPED for plan in real_data.characters(dropped, scale)]


def accuracies(trained: Trained, model: str) -> dict[float, np.ndarray]:
    """Test accuracies of each share dropped, all with the setting that is best on the first."""
    wanted = "lem" if model == EULER else model
    ways = [f"-{EULER}"] if model == EULER else ["", f"-{real_data.CRITICAL}"]
    firsts = [way for way in ways if has(trained.sweeps.get(f"characters-30{way}"), wanted)]
    if not firsts:
        return {}
    scored = {way: choice.best_setting([trained[f"characters-30{way}"]], model=wanted) for way in firsts}
    way = min(scored, key=lambda way: np.mean(scored[way]["validation"]))  # type: ignore[index]
    best = scored[way]
    assert best is not None
    found = {}
    for dropped in DROPPED:
        sweep = trained.sweeps.get(f"characters-{100 * dropped:.0f}{way}")
        chosen = [] if sweep is None else choice.members(sweep, **best["setting"] | {"model": wanted})
        if sweep is not None and chosen:
            found[dropped] = np.array([sweep.result(index)["test"]["accuracy"] for index in chosen])
    return found


def has(sweep: Sweep | None, model: str) -> bool:
    return sweep is not None and any(own["model"] == model for own in sweep.members)


def analyse(trained: Trained) -> Outcome:
    numbers = []
    means: dict[float, dict[str, float]] = {dropped: {} for dropped in DROPPED}
    for model in (*MODELS, EULER):
        for dropped, values in accuracies(trained, model).items():
            theirs = PUBLISHED[model][DROPPED.index(dropped)] if model in PUBLISHED else None
            name = real_data.model_name(model)
            numbers.append(real_data.number(f"{name}, {dropped:.0%} dropped: test accuracy", values, theirs))
            means[dropped][name] = float(values.mean())
    checks = []
    for dropped, found in means.items():
        gated = [value for name, value in found.items() if name != "nODE"]
        decided = min(gated) > found["nODE"] if gated and "nODE" in found else None
        checks.append(Check(f"With {dropped:.0%} dropped every gated network beats the nODE.", decided, dict(found)))
    return Outcome(numbers, checks)


ARTEFACT = Artefact(
    name="table-characters",
    kind="table",
    title="Letters from pen trajectories with missing bins",
    place="Appendix H.2, ct-table_appendix",
    scales={"smoke": "2 min on two cores", "reduced": "25 min on one H200", "paper": "a day on one H200"},
    plans=plans,
    analyse=analyse,
    data=("characters",),
    may_be_partial=True,
)
