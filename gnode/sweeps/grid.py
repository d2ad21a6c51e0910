"""A grid of runs: its axes over settings, its members, and the groups of members that share a compilation."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gnode import errors, own_code
from gnode.arguments import checked, checked_class
from gnode.cells.registry import name_of_factory
from gnode.sweeps._search import Search
from gnode.train.settings import Settings, with_present_names
from gnode.train.spec import DEFAULTS, OPTIONS, RunSpec, declare_own, filled_in, read
from gnode.wording import plural

if TYPE_CHECKING:
    from gnode.tasks import Task

_LENGTHS = {"epochs": "spans", "spans": "epochs"}
"""Each of the two settings of length, with the other, which follows from it."""

LARGEST_GRID = 1_000_000
"""More members than that are a mistake: a value too many in an axis."""


def _values(given: Any) -> tuple[Any, ...]:
    """Returns the values of an axis: a list, a range or an array; anything else is one value."""
    is_axis = isinstance(given, list | range) or (isinstance(given, np.ndarray) and given.ndim > 0)
    many = list(given[: LARGEST_GRID + 1]) if is_axis else [given]  # of a longer range as many as are refused
    return tuple(map(_plain, many))


def _plain(value: Any) -> Any:
    """Returns a value that a table can hold: a number of an array library as one of Python's, a function or class by a name
    under which it is found again."""
    if _is_object(value):
        return name_of_factory(value)
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value


def _is_object(value: Any) -> bool:
    """Whether a value is a function, a class, or an optimiser of optax."""
    return callable(value) or (callable(getattr(value, "init", None)) and callable(getattr(value, "update", None)))


def _check_distinct(settings: Mapping[str, Any]) -> None:
    """Raises an `ArgumentError` if two objects of a grid have the same name, under which one would hide the other."""
    seen: dict[str, Any] = {}
    for value in settings.values():
        for one in value if isinstance(value, list | tuple) else [value]:
            if _is_object(one) and seen.setdefault(name := name_of_factory(one), one) is not one:
                raise errors.ArgumentError(
                    f"two different objects are both called {own_code.own_name(name)}; give one of them another name."
                )


@checked_class
@dataclasses.dataclass(frozen=True)
class Grid:
    """A task, and axes: settings by name, each with all its values. Make one with `Grid.over`.

    - `task`: a name or a file, as in `gnode.tasks.make`.
    - `axes`: the values of every setting.
    - `search`: settings that are chosen with the first seed (see `gnode.sweep`).
    - `tried`: settings, such as fewer epochs, of the runs of a search. There is then one more member for each combination
      with the first seed, after all others, which serves only to choose.
    - `own_models`: the settings of each model that is a user's own code.
    - `is_stored`: whether the task is one of arrays in memory, which has no name to be made from.

    >>> grid = Grid.over("flipflop-variable", model=["rnn", "gnode"], lr=[1e-3, 1e-2], widths=(50, 50))
    >>> len(grid.members), len(grid.groups)
    (4, 2)
    """

    task: str
    axes: dict[str, tuple[Any, ...]]
    search: tuple[str, ...] = ()
    tried: dict[str, Any] = dataclasses.field(default_factory=dict)
    own_models: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    is_stored: bool = False

    def __repr__(self) -> str:
        return f"Grid({self.task!r}, {plural(len(self.members), 'member')} in {plural(len(self.groups), 'group')})"

    @classmethod
    @checked
    def over(
        cls,
        task: "str | Task | Callable[..., Any]",
        search: Sequence[str] = (),
        search_with: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> "Grid":
        """Makes a grid: a list is an axis, anything else (also a tuple) is one value for all members.

        A model, a loss or a metric may be a class or a function; a task may be a `Task` or a function that draws a trial.

        **Raises:** `ArgumentError` for an unknown setting, an empty axis, or a search that cannot be made.
        """
        _check_distinct(settings)
        axes = {name: _values(value) for name, value in with_present_names(settings).items()}
        tried = {name: _plain(value) for name, value in with_present_names(dict(search_with or {})).items()}
        name, is_stored = task_name(task)
        own_models = declare_own("" if is_stored else name, axes.get("model", ()))
        if is_stored and (options := [one for one in {**axes, **tried} if OPTIONS[one].part == "task"]):
            raise errors.ArgumentError(f"{options[0]} is an option of tasks that are made, but {name} is made already.")
        grid = cls(name, axes, tuple(search), tried, own_models, is_stored)
        grid.chooser()  # says what is wrong with the search
        return grid

    def __post_init__(self):
        object.__setattr__(self, "search", tuple(self.search))
        self.check_values()

    def check_values(self) -> None:
        """Checks the name and the values of every setting.

        **Raises:** `ArgumentError` for an unknown setting, an empty axis, a bad value, or too many combinations.
        """
        if (number := math.prod(len(values) for values in self.axes.values())) > LARGEST_GRID:
            raise errors.ArgumentError(
                f"the axes make {number} combinations, but a sweep has at most {LARGEST_GRID}; take fewer values."
            )
        for name, values in [*self.axes.items(), *((name, (value,)) for name, value in self.tried.items())]:
            option = OPTIONS[errors.one_of("setting", name, OPTIONS)]
            if not values:
                raise errors.ArgumentError(f"{name} is an empty list, but an axis needs at least one value.")
            for value in values:
                option.accept(name, value)

    @cached_property
    def members(self) -> list[dict[str, Any]]:
        """The settings of every combination, with defaults filled in and without settings that a model lacks, then those of
        the runs of a search.

        Equal combinations (an RNN with two sets of widths) are one member.
        """
        return self.counted + self.tries

    @cached_property
    def counted(self) -> list[dict[str, Any]]:
        """The members that results can be made of: all but those that serve only to choose."""
        return self._combinations(self.axes)

    @cached_property
    def tries(self) -> list[dict[str, Any]]:
        """The members that serve only to choose; none without `tried`."""
        if not self.tried:
            return []
        replaced = {_LENGTHS[name] for name in self.tried if name in _LENGTHS}
        axes = {name: values for name, values in self.axes.items() if name not in replaced}
        axes["seed"] = axes.get("seed", (DEFAULTS["seed"],))[:1]
        return self._combinations(axes | {name: (value,) for name, value in self.tried.items()})

    def _combinations(self, axes: dict[str, tuple[Any, ...]]) -> list[dict[str, Any]]:
        seen: dict[str, dict[str, Any]] = {}
        for values in itertools.product(*axes.values()):
            member = filled_in(
                self.task,
                dict(zip(axes, values)),
                drop_unused=True,
                own_models=self.own_models,
                is_stored=self.is_stored,
            )
            seen.setdefault(repr(sorted(member.items())), member)
        return list(seen.values())

    def chooser(self) -> Search | None:
        """Returns the search that decides which members are trained; None without one.

        **Raises:** `ArgumentError` for a search that cannot be made.
        """
        if not self.tried:
            return Search(self.counted, self.search) if self.search else None
        if not self.search:
            raise errors.ArgumentError("search_with is for the tries of a search; name what is searched for, too.")
        for name in self.tried:
            errors.one_of("search_with", name, OPTIONS)
            for own in (name, _LENGTHS.get(name, name)):
                if own in (*self.search, "seed") or len(self.axes.get(own, ())) > 1:
                    raise errors.ArgumentError(
                        f"search_with sets {name}, but the sweep takes several values of {own}; name settings that have one "
                        f"value for all members."
                    )
        counted, tries = self.counted, self.tries
        same = next((own for own in tries if own in counted), None)
        if same is not None:
            raise errors.ArgumentError(
                f"search_with changes nothing for model {same['model']}: its tries would be what they choose for; leave it "
                f"out, or make the tries shorter."
            )
        return Search(counted + tries, self.search, len(counted), _differing(counted, tries))

    @property
    def groups(self) -> list["Group"]:
        """The groups of members that share a compiled program, those with the most updates first."""
        found: dict[str, list[int]] = {}
        members = self.members
        for index, member in enumerate(members):
            found.setdefault(shape_of(member), []).append(index)
        groups = [Group(tuple(indices), members[indices[0]]) for indices in found.values()]
        return sorted(groups, key=lambda group: group.settings.get("batch_size", Settings.batch_size))

    def own_names(self) -> list[str]:
        """Returns the names of all code of a user's own that the grid uses."""
        named: list[Any] = [] if self.is_stored else [self.task]
        for name in ("model", "loss", "optimiser", "metrics"):
            for value in (*self.axes.get(name, ()), self.tried.get(name)):
                named += value if isinstance(value, tuple) else [value]
        return [name for name in dict.fromkeys(named) if own_code.is_own(name)]

    def varying(self) -> list[str]:
        """Returns the settings that differ between members that count."""
        members = self.counted
        names = [name for name in OPTIONS if any(name in member for member in members)]
        return [name for name in names if len({repr(member.get(name)) for member in members}) > 1]


@dataclasses.dataclass(frozen=True)
class Group:
    """Members (by index) whose programs differ only in values; `settings` are those of the first one."""

    members: tuple[int, ...]
    settings: dict[str, Any]

    def chunks(self, size: int) -> Iterator[tuple[int, ...]]:
        """Yields the members in pieces of at most `size`."""
        for start in range(0, len(self.members), size):
            yield self.members[start : start + size]


def _differing(some: Sequence[dict[str, Any]], others: Sequence[dict[str, Any]]) -> set[str]:
    """Returns the settings whose values differ between two sets of members."""

    def values(members: Sequence[dict[str, Any]], name: str) -> set[str]:
        return {repr(own.get(name)) for own in members}

    names = {name for own in (*some, *others) for name in own}
    return {name for name in names if values(some, name) != values(others, name)}


def shape_of(member: dict[str, Any]) -> str:
    """Returns what decides a compilation: every setting that compiles (`Option.compiles`)."""
    shapes = {name: OPTIONS[name].shape(value) for name, value in member.items()}
    return repr(sorted((name, shape) for name, shape in shapes.items() if shape is not None))


def task_key(member: dict[str, Any]) -> str:
    """Returns what decides the data of a member."""
    return repr(sorted((name, value) for name, value in member.items() if OPTIONS[name].part == "task"))


def task_name(task: "str | Task | Callable[..., Any]") -> tuple[str, bool]:
    """Returns the name of a task, and whether it is one of arrays in memory, which no name makes again."""
    if isinstance(task, str):
        return task, False
    from gnode.tasks import Task

    if isinstance(task, Task):
        return task.name, True
    return own_code.name_of_object(task), False


class TaskCache:
    """Makes each task of a grid once.

    - `task`: its name.
    - `given`: the task itself, if it is one of arrays in memory.
    """

    def __init__(self, task: str, given: "Task | None" = None):
        self.task, self.given = task, given
        self._made: dict[str, "Task"] = {}

    def __call__(self, member: dict[str, Any]) -> "Task":
        if self.given is not None:
            return self.given
        key = task_key(member)
        if key not in self._made:
            self._made[key] = RunSpec(self.task, member).make_task()
        return self._made[key]


def read_axes(given: dict[str, str]) -> dict[str, Any]:
    """Reads axes from the texts of a command line: values of one setting are separated by commas.

    >>> read_axes({"lr": "1e-3,1e-2", "widths": "316x316"})
    {'lr': [0.001, 0.01], 'widths': [(316, 316)]}
    """
    return {name: [read(name, part) for part in _parts(text)] for name, text in given.items()}


def _parts(text: str) -> Sequence[str]:
    return [part for part in text.split(",") if part] or [text]
