"""Claim: the annulus network generalises to pulses that it was not trained on (section "N-Bit Flip-Flop Task").

Shows: the error of the best gnODE with N = 2, trained on pulses of norm 1 to 2, on 200 new trials with pulses of
other norms.

Command: gnode reproduce run annulus-generalisation --scale paper
Cost at paper scale: 81 networks of 200 epochs, 3 minutes on one H200 (nothing if fig2 was made before); smoke: 15 s.

Published: MSE 0.005 for norms 0.5 to 1, 0.028 for 0 to 0.5, 0.490 for 2 to 4.
"""

from itertools import pairwise

from gnode import analysis, tasks
from gnode.reproduce import flip_flop, selection, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, Trained
from gnode.reproduce.evidence import Decided, Evidence
from gnode.train import Run

PUBLISHED = {(0.0, 0.5): "0.028", (0.5, 1.0): "0.005", (1.0, 2.0): None, (2.0, 4.0): "0.490"}
TRIALS = 200


def errors_of(run: Run) -> dict[tuple[float, float], float]:
    """Returns the mean squared error on new trials for each range of norms."""
    found = {}
    for span in PUBLISHED:
        trials = tasks.new_trials(run.task, TRIALS, span=span)
        found[span] = analysis.trial_error(run.net, trials.inputs, trials.targets, dt=run.dt, span=span).mean_square
    return found


def analyse(trained: Trained) -> Outcome:
    sweep = trained["two-bit-annulus"]
    found = [errors_of(sweep.load(member)) for member in selection.best_by_seed(sweep, model="gnode").values()]
    values = {span: [one[span] for one in found] for span in PUBLISHED}
    numbers = [
        selection.mean_over_seeds(f"MSE, {label(span)}", values[span], published)
        for span, published in PUBLISHED.items()
    ]
    return Outcome(numbers, judge(Evidence.fresh(numbers)))


def label(span: tuple[float, float]) -> str:
    return f"pulses of norm {span[0]:g} to {span[1]:g}"


def judge(found: Evidence) -> list[Claim]:
    def rule() -> Decided:
        groups = {span: found.group(f"MSE, {label(span)}") for span in PUBLISHED}
        ordered = [groups[span] for span in ((0.5, 1.0), (0.0, 0.5), (2.0, 4.0))]
        verdict = verdicts.all_of(verdicts.lower(*pair) for pair in pairwise(ordered))
        return verdict, {label(span): group.mean for span, group in groups.items()}

    claim = "Norms 0.5 to 1 are held well, 0 to 0.5 worse, 2 to 4 not at all: errors rise in this order."
    return [found.decide(claim, rule)]


ARTEFACT = Artefact(
    name="annulus-generalisation",
    kind="claim",
    title="Generalisation of the annulus network",
    place='Section "N-Bit Flip-Flop Task", below Figure 2',
    scales={"smoke": "15 s on two cores", "paper": "3 min on one H200"},
    plans=lambda scale: [flip_flop.two_bit("annulus", scale)],
    analyse=analyse,
    judge=judge,
)
