"""The engines by name."""

import dataclasses
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from gnode import errors

if TYPE_CHECKING:
    from gnode.sweeps.engines.base import Engine

__all__ = ["ENGINES", "EngineEntry", "check_engine", "make_engine"]


@dataclasses.dataclass(frozen=True)
class EngineEntry:
    """An engine: where its class is, as "module:name", what it does, and the options that its class takes."""

    factory: str
    summary: str
    options: tuple[str, ...] = ()


ENGINES: dict[str, EngineEntry] = {
    "auto": EngineEntry(
        "gnode.sweeps.engines.auto:auto", "one_program on an accelerator, threads on a CPU", ("workers",)
    ),
    "threads": EngineEntry(
        "gnode.sweeps.engines.threads:Threads", "one network after another on each core", ("workers",)
    ),
    "one_program": EngineEntry(
        "gnode.sweeps.engines.one_program:OneProgram",
        "each group as one program along an axis of members, over all devices",
        ("workers",),
    ),
    "ray": EngineEntry(
        "gnode.sweeps.engines.ray_cluster:RayCluster",
        "tasks on a Ray cluster (extra: gnode[ray])",
        ("workers", "address"),
    ),
}
"""Every engine, by the name that commands use."""


def check_engine(name: str, **options: Any) -> None:
    """Raises an `ArgumentError` for an unknown engine, or for an option that it does not have."""
    entry = ENGINES[errors.one_of("engine", name, ENGINES)]
    if options.get("workers") is not None:
        errors.whole("workers", options["workers"])
    for option, value in options.items():
        if value is not None and option not in entry.options:
            having = " or ".join(repr(other) for other, its in ENGINES.items() if option in its.options)
            raise errors.ArgumentError(f"engine {name!r} has no {option}; use engine {having}, or leave {option} out.")


def make_engine(name: str, **options: Any) -> "Engine":
    """Makes the engine of that name.

    **Raises:** `ArgumentError` as `check_engine`.

    >>> make_engine("threads", workers=2).name
    'threads'
    """
    check_engine(name, **options)
    given = {option: value for option, value in options.items() if value is not None}
    return resolve_name(ENGINES[name].factory)(**given)
