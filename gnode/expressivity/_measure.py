"""The practical measure (section "Measuring Practical Expressivity of Networks"): the least error with which a network fits
one trajectory of noise, by its model, its state size N, its hidden layers (L - 1 of H units) and its time constant.

Every network is trained with each of 9 settings (3 learning rates x 3 decays) from several seeds. Of the 9 the one with the
lowest mean over seeds of the minimum training error counts, and its mean and standard deviation are the measure. With
`search` the first seed alone chooses, as in the paper, and only the best setting is repeated with the others: a third of the
work.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from gnode import errors
from gnode.cells import CELLS
from gnode.sweeps import Sweep, sweep_or_resume

LEARNING_RATES = (1e-4, 1e-3, 1e-2)
WEIGHT_DECAYS = (1e-3, 1e-2, 1e-1)
"""The paper's 9 settings."""

SEARCHED = ("lr", "weight_decay")

AXES = ("model", "state", "hidden", "layers", "tau", "bins")
"""What a point of the measure is told by."""


@dataclasses.dataclass(frozen=True)
class Point:
    """The measure of one network: what it is, the errors of its seeds with the best setting, and that setting.

    `hidden` is H and `layers` the number of hidden layers of F (L - 1); 0 for models without them. `errors` holds the
    minimum training error of every seed, infinite where the run diverged before it had any. `members` are the runs.
    """

    model: str
    state: int
    hidden: int
    layers: int
    tau: float
    bins: int
    lr: float
    weight_decay: float
    errors: tuple[float, ...]
    members: tuple[int, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.errors))

    @property
    def std(self) -> float:
        """Over seeds; NaN if one of them diverged at once."""
        return float(np.std(self.errors)) if np.all(np.isfinite(self.errors)) else float("nan")


@dataclasses.dataclass(frozen=True)
class Curve:
    """The measure along one axis."""

    x: Float[np.ndarray, " points"]
    mean: Float[np.ndarray, " points"]
    std: Float[np.ndarray, " points"]


@dataclasses.dataclass(frozen=True)
class Expressivity:
    """The measure at every point of a grid of networks."""

    points: tuple[Point, ...]
    seeds: int
    epochs: int

    @classmethod
    def of(cls, sweep: Sweep) -> "Expressivity":
        """The measure from a sweep over the task `ou`."""
        if sweep.grid.task != "ou":
            raise errors.ArgumentError(f"the sweep's task is {sweep.grid.task!r}, but the measure is of the task 'ou'.")
        found: dict[tuple, dict[tuple, list[tuple[float, int]]]] = {}
        for index in sorted(set(sweep.done()) & set(sweep.counting())):
            settings, result = sweep.members[index], sweep.result(index)
            widths = settings.get("widths") or ()
            if len(set(widths)) > 1:
                raise errors.ArgumentError(f"widths is {widths!r}, but the measure is of hidden layers of equal size.")
            place = (settings["model"], settings["state"], max(widths, default=0), len(widths))
            place += (float(settings["tau"]), settings.get("bins", 100))
            setting = (settings["lr"], settings["weight_decay"])
            found.setdefault(place, {}).setdefault(setting, []).append((result["best_loss"], index))
        members = sweep.members
        return cls(
            tuple(_best(place, settings) for place, settings in found.items()),
            len({member["seed"] for member in members}),
            members[0]["epochs"],
        )

    def select(self, **values: Any) -> "Expressivity":
        """Only the points with these values, e.g. `select(model="gnode", tau=1.0)`; a list means any of them.

        The values of `hidden` and `layers` do not concern models without hidden layers.
        """
        for name in values:
            errors.one_of("axis", name, AXES)
        return dataclasses.replace(self, points=tuple(p for p in self.points if _matches(p, values)))

    def values(self, axis: str) -> list[Any]:
        """The values that an axis takes, in rising order (models in the order of the sweep)."""
        found = dict.fromkeys(getattr(point, errors.one_of("axis", axis, AXES)) for point in self.points)
        return list(found) if axis == "model" else sorted(found)

    def curve(self, along: str, **fixed: Any) -> Curve:
        """Mean and deviation of the error along an axis, everything else held at the values in `fixed`.

        Where more than one network remains at a value it is an error: say which one is meant.
        """
        chosen = sorted(self.select(**fixed).points, key=lambda point: getattr(point, along))
        x = [getattr(point, along) for point in chosen]
        if len(set(x)) < len(x):
            raise errors.ArgumentError(
                f"several networks have the same {along}; fix more of {', '.join(set(AXES) - set(fixed) - {along})}."
            )
        return Curve(np.array(x, float), np.array([p.mean for p in chosen]), np.array([p.std for p in chosen]))

    def rows(self) -> list[dict[str, Any]]:
        """A row per network: plain numbers for a table or a JSON file."""
        names = [field.name for field in dataclasses.fields(Point) if field.name not in ("errors", "members")]
        return [
            {name: getattr(p, name) for name in names} | {"mean": p.mean, "std": p.std, "seeds": len(p.errors)}
            for p in self.points
        ]


def _matches(point: Point, values: dict[str, Any]) -> bool:
    for name, wanted in values.items():
        if name in ("hidden", "layers") and not point.layers:
            continue
        if getattr(point, name) not in (wanted if isinstance(wanted, list | tuple | set) else [wanted]):
            return False
    return True


def _best(place: tuple, settings: dict[tuple, list[tuple[float, int]]]) -> Point:
    """Of the settings the one with the lowest mean over seeds; a point's errors are in the order of the seeds."""
    (lr, decay), runs = min(settings.items(), key=lambda item: (np.mean([error for error, _ in item[1]]), item[0]))
    return Point(
        **dict(zip(AXES, place)),
        lr=lr,
        weight_decay=decay,
        errors=tuple(error for error, _ in runs),
        members=tuple(member for _, member in runs),
    )


def hidden_layers(hidden: Iterable[int], layers: Iterable[int]) -> list[tuple[int, ...]]:
    """The widths of every combination: `layers` hidden layers of `hidden` units.

    >>> hidden_layers([32, 100], [1, 2])
    [(32,), (32, 32), (100,), (100, 100)]
    """
    numbers = list(layers)
    return [(errors.whole("hidden", size),) * errors.whole("layers", count) for size in hidden for count in numbers]


def measure(
    models: str | Sequence[str],
    out: str | Path,
    *,
    state: Sequence[int] = (100,),
    hidden: Sequence[int] = (1000,),
    layers: Sequence[int] = (1,),
    tau: Sequence[float] = (1.0,),
    lr: Sequence[float] = LEARNING_RATES,
    weight_decay: Sequence[float] = WEIGHT_DECAYS,
    seeds: int = 5,
    bins: int = 100,
    epochs: int = 2000,
    engine: str = "auto",
    progress: bool | None = None,
    search: bool = False,
    **settings: Any,
) -> Expressivity:
    """Trains every combination on the task `ou` (one program per shape on an accelerator) and measures the errors.

    **Arguments:** `models`, names as in `gnode.build`; `out`, the sweep's folder: the same call goes on with it after a
    kill; `state` N, `hidden` H, `layers` (hidden ones), `tau`, `lr`, `weight_decay`: the values of each axis; `seeds`, how
    many; `bins` and `epochs`; `search`, let the first seed choose the setting; `settings`, any others of
    `gnode.train.spec.OPTIONS`, such as `tau_ou`.

    **Returns:** an `Expressivity`.
    """
    names = [models] if isinstance(models, str) else list(models)
    for name in names:
        errors.one_of("model", name, CELLS)
    sweep = sweep_or_resume(
        "ou",
        out,
        engine=engine,
        progress=progress,
        search=SEARCHED if search else (),
        model=names,
        state=list(state),
        widths=hidden_layers(hidden, layers),
        tau=list(tau),
        lr=list(lr),
        weight_decay=list(weight_decay),
        seed=list(range(errors.whole("seeds", seeds))),
        bins=bins,
        epochs=epochs,
        **settings,
    )
    return Expressivity.of(sweep)
