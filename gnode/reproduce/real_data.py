"""What the real-data tables share: their sweeps, and the test scores of the best settings.

At paper scale each network tries 9 settings (3 learning rates x 3 decays) in shorter runs (`SHORTER`); the best of them
is then trained from 5 seeds for the paper's epochs. Only for letters, whose setting is chosen on one data set and kept,
every setting has 3 seeds.
The paper also searched initialisations and H; here the initialisation is Glorot normal (final layer linear) or critical
(final layer tanh), in sweeps of their own, and H = 316 (speech: 1000). The reduced scale fixes the decay and shortens the
epochs.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gnode.cells import cell_label
from gnode.init import SMALL_BIAS_STD
from gnode.reproduce import selection
from gnode.reproduce.artefact import Claim, Number, SweepPlan, Trained
from gnode.sweeps import Sweep
from gnode.tasks.datasets import speech
from gnode.train import growing

MODELS = ["mgru", "gru", "lstm", "lem", "node", "gnode"]
FEW = ["lem", "node", "gnode"]
"""At smoke scale."""
SIZES = (32, 100, 316)
DROPPED = (0.3, 0.5, 0.7)
"""Shares of bins that are missing in the three data sets of letters."""
CRITICAL, EULER = "critical", "lem-euler"
"""Endings of the names of two extra sweeps: nODE and gnODE with critical initialisation; LEM by forward Euler."""

SEARCH: dict[str, dict[str, Any]] = {
    "smoke": {"lr": 1e-2, "weight_decay": 1e-3, "seed": [0], "epochs": 1, "batch_size": 1024},
    "reduced": {"lr": [1e-3, 1e-2], "weight_decay": 1e-2, "seed": [0, 1, 2]},
    "paper": {"lr": [1e-4, 1e-3, 1e-2], "weight_decay": [1e-3, 1e-2, 1e-1], "seed": [0, 1, 2, 3, 4]},
}
REDUCED_LR = {"speech": [1e-4, 1e-3, 1e-2]}
"""Where two learning rates do not do: on speech nODE and gnODE differ in which of the paper's three suits them."""
SEARCHED = {"smoke": (), "reduced": (), "paper": ("lr", "weight_decay")}
LONGER = (10, 100)
"""Time constants in bins that the speech networks have beside 1."""
BIAS = {"bias_std": SMALL_BIAS_STD}
"""Appendix H: biases start with a variance of 1e-6."""

SHORTER: dict[str, dict[str, Any]] = {
    "walker2d": {"schedule": growing(84, 28, 40, last=60)},
    "characters": {"schedule": growing(182, 91, 20, last=40)},
    "speech": {"epochs": 40},
}
"""In place of 700, 1300 and 300 epochs: at reduced scale, and in a search for the runs that try the settings."""


def plans(
    task: str, size: int, scale: str, name: str, models: list[str] | None = None, searched: bool = True, **own: Any
) -> list[SweepPlan]:
    """The sweeps of a task at one N: all networks, LEM by forward Euler, and nODE and gnODE with critical initialisation.

    `searched`: whether a setting is to be chosen for each network by itself.
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
    """Predicting the walker's next state (Appendix H.3)."""
    models = ["lem", "gnode"] if scale == "smoke" else None  # table1 in two minutes, with its other half
    return plans("walker2d", size, scale, f"walker2d-n{size}", models)


def speech_commands(size: int, scale: str) -> list[SweepPlan]:
    """Telling ten words at tau = 0.006 s (Appendix H.4), version 1 of the data."""
    return plans("speech", size, scale, f"speech-n{size}")


def speech_by_tau(scale: str) -> list[SweepPlan]:
    """The same at longer time constants, 10 and 100 bins, beside 1 bin."""
    (first, *_) = speech_commands(100, scale)
    models = ["mgru", "gru", "lem", "node", "gnode"]
    (longer, *_) = plans("speech", 100, scale, "speech-tau", models, tau=[speech.STEP * bins for bins in LONGER])
    return [first, longer]


def characters(dropped: float, scale: str) -> list[SweepPlan]:
    """Telling 20 letters with that share of bins missing (Appendix H.2)."""
    own: dict[str, Any] = {"dropped": dropped} | ({"seed": [0, 1, 2]} if scale == "paper" else {})
    # The table itself chooses a setting, on one data set for all three: every setting has every seed.
    return plans("characters", 32, scale, f"characters-{100 * dropped:.0f}", searched=False, **own)


def model_name(model: str) -> str:
    """As the paper writes it; LEM by forward Euler has a name of its own."""
    return "LEM (forward Euler)" if model == EULER else cell_label(model)


def score(
    trained: Trained, name: str, model: str, metric: str, ways: Sequence[str] = ("", CRITICAL)
) -> tuple[np.ndarray, dict[str, Any]]:
    """Test scores of every seed with the setting that has the lowest validation loss, and that setting.

    `ways`: which of the sweeps `name` and `name`-critical may provide it; empty if none was trained.
    """
    if model == EULER:
        sweeps, model = trained.some(f"{name}-{EULER}"), "lem"
    else:
        sweeps = trained.some(*(f"{name}-{way}" if way else name for way in ways))
    best = selection.best_setting(_with(sweeps, model), model=model)
    if best is None:
        return np.zeros(0), {}
    values = [entry.get(metric, np.nan) for entry in best["scores"]]
    return np.array(values, float), best["setting"] | {"state": best["state"], "init": best["init"]}


def letters(trained: Trained, model: str, ways: Sequence[str] = ("", CRITICAL)) -> dict[float, np.ndarray]:
    """Test accuracies on letters for each share dropped, all with the setting that is best on the first.

    `ways`: which of the sweeps with and without critical initialisation may provide it.
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
        chosen = [] if sweep is None else selection.members(sweep, **best["setting"] | {"model": wanted})
        if sweep is not None and chosen:
            found[dropped] = np.array([sweep.result(index)["test"]["accuracy"] for index in chosen])
    return found


def _has(sweep: Sweep | None, model: str) -> bool:
    return sweep is not None and any(own["model"] == model for own in sweep.members)


def _with(sweeps: Iterable[Sweep], model: str) -> list[Sweep]:
    return [sweep for sweep in sweeps if _has(sweep, model)]


def number(label: str, values: np.ndarray, published: tuple[float, float] | None) -> Number:
    """A test score beside the published mean and deviation."""
    theirs = None if published is None else f"{published[0]:.3f} ± {published[1]:.3f}"
    return selection.over_seeds(label, values, theirs)


def best_is(
    claim: str, means: dict[str, float], winner: str, lowest: bool, among: Iterable[str] = tuple(MODELS)
) -> Claim:
    """Whether one network has the best mean of all; not decided if some of the models `among` which it is are missing."""
    known = {name: value for name, value in means.items() if np.isfinite(value)}
    if not {model_name(model) for model in among} <= known.keys():
        return Claim(claim, None, dict(known))
    best = (min if lowest else max)(known, key=lambda name: known[name])
    return Claim(claim, best == winner, dict(known))
