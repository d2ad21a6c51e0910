"""The fixed-amplitude 3-bit flip-flop task (Appendix F.1, figure-s1).

Shows: (A) a validation trial of the RNN; (B) validation loss of networks with N = 6; (C) trajectories and fixed
points of the RNN with N = 18 along three principal components.

Command: gnode reproduce run fixed-3bit --scale paper
Cost at paper scale: 45 networks of 200 epochs at batch size 100, about 5 minutes on one H200; smoke: about a minute.

Published: N = 6: mGRU, GRU, gnODE < 0.01, RNN 0.033, nODE 0.016; N = 12 and 18: all < 0.01; solutions have 8 stable
fixed points, one for each output.
"""

import numpy as np

from gnode import analysis, plots
from gnode.plots.analysis import principal_components
from gnode.plots.letters import lettered
from gnode.reproduce import flip_flop, selection, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Decided, Evidence
from gnode.reproduce.flip_flop import SOLVED

FIT = {"rnn": 1e-2, "mgru": 1e-2, "gru": 1e-2, "node": 1e-3, "gnode": 1e-3}
"""The learning rate of each network; all have a decay of 0.1 and a batch size of 100."""
PUBLISHED = {
    6: {"rnn": "0.033", "mgru": "< 0.01", "gru": "< 0.01", "node": "0.016", "gnode": "< 0.01"},
    12: dict.fromkeys(FIT, "< 0.01"),
    18: dict.fromkeys(FIT, "< 0.01"),
}


def plans(scale: str) -> list[SweepPlan]:
    made = []
    for rate in (1e-2, 1e-3):
        own = {"model": [model for model, lr in FIT.items() if lr == rate], "lr": rate, "weight_decay": 1e-1}
        name = f"fixed-3bit-lr{rate:g}"
        if scale == "smoke":
            small = {"lr": 1e-2, "state": [6, 12], "widths": (16, 16, 16), "epochs": 15}
            made.append(SweepPlan(name, "flipflop-fixed", flip_flop.SMOKE | own | small))
        else:
            full = {"state": [6, 12, 18], "batch_size": 100, "epochs": 200, "seed": flip_flop.PAPER_SEEDS}
            made.append(SweepPlan(name, "flipflop-fixed", own | full))
    return made


def analyse(trained: Trained) -> Outcome:
    by_model = {own["model"]: sweep for sweep in trained.sweeps.values() for own in sweep.members}
    by_model = {model: by_model[model] for model in FIT}
    sizes = sorted({own["state"] for own in by_model["rnn"].members})
    numbers, curves = [], {}
    for size in sizes:
        for model, sweep in by_model.items():
            numbers += flip_flop.losses(sweep, [model], PUBLISHED[size], state=size)
            if size == sizes[0]:
                best = selection.best_member(sweep, model=model, state=size)
                curves[model] = sweep.load(best).curves["validation"]
    ended = {(m, n): selection.lowest_losses(sweep, model=m, state=n) for n in sizes for m, sweep in by_model.items()}
    first = {model: minima for (model, size), minima in ended.items() if size == sizes[0]}
    later = {own: minima for own, minima in ended.items() if own[1] != sizes[0]}
    rnn = by_model["rnn"]
    run = rnn.load(selection.best_member(rnn, model="rnn", state=sizes[-1]))
    points = analysis.fixed_points(run.net, run.states, dt=run.dt, most_starts=200 if trained.is_smoke else 5000, key=0)
    exact = points.select(status="equilibrium")
    stable = exact.select(kind="stable")
    corners = {tuple(np.sign(output).astype(int)) for output in stable.outputs}
    details = {
        "each seed": {f"{flip_flop.name_of(m)}, each seed": minima.tolist() for m, minima in first.items()},
        "each seed, larger N": {
            f"{flip_flop.name_of(m)}, N = {n}, each seed": minima.tolist() for (m, n), minima in later.items()
        },
        "stable points of the RNN": {
            "N": sizes[-1],
            "stable fixed points": len(stable),
            "different outputs": len(corners),
        },
    }
    return Outcome(
        numbers=numbers,
        claims=judge(Evidence.fresh(numbers, details)),
        figures=lettered(
            {
                "a": flip_flop.trial_figure(run, "rnn"),
                "b": plots.best_curves(curves),
                "c": principal_components(run.states, exact),
            }
        ),
        details=details,
    )


SMALL = "At N = 6 mGRU, GRU and gnODE come below 0.01, RNN and nODE do not."
LARGE = "At N = 12 and 18 all come below 0.01."


def judge(found: Evidence) -> list[Claim]:
    gated = tuple(flip_flop.name_of(model) for model in flip_flop.GATED)

    def small() -> Decided:
        seeds = found.detail("each seed", was=SMALL)
        each = [(verdicts.below if name.startswith(gated) else verdicts.above)(v, SOLVED) for name, v in seeds.items()]
        return verdicts.all_of(each), seeds

    def large() -> Decided:
        seeds = found.detail("each seed, larger N", was=LARGE)
        return verdicts.all_of(verdicts.below(values, SOLVED) for values in seeds.values()), seeds

    return [found.decide(SMALL, small), found.decide(LARGE, large)]


CAPTIONS = {
    "a": "A validation trial of the best RNN with N = 18: inputs are black, targets pale, outputs in colour; the rows "
    "are channels, whose scales may differ.",
    "b": "Validation loss by epoch of the best seed of each network, N = 6.",
    "c": "The same RNN along three principal components, with the share of variance that each explains: trajectories "
    "of validation trials in grey, and its fixed points by kind, with their numbers.",
}


ARTEFACT = Artefact(
    name="fixed-3bit",
    kind="figure",
    title="Fixed-amplitude 3-bit flip-flop",
    place="Appendix F.1, figure-s1",
    scales={"smoke": "1 min on two cores", "paper": "5 min on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    captions=CAPTIONS,
)
