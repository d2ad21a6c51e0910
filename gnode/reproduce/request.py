"""A request to reproduce an artefact: which one, at which scale, and which of its sweeps, seeds or kernel differ."""

import dataclasses
from functools import cached_property
from typing import Any

from gnode import errors
from gnode.arguments import checked_class
from gnode.reproduce.artefact import Artefact, SweepPlan
from gnode.reproduce.registry import find_artefact
from gnode.solve import KERNELS

MOST_SEEDS = 10_000


@checked_class
@dataclasses.dataclass(frozen=True)
class Request:
    """The artefact to make, and how to make it.

    **Arguments:**

    - `name`: the artefact's name, one of `NAMES`.
    - `scale`: a scale that it can be made at, see `SCALES`.
    - `only`: the names of those of its sweeps that are made; all of them by default.
    - `seeds`: the number of seeds; by default the scale's own.
    - `kernel`: the kernel that its networks are trained with, as in `gnode.Solver`.

    **Raises:** `ArgumentError` if the artefact cannot be made in this way.

    >>> Request("capacity").command
    'gnode reproduce run capacity --scale smoke'
    """

    name: str
    scale: str = "smoke"
    only: tuple[str, ...] = ()
    seeds: int | None = None
    kernel: str | None = None

    def __post_init__(self):
        name = self.name
        object.__setattr__(self, "only", tuple(self.only))
        if self.scale not in self.artefact.scales:
            errors.one_of(f"scale of {name}", self.scale, self.artefact.scales)
        if self.seeds is not None:
            errors.whole("seeds", self.seeds, at_most=MOST_SEEDS)
        if self.kernel is not None:
            errors.one_of("kernel", self.kernel, KERNELS)
        names = [plan.name for plan in self._all_plans]
        if not names and (self.only or self._overrides):
            raise errors.ArgumentError(
                f"{name} trains no networks, so --only, --seeds and --kernel do not apply to it; leave them out."
            )
        if self.only and not self.artefact.may_be_partial:
            raise errors.ArgumentError(f"{name} needs all of its sweeps; leave --only out.")
        for one in self.only:
            errors.one_of(f"--only of {name}", one, names)

    @cached_property
    def artefact(self) -> Artefact:
        """The artefact of that name."""
        return find_artefact(self.name)

    @cached_property
    def _all_plans(self) -> list[SweepPlan]:
        """The artefact's sweeps at this scale, requested or not, with the scale's own settings."""
        return self.artefact.plans(self.scale)

    @property
    def _overrides(self) -> dict[str, Any]:
        """The sweep settings that replace the scale's own."""
        seeds = {} if self.seeds is None else {"seed": list(range(self.seeds))}
        return seeds | ({} if self.kernel is None else {"kernel": self.kernel})

    @cached_property
    def plans(self) -> list[SweepPlan]:
        """The requested sweeps, with the requested seeds and kernel."""
        plans = [plan for plan in self._all_plans if not self.only or plan.name in self.only]
        return [dataclasses.replace(plan, settings={**plan.settings, **self._overrides}) for plan in plans]

    @property
    def left_out(self) -> list[str]:
        """The names of the artefact's sweeps that were not requested."""
        return [plan.name for plan in self._all_plans if self.only and plan.name not in self.only]

    @property
    def folder_suffix(self) -> str:
        """The end of a sweep folder's name, which keeps sweeps of different scales and numbers of seeds apart."""
        return self.scale if self.seeds is None else f"{self.scale}-{self.seeds}-seeds"

    @property
    def command(self) -> str:
        """The command that makes the result."""
        part = f" --only {','.join(self.only)}" if self.only else ""
        seeds = "" if self.seeds is None else f" --seeds {self.seeds}"
        kernel = "" if self.kernel is None else f" --kernel {self.kernel}"
        return f"gnode reproduce run {self.name} --scale {self.scale}{part}{seeds}{kernel}"
