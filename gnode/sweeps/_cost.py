"""What a sweep costs, found without training anything."""

import dataclasses
from collections.abc import Callable
from typing import Any

from gnode import errors
from gnode.arguments import checked
from gnode.sweeps.engines.memory import member_bytes
from gnode.sweeps.engines.registry import make_engine
from gnode.sweeps.grid import Grid, TaskCache
from gnode.tasks import Task
from gnode.train.settings import Settings
from gnode.train.spec import OPTIONS, RunSpec
from gnode.wording import plural


@dataclasses.dataclass(frozen=True)
class SweepCost:
    """The cost of a sweep: its members, the groups that share a compilation, compilations, updates, and the memory that
    training takes at a time with an engine on this machine.

    No example: `sweep_cost` returns it.
    """

    members: int
    groups: int
    compilations: int
    updates: int
    memory_bytes: int
    engine: str

    def summary(self) -> str:
        """Returns the cost as a sentence."""
        return (
            f"{plural(self.members, 'member')} in {plural(self.groups, 'group')}, "
            f"{plural(self.compilations, 'compilation')}, {self.updates:,} update{'' if self.updates == 1 else 's'}; "
            f"about {self.memory_bytes / 2**20:.1f} MiB of memory at a time with engine {self.engine}."
        )


def check_grid(grid: Grid, tasks: TaskCache) -> list[int]:
    """Builds one member of every group on paper, so that a wrong setting is found before anything is trained.

    **Returns:** for each group, how many bytes a member in training needs.
    """
    for settings in grid.members:
        RunSpec(grid.task, settings).fit_settings()
        for name, value in settings.items():
            OPTIONS[name].accept(name, value)
        if settings.get("cores", 1) != 1:
            raise errors.ArgumentError(
                f"cores is {settings['cores']}, but a sweep trains a member on each core by itself; leave cores out."
            )
    return [member_bytes(group, tasks(group.settings)) for group in grid.groups]


@checked
def sweep_cost(grid: Grid, engine: str = "auto", workers: int | None = None) -> SweepCost:
    """Returns what training a grid will cost on this machine.

    **Arguments:** `grid`; `engine` and `workers`, as in `gnode.sweep`.

    >>> sweep_cost(Grid.over("flipflop-square", lr=[1e-3, 1e-2], widths=(8,), trials=10, bins=5)).compilations
    1
    """
    trainer = make_engine(engine, workers=workers)
    tasks = TaskCache(grid.task)
    members, search = grid.members, grid.chooser()
    every = range(len(members))

    def sum_over(cost: Callable[[int], int]) -> int:
        return sum(map(cost, every)) if search is None else search.cost(every, cost)

    at_a_time, compilations = [], 0
    for group, bytes_of_one in zip(grid.groups, check_grid(grid, tasks)):
        rounds = [len(group.members)] if search is None else search.rounds(group.members)
        together = trainer.members_at_once(group, tasks(group.settings), max(rounds))
        at_a_time.append(together * bytes_of_one)
        compilations += trainer.compilations(rounds) * len(group.settings.get("spans") or (1,))
    return SweepCost(
        members=sum_over(lambda index: 1),
        groups=len(grid.groups),
        compilations=compilations,
        updates=sum_over(lambda index: _updates(members[index], tasks(members[index]))),
        memory_bytes=max(at_a_time),
        engine=trainer.name,
    )


def epochs_of(settings: dict[str, Any]) -> int:
    """Returns the number of epochs of a member."""
    return settings.get("epochs", Settings.epochs)


def _updates(settings: dict[str, Any], task: Task) -> int:
    size = min(settings.get("batch_size", Settings.batch_size), len(task.train))
    return epochs_of(settings) * -(-len(task.train) // size)
