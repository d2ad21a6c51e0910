"""A request to reproduce an artefact: its scale, and perhaps some of its sweeps only, other seeds, or another kernel."""

import dataclasses
from functools import cached_property
from typing import Any

from gnode import errors
from gnode.reproduce.artefact import Artefact, SweepPlan
from gnode.reproduce.registry import find_artefact
from gnode.solve import KERNELS


@dataclasses.dataclass(frozen=True)
class Request:
    """Which artefact to make, and how.

    - `name`: of the artefact, see `NAMES`.
    - `scale`: one of `SCALES` that it can be made at.
    - `only`: the names of some of its sweeps, to make it in part.
    - `seeds`: another number of seeds than the scale's own.
    - `kernel`: the kernel that its networks are trained by, as in `gnode.Solver`.

    **Raises:** `ArgumentError` if the artefact cannot be made so.

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
        if self.scale not in self.of.scales:
            errors.one_of(f"scale of {name}", self.scale, self.of.scales)
        if self.seeds is not None:
            errors.whole("seeds", self.seeds)
        if self.kernel is not None:
            errors.one_of("kernel", self.kernel, KERNELS)
        names = [plan.name for plan in self._all]
        if not names and (self.only or self._own):
            raise errors.ArgumentError(
                f"{name} trains no networks, so --only, --seeds and --kernel mean nothing to it; leave them out."
            )
        if self.only and not self.of.may_be_partial:
            raise errors.ArgumentError(f"{name} needs all of its sweeps; leave --only out.")
        for one in self.only:
            errors.one_of(f"--only of {name}", one, names)

    @cached_property
    def of(self) -> Artefact:
        """The artefact."""
        return find_artefact(self.name)

    @cached_property
    def _all(self) -> list[SweepPlan]:
        return self.of.plans(self.scale)

    @property
    def _own(self) -> dict[str, Any]:
        """Settings that are not the scale's."""
        seeds = {} if self.seeds is None else {"seed": list(range(self.seeds))}
        return seeds | ({} if self.kernel is None else {"kernel": self.kernel})

    @cached_property
    def plans(self) -> list[SweepPlan]:
        """The sweeps asked for."""
        plans = [plan for plan in self._all if not self.only or plan.name in self.only]
        return [dataclasses.replace(plan, settings={**plan.settings, **self._own}) for plan in plans]

    @property
    def left_out(self) -> list[str]:
        """The names of the others."""
        return [plan.name for plan in self._all if self.only and plan.name not in self.only]

    @property
    def ending(self) -> str:
        """Of the names of its sweeps' folders: what differs in scale or seeds is kept apart."""
        return self.scale if self.seeds is None else f"{self.scale}-{self.seeds}-seeds"

    @property
    def command(self) -> str:
        """What was typed."""
        part = f" --only {','.join(self.only)}" if self.only else ""
        seeds = "" if self.seeds is None else f" --seeds {self.seeds}"
        kernel = "" if self.kernel is None else f" --kernel {self.kernel}"
        return f"gnode reproduce run {self.name} --scale {self.scale}{part}{seeds}{kernel}"
