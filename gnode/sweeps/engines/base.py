"""What an engine is: something that trains members of a grid."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from gnode.sweeps._member import MemberResult
from gnode.sweeps.grid import Grid, Group, TaskCache
from gnode.tasks import Task


@dataclasses.dataclass(frozen=True)
class Work:
    """What an engine is given.

    - `grid`, `todo`: a grid, and the indices of the members to train.
    - `tasks`: makes each member's task, once.
    - `deliver`: to be called with every trained member, from any thread.
    - `tick`: to be called with the number of member-epochs that have just been trained.
    - `folder`: the sweep's folder, in which checkpoints of members in training are kept; None keeps none.
    - `due`: all members that are trained together with these, those done included; these alone if empty. A group that is
      resumed keeps the size it began with, because a program of another size rounds differently.
    """

    grid: Grid
    todo: Sequence[int]
    tasks: TaskCache
    deliver: Callable[[MemberResult], None]
    tick: Callable[[int], None] = lambda epochs: None
    folder: Path | None = None
    due: Sequence[int] = ()


class Engine(Protocol):
    """Trains members of a grid."""

    @property
    def name(self) -> str:
        """The engine's name in `ENGINES`."""
        ...

    def train(self, work: Work) -> None:
        """Trains all members that are to do. Ctrl-C keeps what they have learned, as far as there is a folder."""
        ...

    def members_at_once(self, group: Group, task: Task, members: int) -> int:
        """Returns how many of `members` members of a group are trained at the same time."""
        ...

    def compilations(self, rounds: Sequence[int]) -> int:
        """Returns how many programs are compiled for a group whose members are trained in rounds of these sizes."""
        ...
