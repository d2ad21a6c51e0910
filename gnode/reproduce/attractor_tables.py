"""Tables of the artefact `true-attractors`: what was measured of all networks on a task, a row for each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gnode.reproduce.attractor_measures import label_of

COLUMNS: dict[str, str] = {
    "mse": "validation MSE",
    "mse on new trials": "MSE on new trials",
    "drift": "drift in 1 s",
    "memory": "memory time, s",
    "size": "size of the slow set",
    "covered": "values covered",
    "gate": "median gate",
}
"""What is listed of every network, by the name of a stored measure. Pulses outside the range of training follow."""
PULSES = "mse on pulses"

Seeds = Sequence[Mapping[str, Any]]


def tables(details: Mapping[str, Any]) -> dict[str, list[list[str]]]:
    """Returns a table for every task: a head, and a row for every network with the medians over its seeds."""
    return {
        f"{label_of(task)}: medians over seeds": _table({name: own["seeds"] for name, own in networks.items()})
        for task, networks in details["measured"].items()
    }


def _table(networks: Mapping[str, Seeds]) -> list[list[str]]:
    stored = dict.fromkeys(key for seeds in networks.values() for one in seeds for key in one)
    columns = {key: name for key, name in COLUMNS.items() if key in stored}
    columns |= {key: key.replace("mse on", "MSE on") for key in stored if key.startswith(PULSES)}
    rows = [[_name(name, seeds), *(_median(seeds, key) for key in columns)] for name, seeds in networks.items()]
    return [["network", *columns.values()], *rows]


def _name(name: str, seeds: Seeds) -> str:
    diverged = sum(one["status"] == "diverged" for one in seeds)
    return f"{name} ({diverged} of {len(seeds)} diverged)" if diverged else name


def _median(seeds: Seeds, key: str) -> str:
    """Returns the median over seeds, of which those whose outputs run away have no number."""
    found = [one[key] for one in seeds if key in one]
    if not found:
        return ""
    middle = float(np.median(np.nan_to_num(found, nan=np.inf, posinf=np.inf)))
    return f"{middle:.3g}" if np.isfinite(middle) else "diverges"
