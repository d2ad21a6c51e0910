"""Figure 1: networks with N = 6 and N = 100 on the variable-amplitude 3-bit flip-flop task.

Shows: (A) a validation trial of the gnODE, N = 6; (B) minimum validation MSE of 27 settings per network and seed, N = 6; (C)
validation loss of the best of them; (D) as B, N = 100; (E) spectral abscissa at every fixed point found from 10,000
visited states, N = 100. The text beside it: a gnODE with N = 3 solves the task, no other network does.

Command: gnode reproduce run fig1 --scale paper
Cost at paper scale: 3 x 405 networks of 600 epochs, three sweeps of 15 to 35 minutes each on one H200, and a few
minutes for the fixed points; smoke: about a minute and a half on two cores.

Published (section "N-Bit Flip-Flop Task"): N = 6: gnODE < 0.01, all others >= 0.025; N = 100: gnODE and GRU < 0.01,
RNN and mGRU < 0.016; N = 3: gnODE < 0.01, others not.
"""

from functools import partial

from gnode import plots
from gnode.plots.letters import lettered
from gnode.reproduce import flip_flop, selection
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Evidence
from gnode.reproduce.flip_flop import MODELS

N6 = {"gnode": "< 0.01"} | dict.fromkeys(("rnn", "mgru", "gru", "node"), ">= 0.025")
N100 = {"gnode": "< 0.01", "gru": "< 0.01", "rnn": "< 0.016", "mgru": "< 0.016"}
N3 = {"gnode": "< 0.01"} | dict.fromkeys(("rnn", "mgru", "gru", "node"), ">= 0.01")


def plans(scale: str) -> list[SweepPlan]:
    few = ["rnn", "gnode"] if scale == "smoke" else MODELS
    return [
        flip_flop.variable(6, scale),
        flip_flop.variable(100, scale),
        flip_flop.variable(3, scale, few),
    ]


def analyse(trained: Trained) -> Outcome:
    small, large, smallest = (trained[f"variable-n{size}"] for size in (6, 100, 3))
    tried = list(dict.fromkeys(own["model"] for own in smallest.members))
    found = flip_flop.abscissas(large, trained)
    best = small.load(selection.best_member(small, model="gnode"))
    numbers = [
        *flip_flop.losses(small, MODELS, N6),
        *flip_flop.losses(large, MODELS, N100),
        *flip_flop.losses(smallest, tried, N3),
    ]
    details = {"median abscissas": flip_flop.median_abscissas(found)}
    return Outcome(
        numbers=numbers,
        claims=judge(Evidence.fresh(numbers, details)),
        figures=lettered(
            {
                "a": flip_flop.trial_figure(best, "gnode"),
                "b": plots.strip(small.rows(), threshold=flip_flop.SOLVED),
                "c": flip_flop.best_curves(small),
                "d": plots.strip(large.rows(), threshold=flip_flop.SOLVED),
                "e": flip_flop.abscissa_figure(found),
            }
        ),
        details=details,
    )


def judge(found: Evidence) -> list[Claim]:
    others = {model: False for model in MODELS if model != "gnode"}
    bounded = partial(flip_flop.bounded, found)
    return [
        bounded("Only the gnODE comes below 0.01 at N = 6.", 6, {"gnode": True} | others),
        bounded("At N = 6 all others stay at 0.025 or above.", 6, others, bound=0.025),
        bounded("gnODE and GRU come below 0.01 at N = 100.", 100, {"gnode": True, "gru": True}),
        bounded("RNN and mGRU come below 0.016 at N = 100.", 100, {"rnn": True, "mgru": True}, bound=0.016),
        bounded("A gnODE with N = 3 comes below 0.01.", 3, {"gnode": True}),
        bounded("No other network with N = 3 does.", 3, others),
        flip_flop.median_claim(found, "At N = 100 the gated networks' median abscissas are nearer to 0."),
    ]


CAPTIONS = {
    "a": "A validation trial of the best gnODE with N = 6: inputs are black, targets pale, outputs in colour; the rows "
    "are channels, whose scales may differ.",
    "b": "N = 6: minimum validation loss of every training: a point for each setting and seed; the lowest of each "
    "network has a black edge. Below a name is how many trainings diverged, which are not drawn. The dashed line is "
    "0.01, below which the paper calls the task solved.",
    "c": "Validation loss by epoch of the best training of each network, N = 6.",
    "d": "As B, N = 100; its scale is not quite that of B.",
    "e": "Spectral abscissas of the best networks with N = 100. A point is a fixed point, placed across its strip at "
    "random; of many only some hundreds are drawn. Black bars are medians of all. Above the grey line a point is "
    "unstable.",
}


ARTEFACT = Artefact(
    name="fig1",
    kind="figure",
    title="Variable-amplitude 3-bit flip-flop, N = 6 and N = 100",
    place="Figure 1",
    scales={"smoke": "1.5 min on two cores", "paper": "75 min on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    captions=CAPTIONS,
)
