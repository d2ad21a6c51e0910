"""A sweep shared by several processes, such as the tasks of a SLURM array: each trains a part of its own."""

import dataclasses
from collections.abc import Sequence

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.sweeps.grid import Grid
from gnode.train.settings import Settings

_TRIALS = 1000


@checked_class
@dataclasses.dataclass(frozen=True)
class Part:
    """The `number`-th of `of` parts of a sweep, counted from 1.

    >>> Part.read("3/10")
    Part(number=3, of=10)
    """

    number: int
    of: int

    def __post_init__(self):
        errors.whole("number of parts", self.of)
        if not 1 <= errors.whole("part", self.number) <= self.of:
            raise errors.ArgumentError(f"part is {self.number}, but must be from 1 to the number of parts, {self.of}.")

    @classmethod
    @checked
    def read(cls, text: str) -> "Part":
        """Reads a part from its text, NUMBER/OF."""
        pieces = text.split("/")
        if len(pieces) != 2 or not all(piece.strip().isdecimal() and len(piece) < 20 for piece in pieces):
            raise errors.ArgumentError(
                f"part is {errors.shown(text)}, but must be written as 3/10: the third of ten, from 1/10 on."
            )
        return cls(int(pieces[0]), int(pieces[1]))

    @checked
    def members(self, grid: Grid, together: Sequence[Sequence[int]]) -> set[int]:
        """Returns the members of the part. They follow from the grid alone, so processes need not communicate.

        Members that share a compiled program are kept in one part where possible, and the parts have about equal numbers of
        updates. `together` are members that no cut may separate.
        """
        members = grid.members
        for index in (index for unit in together for index in unit):
            if not 0 <= index < len(members):
                raise errors.ArgumentError(f"together has {index}, but the grid's members are 0 to {len(members) - 1}.")
        whole = {int(index): tuple(map(int, unit)) for unit in together for index in unit}
        in_order = [index for group in grid.groups for index in group.members]
        units = list(dict.fromkeys(whole.get(index, (index,)) for index in in_order))
        costs = [sum(_cost(members[index]) for index in unit) for unit in units]
        total, before, mine = sum(costs), 0.0, set()
        for unit, cost in zip(units, costs):
            middle = (before + cost / 2) / total
            before += cost
            if int(middle * self.of) == self.number - 1:
                mine |= set(unit)
        return mine


def _cost(member: dict) -> float:
    """Returns the updates of a member, up to a common factor. Tasks of fixed data count as `_TRIALS` trials."""
    trials = member.get("trials", _TRIALS)
    return member.get("epochs", Settings.epochs) * trials / min(member.get("batch_size", Settings.batch_size), trials)
