"""Which member of a sweep counts: the paper's rules for choosing among settings, seed by seed."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from gnode.reproduce.artefact import Number
from gnode.sweeps import Sweep


def members(sweep: Sweep, **where: Any) -> list[int]:
    """The trained members with these settings, of those that count."""
    counting = sorted(set(sweep.done()) & set(sweep.counting()))
    return [
        index for index in counting if all(sweep.members[index].get(name) == value for name, value in where.items())
    ]


def best_by_seed(sweep: Sweep, **where: Any) -> dict[int, int]:
    """For every seed the member with the least validation loss among those with these settings: the paper's choice among
    its 27, made anew with each seed.
    """
    best: dict[int, tuple[float, int]] = {}
    for index in members(sweep, **where):
        seed, loss = sweep.members[index]["seed"], sweep.result(index)["best_loss"]
        best[seed] = min(best.get(seed, (np.inf, index)), (loss, index))
    return {seed: index for seed, (_, index) in sorted(best.items())}


def minima(sweep: Sweep, **where: Any) -> np.ndarray:
    """For every seed the least validation loss among the members with these settings."""
    return np.array([sweep.result(index)["best_loss"] for index in best_by_seed(sweep, **where).values()])


def best_of_all(sweep: Sweep, **where: Any) -> int:
    """The member with the least validation loss of all seeds."""
    chosen = best_by_seed(sweep, **where).values()
    return min(chosen, key=lambda index: (sweep.result(index)["best_loss"], index))


def over_seeds(name: str, values: Iterable[float], published: str | None = None) -> Number:
    """Mean and standard deviation of one number over seeds."""
    numbers = np.array(list(values), float)
    if not numbers.size:
        return Number(name, None, published)
    spread = float(numbers.std()) if np.all(np.isfinite(numbers)) else float("nan")
    return Number(name, float(numbers.mean()), published, spread, len(numbers))


def best_setting(sweeps: Iterable[Sweep], **where: Any) -> dict[str, Any] | None:
    """The setting with the lowest mean over seeds of the validation loss, with the test scores of its seeds.

    Test trials never choose. `setting` is what distinguishes it in its sweep, but for the seed; `state` is its N and `init`
    its initialisation. None if nothing was trained.
    """
    found: dict[str, dict[str, Any]] = {}
    for sweep in sweeps:
        varying = [name for name in sweep.grid.varying() if name != "seed"]
        for index in members(sweep, **where):
            own, result = sweep.members[index], sweep.result(index)
            setting = {name: own.get(name) for name in varying}
            entry = found.setdefault(
                f"{sweep.folder}{setting}",
                {"setting": setting, "state": own["state"], "init": own.get("init"), "validation": [], "scores": []},
            )
            entry["validation"].append(result["best_loss"])
            entry["scores"].append(result.get("test") or {})
    if not found:
        return None
    return min(found.values(), key=lambda entry: (float(np.mean(entry["validation"])), str(entry["setting"])))
