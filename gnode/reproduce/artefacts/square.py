"""The square two-bit flip-flop task with N = 2: all five networks (Appendix F.6, figure-s2).

Shows: (A) a validation trial of the best gnODE; (B) the minimum validation MSE of 27 settings for each network.

Command: gnode reproduce run square --scale paper
Cost at paper scale: 405 networks of 200 epochs, about 12 minutes on one H200 (nothing if fig2 was made before); smoke:
about 30 s.

Published: gnODE 0.008; RNN, mGRU and GRU > 0.05; nODE > 0.02.
"""

from functools import partial

from gnode import plots
from gnode.plots.letters import lettered
from gnode.reproduce import flip_flop, selection
from gnode.reproduce.artefact import Artefact, Claim, Outcome, Trained
from gnode.reproduce.evidence import Evidence

PUBLISHED = {"rnn": "> 0.05", "mgru": "> 0.05", "gru": "> 0.05", "node": "> 0.02", "gnode": "0.008"}


def analyse(trained: Trained) -> Outcome:
    sweep = trained["two-bit-square"]
    run = sweep.load(selection.best_member(sweep, model="gnode"))
    numbers = flip_flop.losses(sweep, flip_flop.MODELS, PUBLISHED)
    return Outcome(
        numbers=numbers,
        claims=judge(Evidence.fresh(numbers)),
        figures=lettered(
            {
                "a": flip_flop.trial_figure(run, "gnode"),
                "b": plots.strip(sweep.rows(), threshold=flip_flop.SOLVED),
            }
        ),
    )


def judge(found: Evidence) -> list[Claim]:
    bounded = partial(flip_flop.bounded, found)
    not_below = {model: False for model in flip_flop.MODELS if model not in ("node", "gnode")}
    return [
        bounded("RNN, mGRU and GRU with N = 2 stay above 0.05.", 2, not_below, bound=0.05),
        bounded("nODE with N = 2 stays above 0.02.", 2, {"node": False}, bound=0.02),
        bounded("The gnODE with N = 2 comes below 0.01.", 2, {"gnode": True}),
    ]


CAPTIONS = {
    "a": "A validation trial of the best gnODE with N = 2: inputs are black, targets pale, outputs in colour; the rows "
    "are channels, whose scales may differ.",
    "b": "Minimum validation loss of every training: a point for each setting and seed; the lowest of each network has "
    "a black edge. Below a name is how many trainings diverged, which are not drawn. The dashed line is 0.01, below "
    "which the paper calls a task solved.",
}


ARTEFACT = Artefact(
    name="square",
    kind="figure",
    title="Square two-bit flip-flop, N = 2: five networks",
    place="Appendix F.6, figure-s2",
    scales={"smoke": "30 s on two cores", "paper": "12 min on one H200"},
    plans=lambda scale: [flip_flop.two_bit("square", scale, flip_flop.MODELS)],
    analyse=analyse,
    judge=judge,
    captions=CAPTIONS,
)
