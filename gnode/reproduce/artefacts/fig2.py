"""Figure 2: flow fields of two-dimensional gnODEs on four two-bit flip-flop tasks.

Shows: in output coordinates the flow of the best of 27 gnODEs with N = 2 on (A) fixed amplitudes: four stable
points; (B) amplitudes from -1 to 1: a square of slow states; (C) the first channel from -2 to 2: a rectangle; (D)
both channels at once, norm 1 to 2: a disk, without the hole of the inputs.

Command: gnode reproduce run fig2 --scale paper
Cost at paper scale: 4 x 81 networks (the square's sweep has all five models) of 200 epochs, about 20 minutes on one
H200; smoke: about a minute and a half on two cores.

Published (Appendix F.6): minimum validation MSE 3.203e-8 (A), 0.008 (B), 0.0137 (C), 1.910e-4 (D).
"""

from typing import Any

import numpy as np

from gnode.reproduce import flip_flop, selection, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Decided, Evidence

PANELS = {"fixed": "a", "square": "b", "rectangle": "c", "annulus": "d"}
PUBLISHED = {"fixed": "3.203e-8", "square": "0.008", "rectangle": "0.0137", "annulus": "1.910e-4"}


def plans(scale: str) -> list[SweepPlan]:
    of_square = flip_flop.MODELS  # the artefact `square` needs all five models, so both share this sweep
    return [flip_flop.two_bit(task, scale, of_square if task == "square" else None) for task in PANELS]


def analyse(trained: Trained) -> Outcome:
    numbers, runs, points, details = [], {}, {}, {}
    for task, panel in PANELS.items():
        sweep = trained[f"two-bit-{task}"]
        numbers.append(
            selection.mean_over_seeds(
                f"gnODE, N = 2, {task}: minimum validation MSE",
                selection.lowest_losses(sweep, model="gnode"),
                PUBLISHED[task],
            )
        )
        run = sweep.load(selection.best_member(sweep, model="gnode"))
        runs[panel] = run
        if task == "fixed":
            points[panel] = flip_flop.equilibria(run, trained)
            details["fixed points"] = corners(points[panel])
            continue
        slow = flip_flop.slow_set(run)
        details[task] = None if slow is None else slow.summary()
        if task == "annulus":
            details["speeds"] = flip_flop.speed_by_radius(run)
    figures = flip_flop.flow_figures(runs, points)
    return Outcome(numbers, judge(Evidence.fresh(numbers, details)), figures, details)


def corners(points: Any) -> dict[str, Any]:
    """Counts the stable equilibria and the pairs of signs that their outputs have."""
    stable = points.select(kind="stable").outputs
    return {
        "stable fixed points": len(stable),
        "different outputs": len({tuple(np.sign(output).astype(int)) for output in stable}),
        "largest distance of an output from 1 or -1": float(np.abs(np.abs(stable) - 1).max()) if len(stable) else None,
    }


FOUR_POINTS = "With fixed amplitudes there are 4 stable fixed points, one for each pair of outputs."
DISK = "The annulus task makes a disk: its middle, where no input was, is slow as well."


def judge(found: Evidence) -> list[Claim]:
    def four_points() -> Decided:
        measured = found.detail("fixed points")
        return verdicts.plainly(measured["stable fixed points"] == measured["different outputs"] == 4), measured

    def disk() -> Decided:
        speeds = found.detail("speeds", was=DISK)
        return verdicts.plainly(flip_flop.has_no_hole(speeds)), speeds

    return [
        found.decide(FOUR_POINTS, four_points),
        *(_has_shape(found, task) for task in ("square", "rectangle")),
        found.decide(DISK, disk),
        *(flip_flop.continuous_attractor(found, task, task) for task in ("square", "rectangle", "annulus")),
    ]


def _has_shape(found: Evidence, task: str) -> Claim:
    def rule() -> Decided:
        slow = found.detail(task)
        outputs = {"lowest outputs": slow["output_low"], "highest outputs": slow["output_high"]}
        return verdicts.plainly(slow["shape"] == task), {"shape": slow["shape"]} | outputs

    return found.decide(f"The slow states of the {task} task form a {task}.", rule)


CAPTIONS = {
    "a": "Fixed amplitudes: the four stable fixed points, with their number. Colour is the speed: compare panels by "
    "the scale beside each; white lines are streamlines, thin grey ones ten validation trials.",
    "b": "Amplitudes from -1 to 1 (square). Colour is the speed: compare panels by the scale beside each; white lines "
    "are streamlines, thin grey ones ten validation trials.",
    "c": "The first channel from -2 to 2 (rectangle). Colour is the speed: compare panels by the scale beside each; "
    "white lines are streamlines, thin grey ones ten validation trials.",
    "d": "Norms from 1 to 2 (annulus). Colour is the speed: compare panels by the scale beside each; white lines are "
    "streamlines, thin grey ones ten validation trials.",
}


ARTEFACT = Artefact(
    name="fig2",
    kind="figure",
    title="Flow fields of gnODEs with N = 2",
    place="Figure 2 (figure-3 in the source)",
    scales={"smoke": "1.5 min on two cores", "paper": "20 min on one H200"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    captions=CAPTIONS,
)
