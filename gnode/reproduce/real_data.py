"""Shared by the real-data tables: their sweeps, and the test scores of the best settings.

At paper scale 9 settings (3 learning rates x 3 decays) of each network are tried in shorter runs (`SHORTER`); the best
one is then trained from 5 seeds for the paper's number of epochs. For letters, whose setting is chosen on one data set and
kept for the others, every setting is trained from 3 seeds instead.
The paper also searched over initialisations and H. Here separate sweeps have Glorot normal initialisation (linear final
layer) and critical initialisation (final tanh), and H = 316 (speech: 1000). The reduced scale fixes the decay and trains
for fewer epochs.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gnode.cells import cell_label
from gnode.init import SMALL_BIAS_STD
from gnode.reproduce import selection, verdicts
from gnode.reproduce.artefact import Claim, Number, SweepPlan, Trained
from gnode.reproduce.evidence import Decided, Evidence, means
from gnode.sweeps import Sweep
from gnode.tasks.datasets import speech
from gnode.train import growing

MODELS = ["mgru", "gru", "lstm", "lem", "node", "gnode"]
FEW = ["lem", "node", "gnode"]
"""The models at smoke scale."""
SIZES = (32, 100, 316)
DROPPED = (0.3, 0.5, 0.7)
"""The fractions of bins that are missing in the three data sets of letters."""
CRITICAL, EULER = "critical", "lem-euler"
"""The endings of the names of two further sweeps: nODE and gnODE with critical initialisation; LEM by forward Euler."""

SEARCH: dict[str, dict[str, Any]] = {
    "smoke": {"lr": 1e-2, "weight_decay": 1e-3, "seed": [0], "epochs": 1, "batch_size": 1024},
    "reduced": {"lr": [1e-3, 1e-2], "weight_decay": 1e-2, "seed": [0, 1, 2]},
    "paper": {"lr": [1e-4, 1e-3, 1e-2], "weight_decay": [1e-3, 1e-2, 1e-1], "seed": [0, 1, 2, 3, 4]},
}
REDUCED_LR = {"speech": [1e-4, 1e-3, 1e-2]}
"""The learning rates where two are too few: on speech nODE and gnODE need different ones of the paper's three."""
SEARCHED = {"smoke": (), "reduced": (), "paper": ("lr", "weight_decay")}
LONGER = (10, 100)
"""The time constants of the speech networks in bins, besides 1."""
BIAS = {"bias_std": SMALL_BIAS_STD}
"""The initial biases have a variance of 1e-6 (Appendix H)."""

SHORTER: dict[str, dict[str, Any]] = {
    "walker2d": {"spans": growing(84, 28, 40, last=60)},
    "characters": {"spans": growing(182, 91, 20, last=40)},
    "speech": {"epochs": 40},
}
"""The schedules at reduced scale and of the trial runs of a search, in place of 700, 1300 and 300 epochs."""


def plans(
    task: str, size: int, scale: str, name: str, models: list[str] | None = None, searched: bool = True, **own: Any
) -> list[SweepPlan]:
    """Returns the sweeps of a task at one N: all networks, LEM by forward Euler, nODE and gnODE initialised critically.

    **Arguments:**

    - `task`: the task's name.
    - `size`: N.
    - `scale`: one of `SCALES`.
    - `name`: the name of the first sweep, with which those of the others begin.
    - `models`: the models; `MODELS` by default.
    - `searched`: whether the sweep chooses a setting for each network with the first seed.
    - `own`: further settings.
    """
    names = [model for model in (models or MODELS) if scale != "smoke" or model in FEW]
    choosing: dict[str, Any] = {}
    if searched and SEARCHED[scale]:
        choosing = {"search": SEARCHED[scale], "search_with": SHORTER[task]}
    common = SEARCH[scale] | BIAS | {"state": 8 if scale == "smoke" else size} | own
    if scale == "reduced":
        common |= SHORTER[task] | ({"lr": REDUCED_LR[task]} if task in REDUCED_LR else {})
    if scale == "smoke":
        common |= {"widths": (16,), "gate_widths": ()} | ({"parts": 1} if task == "speech" else {})
    glorot = {"init": "glorot_normal"}
    made = [SweepPlan(name, task, common | glorot | {"model": names}, **choosing)]
    made.append(SweepPlan(f"{name}-{EULER}", task, common | glorot | {"model": ["lem"], "method": "euler"}, **choosing))
    deep = [model for model in names if model in ("node", "gnode")]
    critical = {"model": deep, "init": "critical", "final": "tanh"}
    made.append(SweepPlan(f"{name}-{CRITICAL}", task, common | critical, **choosing))
    return made


def walker2d(size: int, scale: str) -> list[SweepPlan]:
    """Returns the sweeps for predicting the walker's next state (Appendix H.3)."""
    models = ["lem", "gnode"] if scale == "smoke" else None  # so that table1 with both halves takes two minutes
    return plans("walker2d", size, scale, f"walker2d-n{size}", models)


def speech_commands(size: int, scale: str) -> list[SweepPlan]:
    """Returns the sweeps for classifying ten words at tau = 0.006 s (Appendix H.4), with version 1 of the data."""
    return plans("speech", size, scale, f"speech-n{size}")


def speech_by_tau(scale: str) -> list[SweepPlan]:
    """Returns the sweeps for classifying words at time constants of 1, 10 and 100 bins."""
    (first, *_) = speech_commands(100, scale)
    models = ["mgru", "gru", "lem", "node", "gnode"]
    (longer, *_) = plans("speech", 100, scale, "speech-tau", models, tau=[speech.STEP * bins for bins in LONGER])
    return [first, longer]


def characters(dropped: float, scale: str) -> list[SweepPlan]:
    """Returns the sweeps for classifying 20 letters with a fraction `dropped` of the bins missing (Appendix H.2)."""
    # A forget bias of 1 is for the LSTM, which else begins with a memory of two bins.
    own: dict[str, Any] = {"dropped": dropped} | ({"seed": [0, 1, 2], "forget_bias": 1.0} if scale == "paper" else {})
    # The table chooses one setting for all three data sets, so every setting is trained from every seed.
    return plans("characters", 32, scale, f"characters-{100 * dropped:.0f}", searched=False, **own)


def model_name(model: str) -> str:
    """Returns the name of a model as the paper writes it; LEM by forward Euler has a name of its own."""
    return "LEM (forward Euler)" if model == EULER else cell_label(model)


def score(
    trained: Trained, name: str, model: str, metric: str, ways: Sequence[str] = ("", CRITICAL)
) -> tuple[np.ndarray, dict[str, Any]]:
    """Returns the test scores of every seed with the setting of lowest validation loss, and that setting.

    **Arguments:**

    - `trained`: the sweeps.
    - `name`: the name of the sweep with Glorot initialisation.
    - `model`: the model, or `EULER`.
    - `metric`: "loss" or "accuracy".
    - `ways`: the initialisations among which the validation loss chooses: "" for Glorot, `CRITICAL` for critical.

    **Returns:** the scores and the setting; both are empty if no such network was trained.
    """
    if model == EULER:
        sweeps, model = trained.available(f"{name}-{EULER}"), "lem"
    else:
        sweeps = trained.available(*(f"{name}-{way}" if way else name for way in ways))
    best = selection.best_setting(_with(sweeps, model), model=model)
    if best is None:
        return np.zeros(0), {}
    values = [entry.get(metric, np.nan) for entry in best["scores"]]
    return np.array(values, float), best["setting"] | {"state": best["state"], "init": best["init"]}


def letters(trained: Trained, model: str, ways: Sequence[str] = ("", CRITICAL)) -> dict[float, np.ndarray]:
    """Returns the test accuracies on letters by fraction dropped, all with the setting that is best on the first data set.

    `ways` holds the initialisations among which the validation loss chooses, as in `score`.
    """
    wanted = "lem" if model == EULER else model
    ways = [f"-{EULER}"] if model == EULER else [f"-{way}" if way else "" for way in ways]
    firsts = [way for way in ways if _has(trained.sweeps.get(f"characters-30{way}"), wanted)]
    if not firsts:
        return {}
    scored = {way: selection.best_setting([trained[f"characters-30{way}"]], model=wanted) for way in firsts}
    way = min(scored, key=lambda way: np.mean(scored[way]["validation"]))  # type: ignore[index]
    best = scored[way]
    assert best is not None
    found = {}
    for dropped in DROPPED:
        sweep = trained.sweeps.get(f"characters-{100 * dropped:.0f}{way}")
        chosen = [] if sweep is None else selection.trained_members(sweep, **best["setting"] | {"model": wanted})
        if sweep is not None and chosen:
            found[dropped] = np.array([sweep.result(index)["test"]["accuracy"] for index in chosen])
    return found


def _has(sweep: Sweep | None, model: str) -> bool:
    return sweep is not None and any(own["model"] == model for own in sweep.members)


def _with(sweeps: Iterable[Sweep], model: str) -> list[Sweep]:
    return [sweep for sweep in sweeps if _has(sweep, model)]


def number(label: str, values: np.ndarray, published: tuple[float, float] | None) -> Number:
    """Returns a test score, averaged over seeds, beside the published mean and standard deviation."""
    theirs = None if published is None else f"{published[0]:.3f} ± {published[1]:.3f}"
    return selection.mean_over_seeds(label, values, theirs)


def best_is(
    found: Evidence, claim: str, names: Mapping[str, str], winner: str, is_error: bool, among: Iterable[str] = MODELS
) -> Claim:
    """Decides whether `winner` is better than each of the other networks; not decided if one of those in `among` is missing.

    **Arguments:** `found`; `claim`; `names` of numbers by network; `winner`; `is_error`, whether less is better; `among`.
    """

    def rule() -> Decided:
        groups = {name: found.group(names[name]) for name in map(model_name, among)}
        groups |= {name: found.group(number) for name, number in names.items() if number in found.numbers}
        better = verdicts.lower if is_error else verdicts.higher
        compared = [better(groups[winner], one) for name, one in groups.items() if name != winner]
        return verdicts.all_of(compared), means(groups)

    return found.decide(claim, rule)
