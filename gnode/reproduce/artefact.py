"""What an artefact of the paper is: what it shows, what has to be trained for it, and what comes of it."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from gnode import errors
from gnode.sweeps import Sweep

SCALES: dict[str, str] = {
    "smoke": "small networks and few epochs: everything runs, in two minutes on two cores; the numbers mean little",
    "reduced": "fewer settings, seeds, sizes or epochs than the paper's",
    "paper": "the paper's networks, data and epochs",
}
"""From the cheapest to the dearest."""

KINDS = ("figure", "table", "claim")


@dataclasses.dataclass(frozen=True)
class SweepPlan:
    """A sweep that artefacts need, by a name under which they share it.

    `search`: settings that the first seed chooses; `search_with`: how the runs that try them differ (a shorter schedule).
    """

    name: str
    task: str
    settings: Mapping[str, Any]
    search: tuple[str, ...] = ()
    search_with: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Number:
    """One of our numbers beside the published one; `std` is over `seeds`. `published` is None where the paper has none."""

    name: str
    ours: float | None
    published: str | None = None
    std: float | None = None
    seeds: int | None = None


@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim of the paper, decided by code: True, False, or None where there is nothing to decide it by."""

    claim: str
    holds: bool | None
    measured: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What an artefact came to. `figures` by a short name; `details`, plain numbers for the JSON file only."""

    numbers: list[Number] = dataclasses.field(default_factory=list)
    checks: list[Claim] = dataclasses.field(default_factory=list)
    figures: dict[str, Any] = dataclasses.field(default_factory=dict)
    details: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Trained:
    """What an artefact is made from: its scale and the sweeps it asked for (fewer of them after `--only`)."""

    scale: str
    sweeps: dict[str, Sweep]

    @property
    def is_smoke(self) -> bool:
        return self.scale == "smoke"

    def __getitem__(self, name: str) -> Sweep:
        return self.sweeps[name]

    def some(self, *names: str) -> list[Sweep]:
        """Those of the named sweeps that are there."""
        return [self.sweeps[name] for name in names if name in self.sweeps]


@dataclasses.dataclass(frozen=True)
class Artefact:
    """A figure, a table or a claim of the paper.

    - `title` and `place`: what it is and where the paper has it.
    - `scales`: the scales it can be made at, each with the expected cost in words.
    - `plans`: the sweeps it needs at a scale. `analyse`: what it makes of them.
    - `data`: data sets that have to be there.
    - `may_be_partial`: whether it makes sense with some of its sweeps only (`--only`).
    """

    name: str
    kind: str
    title: str
    place: str
    scales: Mapping[str, str]
    analyse: Callable[[Trained], Outcome]
    plans: Callable[[str], list[SweepPlan]] = lambda scale: []
    data: tuple[str, ...] = ()
    may_be_partial: bool = False
    about: str = ""

    def __post_init__(self):
        errors.one_of("kind", self.kind, KINDS)
        for scale in self.scales:
            errors.one_of("scale", scale, SCALES)
