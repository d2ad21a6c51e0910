"""The paper's way to choose settings: one seed tries them all, and the best are repeated with the other seeds."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from gnode import errors


class Search:
    """Which members of a grid are trained, and which of them count.

    Members that differ in nothing but the settings `over` (say learning rate and decay) and the seed are one *choice*. Its
    members with the grid's first seed are all trained; the one with the lowest validation loss is trained again with every
    other seed, and those are what counts.
    """

    def __init__(self, members: Sequence[dict[str, Any]], over: Sequence[str]):
        for name in over:
            errors.one_of(
                "search", name, [known for known in dict.fromkeys(k for m in members for k in m) if known != "seed"]
            )
        self._members, self.over = members, tuple(over)
        self._choices: dict[str, list[int]] = {}
        for index, own in enumerate(members):
            same = {name: value for name, value in own.items() if name not in (*over, "seed")}
            self._choices.setdefault(repr(sorted(same.items())), []).append(index)
        self._first = members[0]["seed"]
        for name in self.over:
            values = [{repr(members[index].get(name)) for index in choice} for choice in self.choices]
            if len(set().union(*values)) > 1 and all(len(own) == 1 for own in values):
                raise errors.ArgumentError(
                    f"search over {name} would try nothing: other settings change with it, so no two members differ in "
                    f"{name} alone; leave it out of the search."
                )

    @property
    def choices(self) -> list[list[int]]:
        """The members of each choice."""
        return list(self._choices.values())

    def tries(self) -> list[int]:
        """The members with the first seed: every setting."""
        return [index for index, own in enumerate(self._members) if own["seed"] == self._first]

    def number(self, within: Collection[int]) -> int:
        """How many of these members, which hold whole choices, will have been trained in the end."""
        tries = sum(index in within for index in self.tries())
        return tries + sum(len(self._seeds(choice)) - 1 for choice in self.choices if choice[0] in within)

    def winners(self, loss: Callable[[int], float | None]) -> list[int]:
        """The best settings of all choices with all seeds, by the losses so far; None stands for not trained."""
        found = []
        for choice in self._choices.values():
            tried = [(loss(index), index) for index in choice if self._members[index]["seed"] == self._first]
            known = [(value, index) for value, index in tried if value is not None]
            if known:
                best = self._setting(min(known)[1])
                found += [index for index in choice if self._setting(index) == best]
        return sorted(found)

    def _setting(self, index: int) -> list[Any]:
        return [self._members[index].get(name) for name in self.over]

    def _seeds(self, choice: list[int]) -> set[int]:
        return {self._members[index]["seed"] for index in choice}
