"""Chooses among the members of a sweep by the paper's rules: by validation loss, seed by seed or by the mean over seeds."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from gnode.reproduce.artefact import Number
from gnode.sweeps import Sweep


def trained_members(sweep: Sweep, **where: Any) -> list[int]:
    """Returns the trained members with these settings, without the trial runs of a search."""
    counting = sorted(set(sweep.done()) & set(sweep.counting()))
    return [
        index for index in counting if all(sweep.members[index].get(name) == value for name, value in where.items())
    ]


def best_by_seed(sweep: Sweep, **where: Any) -> dict[int, int]:
    """Returns, for every seed, the member with the lowest validation loss among those with these settings.

    The paper chooses among its 27 settings in this way; the choice is repeated for each seed.
    """
    best: dict[int, tuple[float, int]] = {}
    for index in trained_members(sweep, **where):
        seed, loss = sweep.members[index]["seed"], sweep.result(index)["best_loss"]
        best[seed] = min(best.get(seed, (np.inf, index)), (loss, index))
    return {seed: index for seed, (_, index) in sorted(best.items())}


def lowest_losses(sweep: Sweep, **where: Any) -> np.ndarray:
    """Returns, for every seed, the lowest validation loss among the members with these settings."""
    return np.array([sweep.result(index)["best_loss"] for index in best_by_seed(sweep, **where).values()])


def best_member(sweep: Sweep, **where: Any) -> int:
    """Returns the member with the lowest validation loss over all seeds."""
    chosen = best_by_seed(sweep, **where).values()
    return min(chosen, key=lambda index: (sweep.result(index)["best_loss"], index))


def mean_over_seeds(name: str, values: Iterable[float], published: str | None = None) -> Number:
    """Returns the mean and the standard deviation of a quantity over seeds as a `Number`."""
    numbers = np.array(list(values), float)
    if not numbers.size:
        return Number(name, None, published)
    spread = float(numbers.std()) if np.all(np.isfinite(numbers)) else float("nan")
    return Number(name, float(numbers.mean()), published, spread, len(numbers))


def best_setting(sweeps: Iterable[Sweep], **where: Any) -> dict[str, Any] | None:
    """Returns the setting with the lowest mean validation loss over seeds, with the test scores of its seeds.

    Test scores play no part in the choice.

    **Returns:** a dictionary, or None if no member was trained. Its `setting` holds the settings that vary in the sweep,
    without the seed; `state` is N and `init` the initialisation; `validation` and `scores` hold the validation losses and
    the test scores of the seeds.
    """
    found: dict[str, dict[str, Any]] = {}
    for sweep in sweeps:
        varying = [name for name in sweep.grid.varying() if name != "seed"]
        for index in trained_members(sweep, **where):
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
