"""The paper's search over settings: the first seed tries them all, and the best are repeated with the other seeds."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from gnode import errors


class Search:
    """Decides which members of a grid are trained, and which of them count.

    Members that differ only in the settings `over` (such as learning rate and decay) and in the seed form one *choice*. Its
    members with the first seed of the grid are all trained; the setting with the lowest validation loss is trained again
    with every other seed, and those runs count.

    **Arguments:**

    - `members`: the settings of all members.
    - `over`: the settings that are searched.
    - `tries_from`: if given, members from this index on serve only to choose, and the best setting among them is trained
      with every seed.
    - `apart`: the settings in which those differ from the others (fewer epochs).

    **Raises:** `ArgumentError` for a search that would compare nothing.
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
        """Returns the members that try every setting, all with the first seed."""
        if self._tries_from is not None:
            return list(range(self._tries_from, len(self._members)))
        return [index for index, own in enumerate(self._members) if own["seed"] == self._first]

    def cost(self, within: Collection[int], of_one: Callable[[int], int] = lambda index: 1) -> int:
        """Returns the total cost of the members that will be trained, of those in `within`; by default their number."""
        tries = sum(of_one(index) for index in set(self.tries()).intersection(within))
        repeats = (self._repeats(choice) * of_one(choice[0]) for choice in self.choices if choice[0] in within)
        return tries + sum(repeats)

    def rounds(self, within: Collection[int]) -> list[int]:
        """Returns how many of these members are trained first, to choose, and how many more afterwards."""
        repeats = sum(self._repeats(choice) for choice in self.choices if choice[0] in within)
        return [len(set(self.tries()).intersection(within)), repeats]

    def winners(self, loss: Callable[[int], float | None]) -> list[int]:
        """Returns the members with the best setting of each choice, by the losses so far; None stands for not trained."""
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
        """Returns how often the best setting is trained after the search: with every seed, or with all but the first."""
        seeds = {self._members[index]["seed"] for index in choice}
        return len(seeds) - (self._tries_from is None)
