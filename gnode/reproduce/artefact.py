"""The description of an artefact of the paper: what it shows, which networks it trains, and what it makes of them."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from gnode import errors
from gnode.arguments import checked, checked_class
from gnode.reproduce.verdicts import FAILS, HOLDS, VERDICTS
from gnode.sweeps import Sweep

SCALES: dict[str, str] = {
    "smoke": "small networks and few epochs: everything runs, in two minutes on two cores; the numbers mean little",
    "reduced": "fewer settings, seeds, sizes or epochs than the paper's",
    "paper": "the paper's networks, data and epochs",
}
"""The scales that an artefact can be made at, from the cheapest to the most expensive, with a description of each."""

KINDS = ("figure", "table", "claim", "extension")


@checked_class
@dataclasses.dataclass(frozen=True)
class SweepPlan:
    """A sweep that artefacts need. Artefacts that name the same sweep share its networks.

    **Arguments:**

    - `name`: the name that its folder begins with.
    - `task`: the task that its networks are trained on.
    - `settings`: values, or lists of values, of the settings of `gnode.sweep`.
    - `search`: the settings that are chosen with the first seed alone.
    - `search_with`: settings of the trial runs of that search that differ from the others (a shorter schedule).

    >>> SweepPlan("small", "flipflop-square", {"model": ["gru", "gnode"], "state": 2}).task
    'flipflop-square'
    """

    name: str
    task: str
    settings: Mapping[str, Any]
    search: tuple[str, ...] = ()
    search_with: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        object.__setattr__(self, "search", tuple(self.search))

    def __repr__(self) -> str:
        searched = f", search: {', '.join(self.search)}" if self.search else ""
        return f"SweepPlan({self.name!r}, task {self.task}, settings: {', '.join(self.settings)}{searched})"


@checked_class
@dataclasses.dataclass(frozen=True)
class Number:
    """A number that gnode measured, beside the published one.

    **Arguments:**

    - `name`: what was measured.
    - `ours`: the mean over seeds, or None if nothing was measured.
    - `published`: the number in the paper, or None if the paper has none.
    - `std`: the standard deviation over seeds.
    - `seeds`: the number of seeds.

    >>> Number("gnODE: test accuracy", 0.81, "0.823 ± 0.006", std=0.01, seeds=5).published
    '0.823 ± 0.006'
    """

    name: str
    ours: float | None
    published: str | None = None
    std: float | None = None
    seeds: int | None = None


@checked_class
@dataclasses.dataclass(frozen=True)
class Claim:
    """A claim of the paper and whether it holds for our networks, decided by code.

    **Arguments:**

    - `claim`: the claim in one sentence.
    - `verdict`: one of "holds", "does not hold", "indistinguishable" (within two standard errors), "floor" (both errors are
      negligible) and "not decided" (there is nothing to decide it by).
    - `measured`: the numbers that decide it, by name.
    - `note`: what a reader of the verdict should know.

    **Raises:** `ArgumentError` if there is no such verdict.

    >>> Claim("The error is below 0.01.", "holds", {"error": 0.004}).holds
    True
    """

    claim: str
    verdict: str
    measured: dict[str, Any] = dataclasses.field(default_factory=dict)
    note: str = ""

    def __post_init__(self):
        errors.one_of("verdict", self.verdict, VERDICTS)

    @property
    def holds(self) -> bool | None:
        """True if it holds, False if it does not, None if neither was decided."""
        return {HOLDS: True, FAILS: False}.get(self.verdict)

    def __repr__(self) -> str:
        return f"Claim({self.claim!r}, {self.verdict}, {len(self.measured)} numbers measured)"


@checked_class
@dataclasses.dataclass(frozen=True)
class Outcome:
    """The numbers, claims and figures that an artefact consists of.

    **Arguments:**

    - `numbers`: a list of `Number`.
    - `claims`: a list of `Claim`.
    - `figures`: the panels by their letter.
    - `details`: further numbers, which are stored in the JSON file only.

    >>> Outcome([Number("error", 0.1)], [Claim("It is low.", "holds")])
    Outcome(1 numbers, 1 claims, 0 figures)
    """

    numbers: list[Number] = dataclasses.field(default_factory=list)
    claims: list[Claim] = dataclasses.field(default_factory=list)
    figures: dict[str, Any] = dataclasses.field(default_factory=dict)
    details: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Outcome({len(self.numbers)} numbers, {len(self.claims)} claims, {len(self.figures)} figures)"


@checked_class
@dataclasses.dataclass(frozen=True)
class Trained:
    """The trained sweeps that an artefact is made from, by name, and the scale that they were trained at.

    Some of the artefact's sweeps are missing if it is made with `--only`.

    >>> trained = Trained("smoke", {})
    >>> trained.is_smoke, trained.available("variable-n6")
    (True, [])
    """

    scale: str
    sweeps: dict[str, Any]

    def __post_init__(self):
        errors.one_of("scale", self.scale, SCALES)

    @property
    def is_smoke(self) -> bool:
        """Whether the networks were trained at smoke scale."""
        return self.scale == "smoke"

    def __getitem__(self, name: str) -> Sweep:
        return self.sweeps[errors.one_of("sweep", name, self.sweeps)]

    def __repr__(self) -> str:
        return f"Trained({self.scale} scale, sweeps: {', '.join(self.sweeps) or 'none'})"

    @checked
    def available(self, *names: str) -> list[Sweep]:
        """Returns those of the named sweeps that were trained."""
        return [self.sweeps[name] for name in names if name in self.sweeps]


@checked_class
@dataclasses.dataclass(frozen=True)
class Artefact:
    """A figure, a table or a claim of the paper, and how to make it.

    **Arguments:**

    - `name`: its name on the command line.
    - `kind`: "figure", "table", "claim", or "extension" for what goes beyond the paper.
    - `title`: what it shows, in a few words.
    - `place`: where the paper has it.
    - `scales`: the scales that it can be made at, each with its expected cost in words.
    - `analyse`: a function that makes an `Outcome` from a `Trained`.
    - `plans`: a function that returns the sweeps that it needs at a scale.
    - `data`: the names of the data sets that it needs.
    - `may_be_partial`: whether it can be made from some of its sweeps only (`--only`).
    - `judge`: a function that makes the claims of a result's `Evidence`, also later; None leaves them as they were.
    - `draw`: a function that draws figures of a result's details, also later; None if every figure needs networks.
    - `tables`: a function that makes further tables of a result's details for its page, by their titles; None makes none.
    - `captions`: what a panel shows, by its letter.
    - `needs_networks`: the panels that `draw` cannot make.
    - `keeps`: a function that returns, by sweep, the members whose weights are kept with the result; None keeps none.
    - `about`: the text that `gnode reproduce about` prints.

    **Raises:** `ArgumentError` if `kind` or a scale is unknown.

    >>> Artefact("two", "claim", "Two is even", "nowhere", {"smoke": "no time"}, lambda trained: Outcome())
    Artefact('two', claim, scales: smoke)
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
    judge: Callable[[Any], list[Claim]] | None = None
    draw: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    tables: Callable[[Mapping[str, Any]], dict[str, list[list[str]]]] | None = None
    captions: Mapping[str, str] = dataclasses.field(default_factory=dict)
    needs_networks: tuple[str, ...] = ()
    keeps: Callable[[Trained], dict[str, list[int]]] | None = None
    about: str = ""

    def __post_init__(self):
        errors.one_of("kind", self.kind, KINDS)
        for scale in self.scales:
            errors.one_of("scale", scale, SCALES)

    def __repr__(self) -> str:
        return f"Artefact({self.name!r}, {self.kind}, scales: {', '.join(self.scales)})"
