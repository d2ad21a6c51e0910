"""The rectangle and the disk two-bit flip-flop tasks (Appendix F.6, figure-s3).

Shows: a validation trial of the best gnODE with N = 2 on (A) the rectangle and (B) the disk (annulus) task.

Command: gnode reproduce run rectangle-disk --scale paper
Cost at paper scale: 2 x 81 networks of 200 epochs, about 6 minutes on one H200 (nothing if fig2 was made before);
smoke: 20 s.

Published: minimum validation MSE 0.0137 (rectangle) and 1.910e-4 (disk).
"""

from gnode.plots.letters import lettered
from gnode.reproduce import flip_flop, selection
from gnode.reproduce.artefact import Artefact, Outcome, Trained

TASKS = {"rectangle": ("a", "0.0137"), "annulus": ("b", "1.910e-4")}


def analyse(trained: Trained) -> Outcome:
    numbers, figures = [], {}
    for task, (panel, published) in TASKS.items():
        sweep = trained[f"two-bit-{task}"]
        numbers.append(
            selection.mean_over_seeds(
                f"gnODE, N = 2, {task}: minimum validation MSE",
                selection.lowest_losses(sweep, model="gnode"),
                published,
            )
        )
        run = sweep.load(selection.best_member(sweep, model="gnode"))
        figures[panel] = flip_flop.trial_figure(run, "gnode")
    return Outcome(numbers, [], lettered(figures))


CAPTIONS = {
    "a": "The rectangle task. A validation trial of the best gnODE with N = 2: inputs are black, targets pale, outputs "
    "in colour; the rows are channels, whose scales may differ.",
    "b": "The disk (annulus) task, as A.",
}


ARTEFACT = Artefact(
    name="rectangle-disk",
    kind="figure",
    title="Trials of the rectangle and the disk task",
    place="Appendix F.6, figure-s3",
    scales={"smoke": "20 s on two cores", "paper": "6 min on one H200"},
    plans=lambda scale: [flip_flop.two_bit(task, scale) for task in TASKS],
    analyse=analyse,
    judge=lambda found: [],
    captions=CAPTIONS,
)
