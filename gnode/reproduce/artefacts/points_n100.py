"""Claims: fixed points near the trajectories, and unstable points around the stable ones (N = 100; Appendix F.4 and F.5).

Shows: for the best network of each kind with N = 100 on the variable three-bit task, the spectral abscissas of the fixed
points that the paper's finder keeps by its box, and of those within a distance of 1 of a visited state; and for the RNN how
the unstable points lie among the stable ones in the space of three principal components. The search is the paper's (10,000
starts, |dh/dt| < 0.01). At reduced scale every network has three seeds of one setting, trained with the gradient's norm
clipped, in place of 27 settings.

Command: gnode reproduce run points-n100 --scale paper
Cost at paper scale: fig1's second sweep (25 minutes on one H200, nothing if it is trained) and ten minutes of a CPU;
reduced: 25 minutes on two cores; smoke: half a minute on two cores, beside what fig1 trains.

Published: "Even for this criterion, we still saw a result similar to what was presented in Figure 1E"; "the unstable fixed
points are scattered around the stable fixed points". No numbers.
"""

from typing import Any

import numpy as np

from gnode import analysis
from gnode.cells import CELLS
from gnode.plots.analysis import abscissa_strips, principal_components
from gnode.plots.letters import lettered
from gnode.reproduce import flip_flop, selection, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Number, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Decided, Evidence
from gnode.reproduce.flip_flop import MODELS, name_of
from gnode.train import Run
from gnode.types import numpy_generator

CLIPPED: dict[str, Any] = {
    "model": MODELS,
    "state": 100,
    "lr": 1e-3,
    "weight_decay": 1e-2,
    "batch_size": 10,
    "clip": 1.0,
    "epochs": 600,
    "seed": [0, 1, 2],
}
"""The setting at reduced scale: the middle rate and decay of the paper's grid, and its smallest batch."""
MOST_COMPARED = 300
"""How many stable and how many unstable points are compared with each other."""
MOST = 0.9
"""The share of unstable points that has to lie around stable ones."""


def plans(scale: str) -> list[SweepPlan]:
    if scale == "reduced":
        return [SweepPlan("variable-n100-clipped", "flipflop-variable", CLIPPED)]
    return [flip_flop.variable(100, scale)]


def best_runs(trained: Trained) -> dict[str, Run]:
    """Loads the best network of each kind."""
    (sweep,) = trained.sweeps.values()
    names = dict.fromkeys(own["model"] for own in sweep.members)
    return {model: sweep.load(selection.best_member(sweep, model=model)) for model in names}


def keeps(trained: Trained) -> dict[str, list[int]]:
    """The members whose weights are kept: the best network of each kind."""
    ((name, sweep),) = trained.sweeps.items()
    names = dict.fromkeys(own["model"] for own in sweep.members)
    return {name: sorted(selection.best_member(sweep, model=model) for model in names)}


def analyse(trained: Trained) -> Outcome:
    starts = flip_flop.STARTS["smoke" if trained.is_smoke else "paper"]
    numbers: list[Number] = []
    near: dict[str, analysis.Stability] = {}
    medians: dict[str, dict[str, float | None]] = {"box": {}, "near": {}}
    details: dict[str, Any] = {"medians": medians}
    figures: dict[str, Any] = {}
    for model, run in best_runs(trained).items():
        # Stable and unstable are meant of the flow, as the paper's Jacobians are, and not of the map of a bin.
        search: dict[str, Any] = {"preset": "paper", "most_starts": starts, "key": 0}
        boxed = analysis.fixed_points(run.net, run.states, **search)
        close = analysis.fixed_points(run.net, run.states, keep="near", **search)
        numbers.append(Number(f"{name_of(model)}: validation MSE", run.best_loss))
        for criterion, points in (("box", boxed), ("near", close)):
            values = flip_flop.quartiles(points.stability.abscissa) or [None] * 3
            medians[criterion][name_of(model)] = values[0]
            label = f"{name_of(model)}, {'in the box' if criterion == 'box' else 'within 1'}"
            numbers.append(Number(f"{label}: points", float(len(points))))
            names = ("median", "lower quartile", "upper quartile")
            numbers += [Number(f"{label}: {which} abscissa (1/s)", value) for which, value in zip(names, values)]
        near[name_of(model)] = close.stability
        if model == "rnn":
            found = analysis.pca(run.states)
            details["unstable among stable"] = unstable_among_stable(
                found.project(boxed.points, min(3, len(found.explained))), boxed.stability.abscissa
            )
            figures["b"] = principal_components(run.states, boxed, show_slow=True, found=found)
    colours = {name_of(model): CELLS[model].colour for model in MODELS}
    figures = lettered({"a": abscissa_strips(near, colours)} | figures)
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), figures, details)


def unstable_among_stable(points: np.ndarray, abscissas: np.ndarray) -> dict[str, Any]:
    """Measures how unstable points lie among stable ones.

    **Returns:** how many there are of each; `nearest`, the median distance of an unstable point to the nearest stable one;
    `apart`, the median distance of two stable points; `between`, the share of unstable points that see two stable points
    under an obtuse angle, and so lie in the ball that has these two at opposite ends.
    """
    stable, unstable = (_some(points[which]) for which in (abscissas < 0, abscissas > 0))
    counts = {"stable": int(np.sum(abscissas < 0)), "unstable": int(np.sum(abscissas > 0))}
    if len(stable) < 2 or not len(unstable):
        return counts
    towards = stable - unstable[:, None]
    distances = np.linalg.norm(towards, axis=-1)
    directions = towards / np.maximum(distances, np.finfo(float).tiny)[..., None]
    cosines = directions @ np.swapaxes(directions, 1, 2)
    apart = np.linalg.norm(stable - stable[:, None], axis=-1)[np.triu_indices(len(stable), 1)]
    return counts | {
        "nearest": float(np.median(distances.min(axis=1))),
        "apart": float(np.median(apart)),
        "between": float(np.mean(cosines.min(axis=(1, 2)) < 0)),
    }


def _some(points: np.ndarray) -> np.ndarray:
    if len(points) <= MOST_COMPARED:
        return points
    return points[np.sort(numpy_generator(0).choice(len(points), MOST_COMPARED, replace=False))]


SIMILAR = "By distance from the trajectories (below 1), too, the gated networks' median abscissas are nearer to 0."
AROUND = "The RNN's unstable fixed points lie around its stable ones, in the space of three principal components."


def judge(found: Evidence) -> list[Claim]:
    def similar() -> Decided:
        medians = found.detail("medians")["near"]
        measured = {
            f"{name}, {how}": own for how, each in found.detail("medians").items() for name, own in each.items()
        }
        return verdicts.OPEN if None in medians.values() else flip_flop.nearer_to_zero(medians), measured

    def around() -> Decided:
        measured = found.detail("unstable among stable")
        if "between" not in measured:
            return verdicts.OPEN, measured
        is_around = measured["between"] >= MOST and measured["nearest"] < measured["apart"]
        return verdicts.plainly(is_around), measured

    return [found.decide(SIMILAR, similar), found.decide(AROUND, around)]


ARTEFACT = Artefact(
    name="points-n100",
    kind="claim",
    title="Fixed points of networks with N = 100: near the trajectories, and around each other",
    place="Appendix F.4, Appendix F.5",
    scales={"smoke": "30 s on two cores", "reduced": "25 min on two cores", "paper": "35 min on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    keeps=keeps,
    captions={
        "a": "Abscissas at the fixed points within a distance of 1 of a visited state; bars are medians.",
        "b": "Trajectories and fixed points of the RNN along three principal components.",
    },
)
