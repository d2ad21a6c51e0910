"""Beyond the paper: the gnODE among its relatives, with equal parameter budgets and equal search, gated and ungated.

Shows: the test error (Walker2D) or accuracy (letters, spoken words) and the validation error (variable three-bit task,
noise) of every network that the paper names, with at most 40,000 parameters, on: Walker2D filled by splines, held, and as
the samples alone at their irregular times; letters with 30, 50 and 70% of the bins missing; spoken words; the variable
three-bit task at N = 3, 6 and 100; noise at N = 100. Of 8 settings (2 learning rates, 2 decays, time constants of 1 and 10
bins) validation chooses one with the first seed, which is then trained from all others. Beside the scores: parameters, and
of each chosen network the median spectral abscissa of its fixed points, how long its states last without input, and how long
an update took where it was trained, in the fastest of its trainings, which shared the machine with others. The
paper expects that gating is beneficial for related model classes too: a claim for each class, which holds if the gated
network is better on more than half of the data where two standard errors decide. By the same rule the heavy-ball networks
are compared with the nODE.

Networks that take a mask of their inputs (GRU-ODE-Bayes) get one where bins are missing. Neural CDEs follow the natural
spline where samples are filled by splines, and else the rectilinear path, which is causal. At a given N (flip-flops,
noise) networks without hidden layers have fewer parameters, or a smaller N where the given one needs more: at N = 100 LSTM,
LEM, LTC, ODE-LSTM, GRU-ODE-Bayes, S4D and LRU, on noise also GRU, GRU-ODE and UnICORNN.

Command: gnode reproduce run relatives --scale paper
Cost at paper scale: 27 networks on 11 data sets, 10 trainings of each, of which few have been run yet; --only makes a part
of it, such as --only relatives-walker2d-raw-ode-lstm,relatives-walker2d-raw-gnode. Smoke: two minutes on two cores.

Published: the ODE-LSTM's test MSE of 0.883 on the raw samples of Walker2D (here the inputs have a time stamp, too); for the
gnODE the values of `table1`, `table-characters` and `fixed-3bit`.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gnode.init import SMALL_BIAS_STD
from gnode.reproduce import real_data, relatives, relatives_figure, verdicts
from gnode.reproduce.artefact import Artefact, Claim, Number, Outcome, SweepPlan, Trained
from gnode.reproduce.evidence import Evidence
from gnode.reproduce.relatives import DATA, KINDS, PAIRS, Measured, label_of, measure, settings_of
from gnode.reproduce.selection import mean_over_seeds
from gnode.reproduce.verdicts import Group
from gnode.sweeps import Sweep
from gnode.train import growing

SEARCHED = ("lr", "weight_decay", "tau")
TRAINING: dict[str, Any] = {
    "lr": [1e-3, 5e-3],
    "weight_decay": [1e-3, 1e-1],
    "clip": 1.0,
    "ema": 0.999,
    "seed": [0, 1, 2],
}
BINS_OF_TAU = (1, 10)
OF_TASK: dict[str, dict[str, Any]] = {
    "walker2d": real_data.SHORTER["walker2d"],
    "characters": real_data.SHORTER["characters"],
    "speech": real_data.SHORTER["speech"],
    "flipflop-variable": {"epochs": 600, "batch_size": 10, "fresh": "update", "lr_schedule": "cosine"},
    "ou": {"epochs": 1000},
}
"""The length of training by task, the same for every network."""
OF_DATA: dict[str, dict[str, Any]] = {"walker2d-raw": {"spans": growing(relatives.RAW_BINS, 22, 40, last=60)}}
"""What differs on some data of a task: the samples alone are fewer than the bins that they lie in."""
REDUCED: dict[str, dict[str, Any]] = {
    "walker2d": {"epochs": 40, "batch_size": 64, "lr": 5e-3, "spans": None},
    "characters": {"epochs": 40, "lr": 5e-3, "spans": None},
    "speech": {"epochs": 20, "lr": 5e-3},
    "flipflop-variable": {"epochs": 100, "lr": 3e-3},
    "ou": {"lr": 3e-3},
}
"""What differs at reduced scale: shorter training with one learning rate and one decay; tau is still searched."""
SMOKE: dict[str, Any] = {"lr": 1e-2, "weight_decay": 1e-3, "seed": [0, 1], "tau": 0.01, "lr_schedule": "constant"}
SMOKE_OF_TASK: dict[str, dict[str, Any]] = {
    "flipflop-variable": {"epochs": 3, "trials": 20, "validation": 10, "bins": 20, "fresh": "no"},
    "walker2d": {"epochs": 1, "batch_size": 1024, "spans": None, "tau": 1.0},
}
SMOKE_DATA, SMOKE_KINDS = (
    "variable-n3",
    ("node", "gnode", "ncde", "gated-ncde", "lru", "gated-lru", "cornn", "ode-lstm"),
)
HEAVY = ("hbnode", "ghbnode")
"""Of the second-order networks users report that the plain nODE is better: a claim for each."""
PUBLISHED = {("walker2d-raw", "ode-lstm"): 0.883}


def plans(scale: str) -> list[SweepPlan]:
    if scale == "smoke":
        return [plan_of(SMOKE_DATA, kind, scale) for kind in SMOKE_KINDS]
    return [plan_of(data, kind, scale) for data in DATA for kind in KINDS]


def name_of(data: str, kind: str) -> str:
    """Returns the name of a sweep."""
    return f"relatives-{data}-{kind}"


def plan_of(data: str, kind: str, scale: str) -> SweepPlan:
    """Returns the sweep of one network on one data set."""
    of = DATA[data]
    own: dict[str, Any] = {"bias_std": SMALL_BIAS_STD} if kind in ("rnn", "mgru", "node", "gnode", "anode") else {}
    own |= (
        settings_of(kind, data, 8 if scale == "smoke" else None) | TRAINING | OF_TASK[of.task] | OF_DATA.get(data, {})
    )
    own["tau"] = [bins * of.step for bins in BINS_OF_TAU]
    if scale == "smoke":
        return SweepPlan(name_of(data, kind), of.task, own | SMOKE | SMOKE_OF_TASK[of.task])
    if scale == "reduced":
        own |= {"weight_decay": 1e-2, "lr_schedule": "cosine"} | REDUCED[of.task]
    return SweepPlan(name_of(data, kind), of.task, own, ("tau",) if scale == "reduced" else SEARCHED)


def analyse(trained: Trained) -> Outcome:
    found: dict[str, dict[str, Measured]] = {}
    for data, of in DATA.items():
        for kind in KINDS:
            for sweep in trained.available(name_of(data, kind)):
                found.setdefault(data, {})[kind] = measure(sweep, of, few=trained.is_smoke)
    numbers = [
        number for data, own in found.items() for kind, one in own.items() for number in _numbers(data, kind, one)
    ]
    details = {data: {kind: one._asdict() for kind, one in own.items()} for data, own in found.items()}
    return Outcome(numbers, judge(Evidence.fresh([], details)), draw(details), details)


def draw(details: Mapping[str, Any]) -> dict[str, Any]:
    return relatives_figure.draw(details, PUBLISHED)


def _numbers(data: str, kind: str, one: Measured) -> list[Number]:
    published = PUBLISHED.get((data, kind))
    row, scores = f"{data}, {label_of(kind)} ({one.parameters} parameters)", np.array(one.scores, float)
    made = [mean_over_seeds(f"{row}: {DATA[data].score}", scores, None if published is None else f"{published:g}")]
    made.append(Number(f"{row}: median abscissa of its fixed points (per s)", one.abscissa))
    made.append(Number(f"{row}: median memory time (s)", one.memory))
    return [*made, Number(f"{row}: time per update, in the fastest training (ms)", one.update)]


def judge(found: Evidence) -> list[Claim]:
    claims = [_gating_helps(what, *pair, found.details) for what, pair in PAIRS.items()]
    claims += [_better(f"The {label_of(name)} is better than the nODE.", "node", name, found.details) for name in HEAVY]
    raw = found.details.get("walker2d-raw", {}).get("ode-lstm")
    if raw is not None:
        theirs, mean = PUBLISHED["walker2d-raw", "ode-lstm"], float(np.mean(raw["scores"]))
        claim = f"The ODE-LSTM's mean test MSE on raw Walker2D is at most {theirs:g}."
        claims.append(Claim(claim, verdicts.plainly(mean <= theirs), {"mean": mean}))
    return claims


def _gating_helps(what: str, plain: str, gated: str, found: Mapping[str, Mapping[str, Any]]) -> Claim:
    """Whether the gated network of a class generally has the better score."""
    claim = f"Gating is beneficial for {what} ({label_of(gated)} against {label_of(plain)})."
    return _better(claim, plain, gated, found)


def _better(claim: str, first: str, second: str, found: Mapping[str, Mapping[str, Any]]) -> Claim:
    """Whether the second network has the better score on more of the data that decide than not."""
    compared, measured = [], {}
    for data, own in found.items():
        if first in own and second in own:
            scores = {kind: own[kind]["scores"] for kind in (first, second)}
            better = verdicts.higher if DATA[data].more_is_better else verdicts.lower
            compared.append(better(Group.of(scores[second]), Group.of(scores[first])))
            measured[data] = {label_of(kind): values for kind, values in scores.items()}
    return Claim(claim, verdicts.most_of(compared), measured | verdicts.tally(compared))


def keeps(trained: Trained) -> dict[str, list[int]]:
    """The members whose weights are kept: the seed with the lowest validation loss of every sweep."""
    return {name: [best_seed(sweep)] for name, sweep in trained.sweeps.items()}


def best_seed(sweep: Sweep) -> int:
    """Returns the chosen member with the lowest validation loss."""
    return min(real_data.selection.trained_members(sweep), key=lambda member: sweep.result(member)["best_loss"])


ARTEFACT = Artefact(
    name="relatives",
    kind="extension",
    title="The gnODE among its relatives",
    place="beyond the paper",
    scales={
        "smoke": "2 min on two cores",
        "reduced": "half an hour a network on two cores",
        "paper": "an hour a network",
    },
    plans=plans,
    analyse=analyse,
    judge=judge,
    data=("walker2d", "characters", "speech-v1"),
    may_be_partial=True,
    keeps=keeps,
    draw=draw,
    captions={"a": relatives_figure.CAPTION},
)
