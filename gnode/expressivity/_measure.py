"""The practical measure of expressivity (section "Measuring Practical Expressivity of Networks").

The measure is the lowest error with which a network fits one trajectory of noise. It depends on the model, the state size N,
the hidden layers (L - 1 layers of H units) and the time constant. Every network is trained with each of 9 settings
(3 learning rates x 3 decays) from several seeds. The setting with the lowest mean over seeds of the minimum training error
is chosen, and its mean and standard deviation are the measure. With `search` the first seed alone chooses the setting, as in
the paper, and only the best setting is trained from the other seeds, which takes a third of the work.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from gnode import errors
from gnode.arguments import check_kind, checked, checked_class
from gnode.cells import CELLS
from gnode.sweeps import Sweep, sweep_or_resume
from gnode.wording import plural

LEARNING_RATES = (1e-4, 1e-3, 1e-2)
"""The learning rates of the paper's 9 settings."""

WEIGHT_DECAYS = (1e-3, 1e-2, 1e-1)
"""The weight decays of the paper's 9 settings."""

SEARCHED = ("lr", "weight_decay")
"""The settings that a search chooses with the first seed."""

AXES = ("model", "state", "hidden", "layers", "tau", "bins")
"""The properties of a network that identify a `Point`."""


@checked_class
@dataclasses.dataclass(frozen=True)
class Point:
    """The measure of one network: its properties, its best setting, and the errors of all seeds with that setting.

    **Arguments:**

    - `model`, `state`, `tau`, `bins`: the model, N, the time constant and the length of the trajectory.
    - `hidden`, `layers`: H and the number L - 1 of hidden layers of F; both are 0 for models without them.
    - `lr`, `weight_decay`: the best setting.
    - `errors`: the minimum training error of every seed; infinite if the run diverged in its first epoch.
    - `members`: the members of the sweep that the errors come from.

    >>> Point("gru", 10, 0, 0, 1.0, 100, 1e-3, 1e-2, (0.2, 0.4), (0, 1)).mean
    0.30000000000000004
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

    def __post_init__(self):
        for name, least in (("state", 1), ("hidden", 0), ("layers", 0), ("bins", 1)):
            object.__setattr__(self, name, errors.whole(name, getattr(self, name), at_least=least))
        for name in ("tau", "lr"):
            errors.positive(name, getattr(self, name))
        errors.not_negative("weight_decay", self.weight_decay)
        check_lists(errors=self.errors)

    def __repr__(self) -> str:
        layers = f", {self.layers} x {self.hidden} hidden" if self.layers else ""
        error = f"error {self.mean:.3g} ± {self.std:.2g}, {plural(len(self.errors), 'seed')}"
        return f"Point({self.model}, N = {self.state}{layers}, tau = {self.tau:g}, {self.bins} bins: {error})"

    @property
    def mean(self) -> float:
        """The mean error over seeds."""
        return float(np.mean(self.errors))

    @property
    def std(self) -> float:
        """The standard deviation over seeds; NaN if an error is infinite."""
        return float(np.std(self.errors)) if np.all(np.isfinite(self.errors)) else float("nan")


@checked_class
@dataclasses.dataclass(frozen=True)
class Curve:
    """The measure along one axis: the values of the axis, and the mean and standard deviation of the errors at each.

    `seeds` holds the errors of all seeds at each point; it is empty where they are not known.

    >>> Curve(np.array([10.0, 32.0]), np.array([0.3, 0.1]), np.array([0.02, 0.01]))
    Curve(2 points, x from 10 to 32, mean from 0.1 to 0.3)
    """

    x: Float[np.ndarray, " points"]
    mean: Float[np.ndarray, " points"]
    std: Float[np.ndarray, " points"]
    seeds: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self):
        if len(self.seeds) not in (0, len(self.x)):  # an array passes, too, and has no truth value
            raise errors.ArgumentError(f"seeds has {len(self.seeds)} points, but x has {len(self.x)}.")
        if not self.x.shape == self.mean.shape == self.std.shape:
            shapes = f"{self.x.shape}, {self.mean.shape} and {self.std.shape}"
            raise errors.ArgumentError(f"x, mean and std have shapes {shapes}, but must have the same.")

    def __repr__(self) -> str:
        if not len(self.x):
            return "Curve(0 points)"
        x, mean = (f"{values.min():.3g} to {values.max():.3g}" for values in (self.x, self.mean))
        return f"Curve({len(self.x)} points, x from {x}, mean from {mean})"


@checked_class
@dataclasses.dataclass(frozen=True)
class Expressivity:
    """The measure of every network of a grid.

    **Arguments:**

    - `points`: a `Point` for each network.
    - `seeds`, `epochs`: the number of seeds, and of epochs of each run.

    >>> points = [Point("gru", n, 0, 0, 1.0, 100, 1e-3, 1e-2, (1 / n,), (0,)) for n in (10, 32)]
    >>> found = Expressivity(tuple(points), seeds=1, epochs=2000)
    >>> found.curve("state", model="gru").mean.tolist()
    [0.1, 0.03125]
    """

    points: tuple[Point, ...]
    seeds: int
    epochs: int

    def __post_init__(self):
        for name in ("seeds", "epochs"):
            object.__setattr__(self, name, errors.whole(name, getattr(self, name), at_least=0))

    def __repr__(self) -> str:
        models = ", ".join(self.values("model"))
        counts = f"{plural(self.seeds, 'seed')}, {plural(self.epochs, 'epoch')}"
        return f"Expressivity({plural(len(self.points), 'network')} ({models}), {counts})"

    @classmethod
    @checked
    def of(cls, sweep: Sweep) -> "Expressivity":
        """Returns the measure of all trained networks of a sweep over the task `ou`.

        **Raises:** `ArgumentError` if the sweep has another task, or hidden layers of different widths.
        """
        if sweep.grid.task != "ou":
            raise errors.ArgumentError(f"the sweep's task is {sweep.grid.task!r}, but must be 'ou' for the measure.")
        found: dict[tuple, dict[tuple, list[tuple[float, int]]]] = {}
        for index in sorted(set(sweep.done()) & set(sweep.counting())):
            settings, result = sweep.members[index], sweep.result(index)
            widths = settings.get("widths") or ()
            if len(set(widths)) > 1:
                raise errors.ArgumentError(
                    f"widths is {widths!r}, but must have layers of equal width for the measure."
                )
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

    @checked
    def select(self, **values: Any) -> "Expressivity":
        """Returns the points with these values, e.g. `select(model="gnode", tau=1.0)`; a list means any of its values.

        Models without hidden layers match every value of `hidden` and `layers`.
        """
        for name in values:
            errors.one_of("axis", name, AXES)
            for value in values[name] if isinstance(values[name], list | tuple | set) else [values[name]]:
                check_kind(name, value, str if name == "model" else float)
        return dataclasses.replace(self, points=tuple(p for p in self.points if _matches(p, values)))

    @checked
    def values(self, axis: str) -> list[Any]:
        """Returns the values that an axis takes, in rising order; models are in the order of the sweep."""
        found = dict.fromkeys(getattr(point, errors.one_of("axis", axis, AXES)) for point in self.points)
        return list(found) if axis == "model" else sorted(found)

    @checked
    def curve(self, along: str, **fixed: Any) -> Curve:
        """Returns the mean and standard deviation of the error along an axis, with the other axes fixed.

        **Arguments:**

        - `along`: the axis.
        - `fixed`: the values of the other axes, as in `select`.

        **Raises:** `ArgumentError` if several networks have the same value of the axis.
        """
        errors.one_of("along", along, AXES)
        chosen = sorted(self.select(**fixed).points, key=lambda point: getattr(point, along))
        x = [getattr(point, along) for point in chosen]
        if len(set(x)) < len(x):
            free = [axis for axis in AXES if axis not in (*fixed, along)]
            raise errors.ArgumentError(f"several networks have the same {along}; fix more of {', '.join(free)}.")
        if along == "model":
            raise errors.ArgumentError(
                "along is 'model', which has no order; choose an axis of numbers, such as 'state'."
            )
        means, spreads = np.array([p.mean for p in chosen]), np.array([p.std for p in chosen])
        return Curve(np.array(x, float), means, spreads, tuple(p.errors for p in chosen))

    def rows(self) -> list[dict[str, Any]]:
        """Returns a row of plain numbers for each network, for a table or a JSON file."""
        names = [field.name for field in dataclasses.fields(Point) if field.name not in ("errors", "members")]
        return [
            {name: getattr(p, name) for name in names}
            | {"mean": p.mean, "std": p.std, "seeds": len(p.errors), "errors": list(p.errors)}
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
    """Returns the point with the setting that has the lowest mean over seeds; its errors are in the order of the seeds."""
    (lr, decay), runs = min(settings.items(), key=lambda item: (np.mean([error for error, _ in item[1]]), item[0]))
    return Point(
        **dict(zip(AXES, place)),
        lr=lr,
        weight_decay=decay,
        errors=tuple(error for error, _ in runs),
        members=tuple(member for _, member in runs),
    )


def check_settings(settings: Iterable[str], taken: Iterable[str]) -> None:
    """Raises an `ArgumentError` for a setting of the sweep that another argument decides."""
    for name in settings:
        if name in taken:
            raise errors.ArgumentError(f"{name} cannot be set here: the other arguments decide it.")


def check_lists(**lists: Sequence[Any]) -> None:
    """Raises an `ArgumentError` if a list of values to try is empty."""
    for name, values in lists.items():
        if not len(values):
            raise errors.ArgumentError(f"{name} is empty, but must hold at least one value.")


def hidden_layers(hidden: Iterable[int], layers: Iterable[int]) -> list[tuple[int, ...]]:
    """Returns the widths of every combination of `layers` hidden layers with `hidden` units.

    >>> hidden_layers([32, 100], [1, 2])
    [(32,), (32, 32), (100,), (100, 100)]
    """
    numbers = list(layers)
    return [(errors.whole("hidden", size),) * errors.whole("layers", count) for size in hidden for count in numbers]


@checked
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
    """Measures the error of every combination of networks and settings on the task `ou`, by one sweep.

    **Arguments:**

    - `models`: one or more names of models, as in `gnode.build`.
    - `out`: the sweep's folder; the same call resumes an interrupted sweep.
    - `state`, `hidden`, `layers`, `tau`: the values of N, H, the number of hidden layers and the time constant.
    - `lr`, `weight_decay`: the values among which the best setting is chosen for each network.
    - `seeds`, `bins`, `epochs`: the number of seeds, the length of the trajectory, and the epochs of each run.
    - `engine`, `progress`: as in `gnode.sweep`; `search`: whether the first seed alone chooses the setting.
    - `settings`: any other settings of `gnode.sweep`, such as `tau_ou`.

    **Returns:** an `Expressivity`.

    **Raises:** `ArgumentError` if a model is unknown; `StoreError` if `out` holds a sweep with other settings.

    >>> import tempfile
    >>> small = {"lr": [1e-2], "weight_decay": [1e-3], "seeds": 1, "bins": 2, "epochs": 1, "channels": 2}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     measure("gru", f"{folder}/grid", state=[2], progress=False, **small)
    Expressivity(1 network (gru), 1 seed, 1 epoch)
    """
    check_lists(state=state, hidden=hidden, layers=layers, tau=tau, lr=lr, weight_decay=weight_decay)
    names = [errors.one_of("model", name, CELLS) for name in ([models] if isinstance(models, str) else models)]
    check_settings(settings, ("task", "model", "widths", "seed"))
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
