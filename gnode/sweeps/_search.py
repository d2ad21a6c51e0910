"""The paper's way to choose settings: one seed tries them all, and the best are repeated with the other seeds."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from gnode import errors


class Search:
    """Which members of a grid are trained, and which of them count.

    Members that differ in nothing but the settings `over` (say learning rate and decay) and the seed are one *choice*. Its
    members with the grid's first seed are all trained; the one with the lowest validation loss is trained again with every
    other seed, and those are what counts.

    Members from number `tries_from` on do nothing but try: they differ from the others in the settings `apart` too (a
    shorter schedule), and the best setting among them is trained with every seed.
    """

    def __init__(
        self,
        members: Sequence[dict[str, Any]],
        over: Sequence[str],
        tries_from: int | None = None,
        apart: Collection[str] = (),
    ):
        for name in over:
            errors.one_of(
                "search", name, [known for known in dict.fromkeys(k for m in members for k in m) if known != "seed"]
            )
        self._members, self.over = members, tuple(over)
        self._tries_from = tries_from
        self._choices: dict[str, list[int]] = {}
        for index, own in enumerate(members):
            same = {name: value for name, value in own.items() if name not in (*over, *apart, "seed")}
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
        """The members that try every setting, all with the first seed."""
        if self._tries_from is not None:
            return list(range(self._tries_from, len(self._members)))
        return [index for index, own in enumerate(self._members) if own["seed"] == self._first]

    def cost(self, within: Collection[int], of_one: Callable[[int], int] = lambda index: 1) -> int:
        """What training comes to in the end, over these members, which hold whole choices; by default their number."""
        tries = sum(of_one(index) for index in set(self.tries()).intersection(within))
        repeats = (self._repeats(choice) * of_one(choice[0]) for choice in self.choices if choice[0] in within)
        return tries + sum(repeats)

    def rounds(self, within: Collection[int]) -> list[int]:
        """How many of these members are trained at first, to try, and how many more once the choice is made."""
        repeats = sum(self._repeats(choice) for choice in self.choices if choice[0] in within)
        return [len(set(self.tries()).intersection(within)), repeats]

    def winners(self, loss: Callable[[int], float | None]) -> list[int]:
        """The best settings of all choices with all seeds, by the losses so far; None stands for not trained."""
        found, tries = [], set(self.tries())
        counted = range(len(self._members) if self._tries_from is None else self._tries_from)
        for choice in self._choices.values():
            known = [(value, index) for index in choice if index in tries and (value := loss(index)) is not None]
            if known:
                best = self._setting(min(known)[1])
                found += [index for index in choice if index in counted and self._setting(index) == best]
        return sorted(found)

    def _setting(self, index: int) -> list[Any]:
        return [self._members[index].get(name) for name in self.over]

    def _repeats(self, choice: list[int]) -> int:
        """How often the best setting is trained after the tries: with every seed, or with all but the first."""
        seeds = {self._members[index]["seed"] for index in choice}
        return len(seeds) - (self._tries_from is None)
