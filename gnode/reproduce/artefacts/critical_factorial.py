"""Beyond the paper: critical initialisation of the gnODE as a factorial, each of its five changes alone and all together.

Shows: the test error on Walker2D (N = 32) and the test accuracies on letters with half of the bins missing (N = 32) and on
spoken words (N = 100) of gnODEs that differ in their initialisation alone. `init="critical"` with a final tanh, as the paper
has it, changes five things at once against Glorot normal: the recurrent weights W_h of F (sigma_w*), the activation after
the last layer, the scale of the input weights U, the gate, and the readout with the initial state. Here is each alone, and
all five; Glorot normal is what they are compared with, Kaiming normal a second control. sigma_w* is the critical scale
without input; the last variant has that under drive: for a constant input with the mean square of the training inputs. Each
variant's learning rate and decay are those with the lowest validation error of its first seed, which at paper scale tries
all of the paper's in shorter runs. A change improves a data set if it does so by two standard errors, and the claims count
data sets.

Command: gnode reproduce run critical-factorial --scale paper
Cost at paper scale: 27 sweeps of 9 short and 5 full trainings, which have not been run yet; --only makes a part of them,
such as --only factorial-walker2d-glorot,factorial-walker2d-gate. Smoke: two minutes on two cores.

Published: all five together against Glorot normal, with H chosen for each: Walker2D 0.588 ± 0.003 against 0.552 ± 0.019
(test MSE; these are the values of its Table 1 for N = 100 and N = 32, so N may differ too), letters 0.987 against 0.981, and
words (version 2 of the data) 0.815 against 0.795. Nothing about each change alone.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gnode.cells import CELLS
from gnode.plots.seed_rows import Row, RowPanel, seed_rows
from gnode.reproduce import real_data, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Number, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Decided, Evidence, NoEvidence
from gnode.reproduce.selection import trained_members
from gnode.sweeps import Sweep


class Data(NamedTuple):
    """One data set: its task with options, the network's N, the score ("loss" or "accuracy"), and the drive.

    `drive` is the mean square of the training inputs, over channels and all bins before padding. Those of Walker2D are not
    standardised: the velocities have mean squares of up to 43.
    """

    task: str
    title: str
    state: int
    metric: str
    drive: float
    options: Mapping[str, Any] = {}

    @property
    def score(self) -> str:
        return f"{self.title}: test {'MSE' if self.metric == 'loss' else 'accuracy'}"


DATA = {
    "walker2d": Data("walker2d", "Walker2D", 32, "loss", 9.376),
    "letters": Data("characters", "letters, 50% dropped", 32, "accuracy", 0.8327, {"dropped": 0.5}),
    "speech": Data("speech", "spoken words", 100, "accuracy", 1.0),
}
GLOROT, ALL, DRIVEN = "glorot", "all", "driven"
BASE: dict[str, Any] = {"init": "glorot_normal"}
REST = {f"init_{part}": "glorot_normal" for part in ("input", "gate", "readout")}
TANH = {"final": "tanh"}
VARIANTS: dict[str, dict[str, Any]] = {
    GLOROT: BASE,
    "kaiming": {"init": "kaiming_normal"},
    "recurrent": {"init": "critical"} | REST,
    "tanh": BASE | TANH,
    "input": BASE | {"init_input": "critical"},
    "gate": BASE | {"init_gate": "critical"},
    "readout": BASE | {"init_readout": "critical"},
    ALL: {"init": "critical"} | TANH,
    DRIVEN: {"init": "critical"} | TANH,  # and the drive of the data
}
"""The settings of each variant. Elsewhere than in W_h the critical rule is Kaiming normal."""
LABELS = {
    GLOROT: "Glorot normal",
    "kaiming": "Kaiming normal",
    "recurrent": "W_h",
    "tanh": "final tanh",
    "input": "U",
    "gate": "gate",
    "readout": "readout and initial state",
    ALL: "all five",
    DRIVEN: "all five, under drive",
}
CHANGES = {
    "recurrent": "The critical scale of W_h",
    "tanh": "The final tanh",
    "input": "The larger scale of U",
    "gate": "The larger scale of the gate",
    "readout": "The larger scale of readout and initial state",
}
"""The five changes, as claims name them."""
COUNTED = "on more data than it worsens"
SEARCHED = {"smoke": (), "reduced": ("lr",), "paper": ("lr", "weight_decay")}
SMOKE: dict[str, Any] = {"seed": [0, 1], "state": 8, "widths": (8,), "gate_widths": ()}


def plans(scale: str) -> list[SweepPlan]:
    few = (GLOROT, ALL, DRIVEN) if scale == "smoke" else tuple(VARIANTS)
    return [_plan(data, one, scale) for data in DATA for one in (VARIANTS if data == "walker2d" else few)]


def name_of(data: str, variant: str) -> str:
    """Returns the name of a sweep."""
    return f"factorial-{data}-{variant}"


def _plan(data: str, variant: str, scale: str) -> SweepPlan:
    of = DATA[data]
    own: dict[str, Any] = {"model": "gnode", "state": of.state, **of.options, **VARIANTS[variant]}
    own |= real_data.SEARCH[scale] | real_data.BIAS
    own |= {"drive": of.drive} if variant == DRIVEN else {}
    if scale == "smoke":
        own |= SMOKE | ({"parts": 1} if of.task == "speech" else {})
    if scale == "reduced":
        own |= real_data.SHORTER[of.task]
    tries = real_data.SHORTER[of.task] if scale == "paper" else {}
    return SweepPlan(name_of(data, variant), of.task, own, SEARCHED[scale], tries)


def analyse(trained: Trained) -> Outcome:
    numbers: list[Number] = []
    panels: dict[str, dict[str, list[float]]] = {}
    details: dict[str, dict[str, Any]] = {}
    for data, of in DATA.items():
        for variant, label in LABELS.items():
            for sweep in trained.available(name_of(data, variant)):
                scores = [_score(sweep.result(member), of.metric) for member in trained_members(sweep)]
                numbers.append(real_data.number(number_name(data, variant), np.array(scores), None))
                panels.setdefault(of.score, {})[label] = scores
                details.setdefault(of.title, {})[label] = _details(sweep)
    figures = {"a": _figure(panels)} if panels else {}
    return Outcome(numbers, judge(Evidence.fresh(numbers)), figures, details)


def _figure(panels: Mapping[str, Mapping[str, list[float]]]) -> Any:
    """Draws the scores of gnODEs, all in its colour; single changes are circles, and lines end the groups of rows."""
    single = {LABELS[change] for change in CHANGES}
    ends = [label for label in LABELS.values() if label in (LABELS["kaiming"], LABELS["readout"])]
    return seed_rows(
        [
            RowPanel(
                score.rpartition(": ")[0],
                [Row(label, own, CELLS["gnode"].colour, hollow=label in single) for label, own in rows.items()],
                score.rpartition(": ")[2].replace("test", "Test"),
                scale=score,
                log="MSE" in score,
                rules=[label for label in ends if label in rows],
            )
            for score, rows in panels.items()
        ],
        columns=3,
        names={"filled": "a seed, control or all five changes", "hollow": "a seed, one change"},
    )


def _score(result: Mapping[str, Any], metric: str) -> float:
    """Returns a test score; nan if the run ended without one."""
    return float((result.get("test") or {}).get(metric, np.nan))


def number_name(data: str, variant: str) -> str:
    return f"{DATA[data].score}, {LABELS[variant]}"


def _details(sweep: Sweep) -> dict[str, Any]:
    """The setting that was chosen, and the validation loss of everything that was trained."""
    losses = {
        f"{_setting(sweep, index)}, {sweep.members[index]['epochs']} epochs, seed {sweep.members[index]['seed']}": (
            sweep.result(index)["best_loss"]
        )
        for index in sweep.done()
    }
    return {"chosen": _setting(sweep, best_seed(sweep)), "validation loss": losses}


def _setting(sweep: Sweep, index: int) -> str:
    own = sweep.members[index]
    return f"rate {own['lr']:g}, decay {own['weight_decay']:g}"


def judge(found: Evidence) -> list[Claim]:
    made = [
        found.decide(f"{what} alone improves on Glorot ({COUNTED}).", partial(_improves, found, change, GLOROT))
        for change, what in CHANGES.items()
    ]
    made += [
        found.decide(
            f"All five changes together improve on Glorot ({COUNTED}).", partial(_improves, found, ALL, GLOROT)
        ),
        found.decide(
            f"Criticality under drive is better than without ({COUNTED}).", partial(_improves, found, DRIVEN, ALL)
        ),
    ]
    return [claim for claim in made if claim.verdict != verdicts.OPEN]


def _improves(found: Evidence, variant: str, base: str) -> Decided:
    """Whether a variant is better than another on more of the data that decide than it is worse on."""
    compared: list[str] = []
    measured: dict[str, Any] = {}
    for data, of in DATA.items():
        try:
            with_it, without = (found.group(number_name(data, one)) for one in (variant, base))
        except NoEvidence:  # a part of the artefact lacks this data set
            continue
        compared.append((verdicts.lower if of.metric == "loss" else verdicts.higher)(with_it, without))
        measured |= {f"{of.title}, {LABELS[variant]}": with_it.mean, f"{of.title}, {LABELS[base]}": without.mean}
    if not compared:
        raise NoEvidence(f"no data on {LABELS[variant]}")
    return verdicts.most_of(compared), measured | verdicts.tally(compared)


def keeps(trained: Trained) -> dict[str, list[int]]:
    """The members whose weights are kept: the seed with the lowest validation loss of every sweep."""
    return {name: [best_seed(sweep)] for name, sweep in trained.sweeps.items()}


def best_seed(sweep: Sweep) -> int:
    """Returns the chosen member with the lowest validation loss."""
    return min(trained_members(sweep), key=lambda member: sweep.result(member)["best_loss"])


CAPTIONS = {
    "a": "Test scores of every seed by initialisation, a panel for each data set: each has its own scale. The first "
    "two rows are the controls, circles are single changes, points below them all five. Bars are medians.",
}


ARTEFACT = Artefact(
    name="critical-factorial",
    kind="extension",
    title="Critical initialisation, each of its five changes alone",
    place="beyond the paper",
    scales={"smoke": "2 min on two cores", "reduced": "not run yet", "paper": "not run yet"},
    plans=plans,
    analyse=analyse,
    judge=judge,
    data=("walker2d", "characters", "speech-v1"),
    may_be_partial=True,
    keeps=keeps,
    captions=CAPTIONS,
)
